// A pipeline of an exchange in closed form, and flows that move side by side.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/traffic.h"

namespace syncline {

inline double seconds_of(const Routes& routes, int link, double bytes) {
  return bytes / routes.link(link).bandwidth.mean_Bps();
}

// Flows that move side by side.
struct Flows {
  std::vector<double> link_bytes;  // empty beyond the last link in use
  double slowest_s = 0;            // of a flow, on links that limit each flow by itself

  void add(const Route& route, double bytes) {
    slowest_s = std::max(slowest_s, bytes / route.flow_Bps);
    for (const int link : route.links)
      add(link, bytes);
  }
  void add(int link, double bytes) {
    if (index(link) >= link_bytes.size())
      link_bytes.resize(index(link) + 1);
    link_bytes[index(link)] += bytes;
  }

  // Seconds of the busiest link, or of the slowest flow.
  double seconds(const Routes& routes) const {
    double seconds = slowest_s;
    for (int link = 0; link < static_cast<int>(link_bytes.size()); ++link)
      seconds = std::max(seconds, seconds_of(routes, link, link_bytes[index(link)]));
    return seconds;
  }
};

// How long a bucket takes through all stages of a pipeline, and how soon the next one follows. With
// K partitions, the first passes all stages, and the other K - 1 leave at the pace of the slowest
// stage, or of the busiest link if stages share it. The next bucket follows at that pace, unless
// only one bucket is in flight.
class PipelineTime {
 public:
  // All bandwidths are multiplied by `bandwidth`.
  PipelineTime(const Traffic& traffic, Routes& routes, const Payload& payload, double bandwidth)
      : traffic_(traffic), routes_(routes), payload_(payload), bandwidth_(bandwidth) {}

  // Adds a phase of this rank, which must be in a pipeline.
  void add(int rank, const Phase& phase);
  // Adds the times of all passes, which follow each other.
  void add_to(ExchangeTime& time) const;

 private:
  struct OfStage {
    Stage stage;
    double first_s = 0;   // latencies and overheads of a partition, of the slowest rank
    double next_s = 0;    // part of first_s for which the next partition waits
    double adding_s = 0;  // of a partition: handling it and adding it up
    Flows flows;
  };

  // Seconds that a server's software takes for the messages of one partition.
  double handling_s(int rank, const Phase& phase) const;

  const Traffic& traffic_;
  Routes& routes_;
  const Payload& payload_;
  double bandwidth_;
  std::map<std::pair<int, int>, double> handled_s_;  // of a partition, by pass and rank
  std::map<std::pair<int, int>, OfStage> stages_;    // by pass and place
};

}  // namespace syncline
