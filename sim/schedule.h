// A schedule says who waits for whom. It is a function over the verbs of sim/worker.h (and, where
// it has servers or node aggregators, of sim/server.h and sim/aggregator.h), and should read like
// the algorithm box of its paper. Adding one is adding one file to sim/schedules/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/plan.h"

namespace syncline {

class Worker;
class Server;
class Aggregator;

// Densities of the first epochs.
struct WarmUp {
  std::string option;                   // that chooses them, and
  std::string compressor;               // whose authors' they are
  std::optional<int> epoch_iterations;  // none: the data that are learned say it
};

// Workers of a group each hold a shard of what all need: of gradients and the optimiser's states,
// perhaps of parameters. What moves are units of layers, not buckets.
struct Sharding {
  Among group = Among::all;  // whose shards together are everything; other groups hold it again
  std::optional<int> parts;  // units are so many parts of equal size; none: the model's blocks
  bool parameters = true;    // are sharded, too: gathered before forward and again before backward
  bool adds_whole = false;   // gradients of micro-steps are added up before they are scattered
  int prefetch = 1;          // units whose parameters are gathered while another one computes
  // In backward: then, or not before a unit has computed, before or after its gradients are queued.
  enum class Backward { pre, post, none };
  Backward backward = Backward::pre;
};

// Of "option = value: why" all but "option = ".
struct Misfit {
  std::string option;
  std::string why;
};

struct Schedule {
  static constexpr const char* kind = "schedule";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<OwnOption> options = {};
  bool sparsifiers_only = false;  // accepts only sparsifiers as compressors
  std::string exchange = "ring";  // its default; `allgather` where messages cannot be added
  // Its own defaults for other options, as in its paper.
  std::map<std::string, std::string> defaults = {};
  bool any_exchange = true;  // false: its default is the only one it can use
  // Whom a worker waits for, which decides how runs begin, how long they are, and what is measured:
  // for all others in every iteration; for some, so that nobody gets far ahead; for nobody.
  // Settings can change it. Null: for all where there is no server, else for some.
  enum class Waiting { for_all, for_some, for_nobody };
  Waiting (*waiting)(const Settings&) = nullptr;
  // Iterations after which what workers do repeats: runs are so many, or a multiple. Null: one.
  int (*round)(const Settings&) = nullptr;
  // In a round that is averaged over all at its end, the workers of such a group average their
  // gradients in each iteration. None, or null: every worker steps alone.
  std::optional<Among> (*replica)(const Settings&) = nullptr;
  // What its workers hold shards of. Null: each has everything.
  Sharding (*sharding)(const Settings&) = nullptr;
  // What each of its workers keeps besides, a value in fp32 for each parameter, where what it sends
  // is compressed or not. Null: nothing.
  std::vector<std::string> (*keeps)(const Settings&, bool compressed) = nullptr;
  // Which of its options does not go with another, or with the exchange. Null: all do, always.
  std::optional<Misfit> (*misfit)(const Settings&, const Exchange&) = nullptr;
  // What is wrong with its settings where there are so many workers; empty: nothing. Null: never.
  std::string (*refusal)(const Settings&, int workers) = nullptr;
  // Its workers fall slowly into ways of meeting that they then keep: runs are longer, and more.
  bool settles_slowly = false;
  // Whether servers answer with compressed differences, with these settings. Null: never.
  bool (*pulls_compressed)(const Settings&) = nullptr;
  // So many of a worker's own gradients may be in no parameters that it has. Null: none.
  double (*gradients_ahead)(const Settings&) = nullptr;
  // How many iterations a worker may get ahead of the slowest one before it waits, where each goes
  // its own way. 0, or null: they wait for gradients of others, which brings them together.
  double (*most_lead)(const Settings&) = nullptr;
  // The first epochs have the densities that it says, as long as it says. Null: they do not warm
  // up.
  WarmUp (*warm_up)(const Settings&) = nullptr;
  void (*worker)(Worker&) = nullptr;
  void (*server)(Server&) = nullptr;          // run by every shard
  void (*aggregator)(Aggregator&) = nullptr;  // run once per node

  int round_of(const Settings& settings) const { return round == nullptr ? 1 : round(settings); }

  Waiting waits(const Settings& settings) const {
    if (waiting != nullptr)
      return waiting(settings);
    return server == nullptr ? Waiting::for_all : Waiting::for_some;
  }

  // Whom its workers send gradients to.
  enum class Partners { each_other, servers, aggregators };
  Partners partners() const {
    return aggregator != nullptr ? Partners::aggregators
           : server != nullptr   ? Partners::servers
                                 : Partners::each_other;
  }
};

// Schedules with servers have this in common.
inline constexpr const char* pull_name = "pull";
inline bool pulls_compressed(const Settings& settings) {
  return settings.word(pull_name) == "compressed";
}
inline OwnOption pull_option() {
  return choice(pull_name, "servers answer with dense parameters or with compressed differences",
                "dense", {"dense", "compressed"});
}

// Parameters may be so old, in iterations: each schedule says which.
inline OwnOption staleness_option(const std::string& sentence, const std::string& fallback) {
  return or_word(whole_number("staleness", sentence + "; none: no bound", fallback, 0, 1e9),
                 "none");
}

}  // namespace syncline
