// The memory of this process: the machine's, or the part that the process may use.
#pragma once

#include <string>

namespace syncline {

// The least of the machine's memory and of the limits of the control groups that hold this process,
// such as those of a container or of a Slurm task.
double own_memory_bytes();

// The least limit of the control groups that `list` names (the text of /proc/self/cgroup) and of
// the groups that hold them, mounted at `root` (/sys/fs/cgroup). Infinity: no limit.
double control_group_bytes(const std::string& list, const std::string& root);

}  // namespace syncline
