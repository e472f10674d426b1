// An output of all_reduce_perf: its rows are finite numbers, and its text may be printed.
#include "sim/import/nccl_log.h"

#include <cmath>
#include <stdexcept>

#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  NcclLog log;
  if (!reads(bytes, [&] { log = read_nccl_log(file_of(bytes, "log.txt")); }))
    return;
  if (log.ranks < 2 || log.nodes < 1 || log.nodes > log.ranks || log.rows.empty())
    throw std::logic_error("a log without an all-reduce is read");
  for (const NcclRow& row : log.rows) {
    if (row.bytes == 0 || !(row.time_s > 0) || !std::isfinite(row.time_s))
      throw std::logic_error("a row without bytes or seconds is read");
    require_plain_text(bytes, row.type);
  }
}

const Registered<Reader> entry{{.name = "nccl_log", .read = read}};

}  // namespace
}  // namespace syncline
