// What one rank does in one collective, as data. An exchange is a pure function that makes a Plan,
// so its volumes and its partners are tested without the engine; sim/stream.cpp carries Plans out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"

namespace syncline {

struct Transfer {
  int peer = 0;             // a rank
  std::uint64_t bytes = 0;  // over all steps of the phase
};

// Transfers that run side by side. With several `steps`, step s moves part s of each transfer cut
// evenly, and starts when step s - 1 has ended for this rank and for its peers. `fidelity = flow`
// runs all steps as one flow per transfer and pays each step's latency and overhead.
struct Phase {
  std::string_view name;  // its verb in the trace: a string literal
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  int steps = 1;
  // Ranks that begin this phase together, because no step of it can end before all have arrived:
  // any number that only they use in this plan, and how many they are. None (size 0) where the
  // messages themselves make a rank wait, and always the case for one step.
  int group = 0;
  int group_size = 0;
};

using Plan = std::vector<Phase>;

// Who takes part: workers are the ranks from 0, node by node; servers follow.
struct Topology {
  std::vector<std::vector<int>> nodes;  // the workers of each node
  std::vector<int> node_of;             // of each worker
  int servers = 0;

  int workers() const { return static_cast<int>(node_of.size()); }
  int ranks() const { return workers() + servers; }
};

Topology make_topology(const std::vector<int>& workers_in_node, int servers);

struct Exchange {
  static constexpr const char* kind = "exchange";
  std::string name;
  std::string sentence;
  std::vector<Parameter> parameters;
  bool uses_servers = false;
  // The part of `rank` in averaging `bytes` over all workers. Throws std::invalid_argument where
  // the exchange cannot serve this topology. Empty when there is nothing to do.
  std::function<Plan(const Topology&, const Settings&, std::uint64_t bytes, int rank)> plan;
};

// Parts first .. last - 1 of `bytes` cut into `parts` that differ by at most one byte.
inline std::uint64_t shares(std::uint64_t bytes, int parts, int first, int last) {
  const auto p = static_cast<std::uint64_t>(parts);
  return bytes * static_cast<std::uint64_t>(last) / p -
         bytes * static_cast<std::uint64_t>(first) / p;
}

inline std::uint64_t share(std::uint64_t bytes, int parts, int i) {
  return shares(bytes, parts, i, i + 1);
}

// How many pieces of `piece` bytes a buffer makes: at least one, and at most a million, beyond
// which they would only be counted.
int pieces(std::uint64_t bytes, double piece);

// A place in a ring of ranks.
struct RingPlace {
  int position = 0;
  int size = 1;
  int next = 0;  // ranks
  int previous = 0;
};

// `ring` holds ranks.
RingPlace place_in(const std::vector<int>& ring, int position);

// The ring algorithms (Thakur, Rabenseifner, Gropp 2005): reduce-scatter leaves part `position` of
// the sum at each place, all-gather starts from there. Both: size - 1 steps of one part.
Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group);
Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group);
// Reduce-scatter and all-gather have the same partners: together one phase, so one flow.
Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group);

}  // namespace syncline
