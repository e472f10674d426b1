// A schedule says who waits for whom. It is a function over the verbs of sim/worker.h (and, with
// servers or node aggregators, of sim/server.h and sim/aggregator.h), and should read like the
// algorithm box of its paper. To add one, add one file to sim/schedules/.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
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
  std::string option;                   // the option that chooses them
  std::string compressor;               // the compressor whose authors published them
  std::optional<int> epoch_iterations;  // per epoch; none: from the data that are learned
};

// Each worker of a group holds a shard of the gradients and of the optimiser's states, perhaps also
// of the parameters. Units of layers are exchanged, not buckets.
struct Sharding {
  Among group = Among::all;  // its shards are everything together; other groups hold copies
  std::optional<int> parts;  // number of units, of equal size; none: the model's blocks
  bool parameters = true;    // are sharded, too: gathered before forward and before backward
  bool gradients = true;     // are sharded, too: only their shards stay after backward
  bool adds_whole = false;   // gradients of micro-steps are added up before they are scattered
  int prefetch = 1;          // units whose parameters are gathered while another one computes
  // In backward, the next unit's parameters are gathered while a unit computes (pre), or after it
  // has computed, before (post) or after (none) its gradients are queued.
  enum class Backward { pre, post, none };
  Backward backward = Backward::pre;
};

// An option of a schedule that does not fit. The error is "option = why": `why` begins with the
// value.
struct Misfit {
  std::string option;
  std::string why;
};

// Another worker, and the mean number of copies of its parameters that a worker sends it in an
// iteration of all workers.
struct Neighbour {
  int worker = 0;
  double copies = 0;
};

inline constexpr const char* pull_name = "pull";  // an option of schedules with servers
// An option of schedules that average in rounds: iterations before workers wait for an average.
inline constexpr const char* average_delay_name = "average-delay";

struct Schedule {
  static constexpr const char* kind = "schedule";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<OwnOption> options = {};
  bool sparsifiers_only = false;  // accepts only sparsifiers as compressors
  // With servers: workers step alone, each with parameters of its own, and exchange parameters with
  // the servers instead of gradients. An iteration then counts at its step. With neighbours it is
  // always so.
  bool own_parameters = false;
  // The default, where workers average; `allgather` where messages cannot be added.
  std::string exchange = "ring";
  // The schedule's defaults for other options, as in its paper.
  std::map<std::string, std::string> defaults = {};
  bool any_exchange = true;  // false: workers can average only by the default
  // Whom a worker waits for: all others in every iteration; some, so that nobody gets far ahead; or
  // nobody. This decides how runs begin, how long they are, and what is measured. Settings can
  // change it. Null: for_all where workers average; else as most_lead says, if given, or for_some.
  enum class Waiting { for_all, for_some, for_nobody };
  Waiting (*waiting)(const Settings&) = nullptr;
  // Iterations after which workers' actions repeat; a run has a multiple of these. With servers: of
  // these iterations the first one exchanges. Null: one.
  int (*round)(const Settings&, int workers) = nullptr;
  // In a round that ends with an average over all, the group whose workers average their gradients
  // in each iteration. None, or null: every worker steps alone.
  std::optional<Among> (*replica)(const Settings&) = nullptr;
  // How its workers hold shards. Null: each worker holds everything.
  Sharding (*sharding)(const Settings&) = nullptr;
  // Names of extra fp32 copies of the model that each worker keeps. Null: none.
  std::vector<std::string> (*keeps)(const Settings&, bool compressed) = nullptr;
  // An option of the schedule that does not fit another option, or the exchange. Null: all always
  // fit.
  std::optional<Misfit> (*misfit)(const Settings&, const Exchange&) = nullptr;
  // What is wrong with its settings for this number of workers; empty: nothing. Null: never.
  std::string (*refusal)(const Settings&, int workers) = nullptr;
  // Workers settle slowly into patterns of meeting that then last, so runs are longer and there are
  // more of them.
  bool settles_slowly = false;
  // How many of its own gradients a worker's parameters may lack. Null: none.
  double (*gradients_ahead)(const Settings&) = nullptr;
  // How many iterations a worker may be ahead of the slowest one before it waits, where workers run
  // independently. 0, or null: workers wait for gradients of others, which keeps them together.
  double (*most_lead)(const Settings&) = nullptr;
  // The densities of the first epochs, and how long these are. Null: no warm-up.
  WarmUp (*warm_up)(const Settings&) = nullptr;
  // For workers that send each other their parameters: to whom this one sends, answers included.
  // Null: workers average with all, or have servers.
  std::vector<Neighbour> (*neighbours)(const Settings&, int worker, int workers) = nullptr;
  bool draws_neighbours = false;  // whom a worker sends to is drawn at random (Worker::drawn)
  void (*worker)(Worker&) = nullptr;
  // Answers copies of parameters while the worker computes. Null: nothing does.
  void (*answer)(Worker&) = nullptr;
  void (*server)(Server&) = nullptr;          // run by every shard
  void (*aggregator)(Aggregator&) = nullptr;  // run once per node

