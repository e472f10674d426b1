// The output of all_reduce_perf of nccl-tests, also with what launchers such as mpirun and srun put
// before each line. platforms/from_nccl_tests.py reads the same files by the same rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace syncline {

struct NcclRow {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  std::string type;   // "float"
  double time_s = 0;  // in place, as frameworks reduce
};

struct NcclLog {
  int ranks = 0;  // GPUs
  int nodes = 0;
  std::vector<NcclRow> rows;  // without those of 0 bytes
};

constexpr std::size_t most_nccl_rows = 10'000;

// Throws std::runtime_error, "path:line: ..." or "path: ...", if the file is no such output or if
// anything but one all-reduce of two or more GPUs made it.
NcclLog read_nccl_log(const std::string& path);

}  // namespace syncline
