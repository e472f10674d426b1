// A case of every registered schedule: several workers per node, one bucket per tensor, servers on
// the nodes and on their own hosts, compression on the only core and on a second one, in steps and
// in flows.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {

struct Case {
  std::string name;
  Options options;
};

inline std::vector<Case> every_schedule() {
  std::vector<Case> all;
  const auto add = [&](const std::string& schedule, int servers, int cores, Options more) {
    Star star{.nodes = 2, .workers_per_node = 2, .nic_Bps = 2e8, .slow_speed = 0.6};
    star.servers = servers;
    star.cores = std::max(1, cores);
    more.insert({{"platform", star_platform(star)},
                 {"model", model_of({400'000, 900'000, 100, 700'000})},
                 {"schedule", schedule},
                 {"servers", std::to_string(servers)},
                 {"compressor", cores > 0 ? "topk" : "none"},
                 {"bucket-bytes", "0"},
                 {"jitter", "0.1"}});
    std::string name;
    for (const char* option :
         {"schedule", "exchange", "replica", "average-delay", "servers", "compressor", "fidelity"})
      if (more.contains(option))
        name += more.at(option) + " ";
    all.push_back({name + "cores " + std::to_string(star.cores), more});
  };
  for (const auto& [schedule, entry] : Registered<Schedule>::all())
    for (const int cores : {0, 1, 2}) {  // 0: no compression
      if (!takes(entry, cores == 0 ? "none" : "topk"))
        continue;
      for (const int servers : {0, 2})
        if (servers == 0 || entry.server != nullptr)
          add(schedule, servers, cores, {});
    }
  for (const int cores : {0, 1, 2})
    for (const char* delay : {"0", "2"})
      add("local-sgd", 0, cores,
          {{"replica", "node"}, {"local-steps", "4"}, {"average-delay", delay}});
  for (const std::string& exchange : exchanges_for("none"))
    for (const char* fidelity : {"flow", "step"})
      add("bsp", exchange == "ps" ? 2 : 0, 0, {{"exchange", exchange}, {"fidelity", fidelity}});
  return all;
}

}  // namespace syncline