  bool servers_step() const { return server != nullptr && !own_parameters; }
  bool has_own_parameters() const { return own_parameters || neighbours != nullptr; }

  // Throws std::logic_error if this worker cannot exchange parameters with the other one.
  void require_neighbours(int worker, int other, int workers) const {
    if (neighbours == nullptr)
      throw std::logic_error("schedule " + name + " does not declare that it has neighbours");
    if (other < 0 || other >= workers || other == worker)
      throw std::logic_error("schedule " + name + ": worker " + std::to_string(worker) +
                             " has worker " + std::to_string(other) + " of " +
                             std::to_string(workers) + " as a neighbour");
  }

  int round_of(const Settings& settings, int workers) const {
    return round == nullptr ? 1 : round(settings, workers);
  }

  Waiting waits(const Settings& settings) const {
    if (waiting != nullptr)
      return waiting(settings);
    if (partners() == Partners::each_other)
      return Waiting::for_all;
    if (most_lead == nullptr)
      return Waiting::for_some;
    const double lead = most_lead(settings);
    return lead == 0          ? Waiting::for_all
           : std::isinf(lead) ? Waiting::for_nobody
                              : Waiting::for_some;
  }

  // To whom workers send gradients, or to neighbours parameters.
  enum class Partners { each_other, servers, aggregators, neighbours };
  Partners partners() const {
    return aggregator != nullptr   ? Partners::aggregators
           : server != nullptr     ? Partners::servers
           : neighbours != nullptr ? Partners::neighbours
                                   : Partners::each_other;
  }

  // The exchange that is used unless another is given, and whether another may be.
  std::string default_exchange() const {
    return server != nullptr ? "ps" : neighbours != nullptr ? "neighbours" : exchange;
  }
  bool chooses_exchange() const { return any_exchange && partners() == Partners::each_other; }

  // Whether servers can answer with compressed differences, and do so under these settings.
  bool can_pull_compressed() const {
    return std::ranges::find(options, pull_name, &OwnOption::name) != options.end();
  }
  bool delays_averages(const Settings& settings) const {
    return std::ranges::find(options, average_delay_name, &OwnOption::name) != options.end() &&
           settings.number(average_delay_name) > 0;
  }
  bool pulls_compressed(const Settings& settings) const {
    return can_pull_compressed() && settings.word(pull_name) == "compressed";
  }
};

// Common to schedules with servers.
inline OwnOption pull_option() {
  return choice(pull_name, "servers answer with dense parameters or with compressed differences",
                "dense", {"dense", "compressed"});
}

// The lead of workers that wait for nobody.
inline double unbounded(const Settings& /*settings*/) {
  return std::numeric_limits<double>::infinity();
}

// The greatest age of parameters, in iterations; each schedule's sentence defines it.
inline OwnOption staleness_option(const std::string& sentence, const std::string& fallback) {
  return or_word(whole_number("staleness", sentence + "; none: no bound", fallback, 0, 1e9),
                 "none");
}

}  // namespace syncline
