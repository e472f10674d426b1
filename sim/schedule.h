// A schedule says who waits for whom. It is a function over the verbs of sim/worker.h (and, where
// it has servers or node aggregators, of sim/server.h and sim/aggregator.h), and should read like
// the algorithm box of its paper. Adding one is adding one file to sim/schedules/.
#pragma once

#include <map>
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
  bool sparsifiers_only = false;  // accepts only sparsifiers as compressors
  std::string exchange = "ring";  // its default; `allgather` where messages cannot be added
  // Its own defaults for other options, as in its paper.
  std::map<std::string, std::string> defaults = {};
  bool any_exchange = true;  // false: its default is the only one it can use
  void (*worker)(Worker&) = nullptr;
  void (*server)(Server&) = nullptr;          // run by every shard
  void (*aggregator)(Aggregator&) = nullptr;  // run once per node

  // Whom its workers send gradients to.
  enum class Partners { each_other, servers, aggregators };
  Partners partners() const {
    return aggregator != nullptr ? Partners::aggregators
           : server != nullptr   ? Partners::servers
                                 : Partners::each_other;
  }
};

// Parameters of schedules with servers.
inline Parameter pull_parameter() {
  return {.name = "pull",
          .sentence = "servers answer with dense parameters or with compressed differences",
          .fallback = "dense",
          .choices = {"dense", "compressed"}};
}

// How old parameters may be, in iterations: each schedule says which.
inline Parameter staleness_parameter(const std::string& sentence, const std::string& fallback) {
  return {.name = "staleness",
          .sentence = sentence + "; none: no bound",
          .fallback = fallback,
          .minimum = 0,
          .maximum = 1e9,
          .whole = true,
          .unlimited = "none"};
}

}  // namespace syncline
