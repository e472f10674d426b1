// A schedule says who waits for whom. It is a function over the verbs of sim/worker.h (and, where
// it has servers or node aggregators, of sim/server.h and sim/aggregator.h), and should read like
// the algorithm box of its paper. Adding one is adding one file to sim/schedules/.
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.h"

namespace syncline {

class Worker;
class Server;
class Aggregator;

struct Schedule {
  static constexpr const char* kind = "schedule";
  std::string name;
  std::string sentence;
  std::vector<Parameter> parameters;
  std::string exchange = "ring";  // its default
  bool any_exchange = true;       // false: its default is the only one it can use
  void (*worker)(Worker&) = nullptr;
  void (*server)(Server&) = nullptr;          // run by every shard
  void (*aggregator)(Aggregator&) = nullptr;  // run once per node
};

}  // namespace syncline
