#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/report/stream_lanes.h"
#include "sim/traces/traces.h"

namespace syncline {

namespace {

// The messages that each row sends and receives, in the order of their numbers.
std::vector<std::vector<std::size_t>> messages_of_rows(const Trace& trace) {
  std::vector<std::vector<std::size_t>> of_rows(trace.messages.empty() ? 0 : trace.rows.size());
  for (std::size_t i = 0; i < trace.messages.size(); ++i)
    for (const std::int64_t row : {trace.messages[i].sender_row, trace.messages[i].receiver_row})
      if (row >= 0)
        of_rows[static_cast<std::size_t>(row)].push_back(i);
  return of_rows;
}

}  // namespace

std::vector<std::size_t> in_order(const Trace& trace) {
  std::vector<std::size_t> order(trace.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const Row& row = trace.rows[i];
    return std::tuple(row.start_s, row.rank, row.stream, row.stage);
  });
  return order;
}

void write_csv(const Trace& trace, std::ostream& out) {
  const std::vector<std::vector<std::size_t>> messages = messages_of_rows(trace);
  out << "start_s,end_s,rank,stream,verb,bucket,iteration,bytes_sent,bytes_received,version,"
         "read_version,worker,peer,message\n";
  for (const std::size_t i : in_order(trace)) {
    const Row& row = trace.rows[i];
    out << fmt::format("{:.12g},{:.12g}", row.start_s, row.end_s) << ',' << row.rank << ','
        << name_of(row.stream, row.stage) << ',' << name_of(row.verb) << ',' << row.bucket << ','
        << row.iteration << ',' << row.bytes_sent << ',' << row.bytes_received << ',' << row.version
        << ',' << row.read_version << ',' << row.worker;
    for (const bool numbers : {false, true}) {
      out << ',';
      const char* blank = "";
      for (const std::size_t m : messages.empty() ? std::vector<std::size_t>() : messages[i]) {
        const TracedMessage& message = trace.messages[m];
        const bool sends = message.sender_row == static_cast<std::int64_t>(i);
        out << std::exchange(blank, " ");
        if (numbers)
          out << m;
        else
          out << (sends ? '>' : '<') << (sends ? message.to : message.from);
      }
    }
    out << '\n';
  }
}

}  // namespace syncline
