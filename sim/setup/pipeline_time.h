// Closed form of a pipeline: how long a bucket takes through all stages, and how soon the next one
// follows.
#pragma once

#include <map>
#include <utility>

#include "sim/plan.h"
#include "sim/setup/exchange_time.h"
#include "sim/setup/platform.h"

namespace syncline {

// With K partitions, a first one passes all stages, and K - 1 more leave at the pace of the slowest
// stage, or of the busiest link where stages share it. At that pace the next bucket follows, unless
// only one bucket is in flight.
class PipelineTime {
 public:
  PipelineTime(Routes& routes, double step_overhead_s, double host_memory_Bps, double bandwidth)
      : routes_(routes),
        step_overhead_s_(step_overhead_s),
        host_memory_Bps_(host_memory_Bps),
        bandwidth_(bandwidth) {}
  // A phase of this rank, if it is in a pipeline.
  void add(int rank, const Phase& phase);
  // Passes follow each other.
  void add_to(ExchangeTime& time) const;

 private:
  struct OfStage {
    Stage stage;
    double first_s = 0;   // latencies and overheads of a partition, of the slowest rank
    double next_s = 0;    // of these, what the next partition waits for
    double adding_s = 0;  // of a partition, where what arrives is added up
    std::map<int, double> link_bytes;
    double slowest_flow_s = 0;  // by links that limit each flow by itself
  };
  double bytes_s(const std::map<int, double>& link_bytes) const;  // on the busiest

  Routes& routes_;
  double step_overhead_s_;
  double host_memory_Bps_;
  double bandwidth_;                               // of the links', this many times
  std::map<std::pair<int, int>, OfStage> stages_;  // by pass and place
};

}  // namespace syncline
