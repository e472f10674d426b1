// How much memory there is for this process: of the machine, or of what it was given of it.
#pragma once

#include <string>

namespace syncline {

// The least of the machine's memory and of the limits of the control groups that hold this process,
// as a container or a task of Slurm has them.
double own_memory_bytes();

// The least limit of the control groups that `list` names (the text of /proc/self/cgroup), of them
// and of those that hold them, where these are mounted at `root` (/sys/fs/cgroup). Infinity: none.
double control_group_bytes(const std::string& list, const std::string& root);

}  // namespace syncline
