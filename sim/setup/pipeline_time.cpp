#include "sim/setup/pipeline_time.h"

#include <algorithm>

namespace syncline {

void PipelineTime::add(int rank, const Phase& phase) {
  if (phase.stage.stages == 1)
    return;
  OfStage& own = stages_[{phase.stage.pass, phase.stage.place}];
  own.stage = phase.stage;
  double latency_s = 0;
  for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
    for (const Transfer& transfer : *transfers)
      latency_s = std::max(latency_s, routes_.between(rank, transfer.peer).latency_s);
  // In a group everybody waits for every step. Other messages follow each other out of a rank.
  const double first_s = phase.steps * (latency_s + step_overhead_s_);
  own.first_s = std::max(own.first_s, first_s);
  own.next_s = std::max(own.next_s, phase.group_size > 0 ? first_s : step_overhead_s_);
  double added_bytes = 0;
  for (const Transfer& received : phase.receives)
    added_bytes += phase.adds ? static_cast<double>(received.bytes) : 0;
  own.adding_s = std::max(
      own.adding_s, memory_bytes_per_sum * added_bytes / host_memory_Bps_ / phase.stage.partitions);
  for (const Transfer& send : phase.sends) {
    const Route route = routes_.between(rank, send.peer);
    const auto bytes = static_cast<double>(send.bytes) / bandwidth_;
    own.slowest_flow_s = std::max(own.slowest_flow_s, bytes / route.flow_Bps);
    for (const int link : route.links)
      own.link_bytes[link] += bytes;
  }
}

double PipelineTime::bytes_s(const std::map<int, double>& link_bytes) const {
  double busiest_s = 0;
  for (const auto& [link, bytes] : link_bytes)
    busiest_s = std::max(
        busiest_s, bytes / routes_.links()[static_cast<std::size_t>(link)].bandwidth.mean_Bps());
  return busiest_s;
}

void PipelineTime::add_to(ExchangeTime& time) const {
  for (auto one = stages_.begin(); one != stages_.end();) {
    const int pass = one->first.first;
    const int partitions = one->second.stage.partitions;
    const bool next_follows = one->second.stage.in_flight != 1;
    double first_fixed_s = 0;  // of a partition through all stages
    double first_bytes_s = 0;
    double pace_fixed_s = 0;  // of a partition in the slowest stage
    double pace_bytes_s = 0;
    std::map<int, double> link_bytes;
    for (; one != stages_.end() && one->first.first == pass; ++one) {
      const OfStage& stage = one->second;
      const double moving_s =
          std::max(bytes_s(stage.link_bytes), stage.slowest_flow_s) / partitions;
      first_fixed_s += stage.first_s + stage.adding_s;
      first_bytes_s += moving_s;
      if (stage.next_s + moving_s > pace_fixed_s + pace_bytes_s) {
        pace_fixed_s = stage.next_s;
        pace_bytes_s = moving_s;
      }
      if (stage.adding_s > pace_fixed_s + pace_bytes_s) {
        pace_fixed_s = stage.adding_s;
        pace_bytes_s = 0;
      }
      for (const auto& [link, bytes] : stage.link_bytes)
        link_bytes[link] += bytes;
    }
    if (const double shared_s = bytes_s(link_bytes) / partitions;
        shared_s > pace_fixed_s + pace_bytes_s) {
      pace_fixed_s = 0;
      pace_bytes_s = shared_s;
    }
    time.fixed_s += first_fixed_s + (partitions - 1) * pace_fixed_s;
    time.bytes_s += first_bytes_s + (partitions - 1) * pace_bytes_s;
    if (next_follows) {
      time.shared_fixed_s += first_fixed_s - pace_fixed_s;
      time.shared_bytes_s += first_bytes_s - pace_bytes_s;
    }
  }
}

}  // namespace syncline
