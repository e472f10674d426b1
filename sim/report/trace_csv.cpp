#include "sim/report/trace_csv.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>

namespace syncline {

namespace {

std::string_view word_of(Stream stream) {
  switch (stream) {
    case Stream::compute:
      return "compute";
    case Stream::communication:
      return "communication";
    case Stream::messages:
      return "messages";
    case Stream::compression:
      return "compression";
  }
  return "";
}

}  // namespace

std::string name_of(Stream stream, int stage) {
  const std::string name(word_of(stream));
  return stage == 0 ? name : name + "-" + std::to_string(stage + 1);
}

void write_csv(const Trace& trace, std::ostream& out) {
  std::vector<std::size_t> order(trace.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const Row& row = trace.rows[i];
    return std::tuple(row.start_s, row.rank, row.stream, row.stage);
  });
  out << "start_s,end_s,rank,stream,verb,bucket,iteration,bytes_sent,bytes_received,version,"
         "read_version,worker\n";
  char times[64];
  for (const std::size_t i : order) {
    const Row& row = trace.rows[i];
    std::snprintf(times, sizeof times, "%.12g,%.12g", row.start_s, row.end_s);
    out << times << ',' << row.rank << ',' << name_of(row.stream, row.stage) << ',' << row.verb
        << ',' << row.bucket << ',' << row.iteration << ',' << row.bytes_sent << ','
        << row.bytes_received << ',' << row.version << ',' << row.read_version << ',' << row.worker
        << '\n';
  }
}

}  // namespace syncline
