// What a worker does at each moment of a trace, independently of the code that reports it.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// Seconds of a stretch of time by what a worker does, counted between the starts and ends of all
// its rows.
struct Spent {
  double computes_s = 0;
  double compresses_s = 0;
  double exposed_s = 0;
  double waits_s = 0;
};

enum Doing { computing, compressing, compressing_beside, moving, pausing };

class Moments {
 public:
  Moments(const Trace& trace, int worker) {
    const int node_aggregator =
        trace.workers + trace.servers + trace.node_of.at(static_cast<std::size_t>(worker));
    for (const Row& row : trace.rows) {
      const bool compresses = is_compression(row.verb);
      if (row.rank == worker && row.stream == Stream::compute) {
        if (row.verb != Verb::wait)
          add(row.start_s, row.end_s, compresses ? compressing : computing);
      } else if (compresses && row.iteration >= 0 &&
                 (row.rank == worker ||
                  trace.on_worker.at(static_cast<std::size_t>(row.rank)) == worker)) {
        add(row.start_s, row.end_s, compressing_beside);
      } else if (row.verb != Verb::wait && !compresses &&
                 (row.stream == Stream::messages ||
                  (row.verb != Verb::sum && row.verb != Verb::handle)) &&
                 ((row.rank == worker && row.iteration >= 0) ||
                  (row.rank == node_aggregator && row.iteration < 0 &&
                   row.bytes_sent + row.bytes_received > 0))) {
        add(row.start_s, row.end_s, moving);
        for (const Pause& pause : trace.pauses)  // the row moves nothing during a pause
          if (pause.rank == row.rank && pause.stage == row.stage &&
              row.stream == Stream::communication)
            add(std::max(pause.start_s, row.start_s), std::min(pause.end_s, row.end_s), pausing);
      }
    }
    std::ranges::sort(events_);
  }

  Spent between(double from_s, double to_s) const {
    Spent spent;
    std::map<Doing, int> now;
    for (std::size_t i = 0; i < events_.size() && std::get<0>(events_[i]) < to_s; ++i) {
      now[std::get<1>(events_[i])] += std::get<2>(events_[i]);
      const double begins_s = std::max(from_s, std::get<0>(events_[i]));
      const double ends_s =
          std::min(to_s, i + 1 < events_.size() ? std::get<0>(events_[i + 1]) : to_s);
      if (ends_s > begins_s)
        of(spent, now) += ends_s - begins_s;
    }
    return spent;
  }

 private:
  void add(double start_s, double end_s, Doing doing) {
    if (end_s <= start_s)
      return;
    events_.emplace_back(start_s, doing, 1);
    events_.emplace_back(end_s, doing, -1);
  }
  static double& of(Spent& spent, std::map<Doing, int>& now) {
    return now[computing] > 0            ? spent.computes_s
           : now[compressing] > 0        ? spent.compresses_s
           : now[compressing_beside] > 0 ? spent.compresses_s
           : now[moving] > now[pausing]  ? spent.exposed_s
                                         : spent.waits_s;
  }

  std::vector<std::tuple<double, Doing, int>> events_{{0, pausing, 0}};
};

}  // namespace syncline
