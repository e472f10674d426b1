#include "sim/traffic/pipeline_time.h"

#include <algorithm>

namespace syncline {

void PipelineTime::add(int rank, const Phase& phase) {
  OfStage& own = stages_[{phase.stage.pass, phase.stage.place}];
  own.stage = phase.stage;
  double latency_s = 0;
  for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
    for (const Transfer& transfer : *transfers)
      latency_s = std::max(latency_s, routes_.between(rank, transfer.peer).latency_s);
  // In a group all ranks wait for every step. Other messages leave a rank one after another.
  const double first_s = phase.steps * (latency_s + traffic_.step_overhead_s);
  own.first_s = std::max(own.first_s, first_s);
  own.next_s = std::max(own.next_s, phase.group_size > 0 ? first_s : traffic_.step_overhead_s);
  double added_bytes = 0;
  for (const Transfer& received : phase.receives)
    added_bytes += phase.adds ? static_cast<double>(received.bytes) : 0;
  const double handled_s = handling_s(rank, phase);
  own.adding_s =
      std::max(own.adding_s, handled_s + memory_bytes_per_sum * added_bytes /
                                             traffic_.host_memory_Bps / phase.stage.partitions);
  handled_s_[{phase.stage.pass, rank}] += handled_s;
  for (const Transfer& send : phase.sends)
    own.flows.add(routes_.between(rank, send.peer), static_cast<double>(send.bytes) / bandwidth_);
}

void PipelineTime::add_to(ExchangeTime& time) const {
  for (auto one = stages_.begin(); one != stages_.end();) {
    const int pass = one->first.first;
    const int partitions = one->second.stage.partitions;
    const bool next_follows = one->second.stage.in_flight != 1;
    double first_fixed_s = 0;  // of the first partition, through all stages
    double first_bytes_s = 0;
    double pace_fixed_s = 0;  // of a partition in the slowest stage
    double pace_bytes_s = 0;
    const auto keep_slower = [&](double fixed_s, double bytes_s) {
      if (fixed_s + bytes_s > pace_fixed_s + pace_bytes_s) {
        pace_fixed_s = fixed_s;
        pace_bytes_s = bytes_s;
      }
    };
    Flows all;
    for (; one != stages_.end() && one->first.first == pass; ++one) {
      const OfStage& stage = one->second;
      const double moving_s = stage.flows.seconds(routes_) / partitions;
      first_fixed_s += stage.first_s + stage.adding_s;
      first_bytes_s += moving_s;
      keep_slower(stage.next_s, moving_s);
      keep_slower(stage.adding_s, 0);
      for (int link = 0; link < static_cast<int>(stage.flows.link_bytes.size()); ++link)
        all.add(link, stage.flows.link_bytes[index(link)]);
    }
    keep_slower(0, all.seconds(routes_) / partitions);
    for (const auto& [of, handled_s] : handled_s_)  // the stages of a server share its cores
      if (of.first == pass)
        keep_slower(handled_s, 0);
    time.fixed_s += first_fixed_s + (partitions - 1) * pace_fixed_s;
    time.bytes_s += first_bytes_s + (partitions - 1) * pace_bytes_s;
    if (next_follows) {
      time.shared_fixed_s += first_fixed_s - pace_fixed_s;
      time.shared_bytes_s += first_bytes_s - pace_bytes_s;
    }
  }
}

double PipelineTime::handling_s(int rank, const Phase& phase) const {
  double bytes = 0;
  for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
    for (const Transfer& transfer : *transfers)
      bytes += static_cast<double>(transfer.bytes) / phase.stage.partitions;
  return traffic_.handling_s(payload_, rank, bytes, routes_.cores(rank));
}

}  // namespace syncline
