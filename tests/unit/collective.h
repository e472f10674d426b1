// The plans of all ranks of one exchange, and the clusters on which exchanges are tested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/collectives.h"

namespace syncline {

struct Collective {
  Topology topology;
  std::uint64_t bytes = 0;
  Payload payload;
  std::vector<Plan> plans;  // workers' plans, then servers'
};

inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// One action of a plan, transfers or work, under its name in a trace.
struct Action {
  std::string_view name;
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  int steps = 1;
  int group = 0;
  int group_size = 0;
  int messages = 0;            // messages that work is done on
  std::uint64_t elements = 0;  // of each of these messages
};
using Actions = std::vector<Action>;

inline Actions actions_of(const Plan& plan) {
  Actions actions;
  for (const auto& action : plan)
    if (const Phase* phase = std::get_if<Phase>(&action))
      actions.push_back({name_of(phase->verb), phase->sends, phase->receives, phase->steps,
                         phase->group, phase->group_size});
    else if (const Work* work = std::get_if<Work>(&action))
      actions.push_back({.name = work->kind == Work::Kind::encode ? "compress" : "decompress",
                         .messages = work->messages,
                         .elements = work->elements});
  return actions;
}

inline std::vector<Actions> actions_of(const std::vector<Plan>& plans) {
  std::vector<Actions> all;
  for (const Plan& plan : plans)
    all.push_back(actions_of(plan));
  return all;
}

// Parameters of an exchange, and `fidelity`, whose default is `step`.
using GivenSettings = std::map<std::string, std::string>;

inline Collective collective(const std::string& name, const Topology& topology,
                             const Payload& payload, GivenSettings given = {}) {
  const Exchange& exchange = Registered<Exchange>::find(name);
  const auto fidelity = given.extract("fidelity");
  const bool every_step = fidelity.empty() || fidelity.mapped() == "step";
  const Settings settings(exchange.options, given);
  Collective all{.topology = topology, .bytes = payload.bytes, .payload = payload, .plans = {}};
  const int ranks = exchange.uses_servers ? topology.ranks() : topology.workers();
  for (int rank = 0; rank < ranks; ++rank)
    all.plans.push_back(plan_of(exchange, topology, settings, payload, rank, every_step));
  return all;
}

inline Collective collective(const std::string& name, const Topology& topology, std::uint64_t bytes,
                             const GivenSettings& given = {}) {
  return collective(name, topology, dense(bytes), given);
}

struct Shape {
  std::string name;
  std::vector<int> workers_in_node;
  bool even = true;
};

inline std::vector<Shape> shapes_of(int workers) {
  std::vector<Shape> shapes{{"1 per node", std::vector<int>(at(workers), 1)},
                            {"one node", {workers}}};
  if (workers % 4 == 0)
    shapes.push_back({"4 per node", std::vector<int>(at(workers / 4), 4)});
  if (workers % 3 == 0)
    shapes.push_back({"3 nodes", std::vector<int>(3, workers / 3)});
  if (workers > 2) {
    std::vector<int> sizes;
    for (int left = workers, size = 1; left > 0; left -= sizes.back(), size = size % 3 + 1)
      sizes.push_back(std::min(size, left));
    shapes.push_back({"uneven", sizes, false});
  }
  return shapes;
}

inline const std::vector<std::uint64_t> byte_sizes{0, 1, 7, 1000, 102228128};

// A sparsifier's k (index, value) pairs out of `elements` fp32 values.
inline Payload topk(std::uint64_t k, std::uint64_t elements) {
  return {.bytes = 8 * k, .dense_bytes = 4 * elements, .elements = elements, .summable = false};
}

// Payloads of compressors for `workers` workers; one has messages of different sizes.
inline std::vector<Payload> compressed_payloads(const std::string& exchange, int workers) {
  std::vector<Payload> payloads{topk(1, 1000), topk(7, 13), topk(12 * 33, 10000),
                                topk(25557, 25557032)};
  const Exchange::Carries carries = Registered<Exchange>::find(exchange).carries;
  if (carries != Exchange::Carries::sparse) {  // quantised payloads
    payloads.push_back({.bytes = 1001, .dense_bytes = 4000, .elements = 1000});
    payloads.push_back({.bytes = 0, .dense_bytes = 4, .elements = 1});
  }
  payloads.push_back(topk(50, 4000));
  for (int worker = 0; worker < workers; ++worker)
    payloads.back().messages.push_back(8 * static_cast<std::uint64_t>(worker * 7 % 11));
  for (Payload& payload : payloads)
    payload.summable = payload.summable || carries == Exchange::Carries::sums;
  return payloads;
}

inline bool needs_even_nodes(const std::string& exchange) {
  return exchange == "hierarchical" || exchange == "hitopk" ||
         exchange == "hierarchical-compressed";
}

// More workers would take minutes under sanitizers.
#ifdef __SANITIZE_ADDRESS__
constexpr int most_workers = 17;
#else
constexpr int most_workers = 33;
#endif

// Calls `check(topology)` for 1 to most_workers workers, in all shapes that the exchange supports.
template <class Check>
void for_each_topology(const std::string& exchange, Check check) {
  for (int workers = 1; workers <= most_workers; ++workers)
    for (const Shape& shape : shapes_of(workers)) {
      if (needs_even_nodes(exchange) && !shape.even)
        continue;
      std::vector<int> servers{0};
      if (Registered<Exchange>::find(exchange).uses_servers)
        servers = {1, 3, static_cast<int>(shape.workers_in_node.size())};
      for (const int count : servers) {
        SCOPED_TRACE(exchange + ", " + std::to_string(workers) + " workers, " + shape.name + ", " +
                     std::to_string(count) + " servers");
        check(make_topology(shape.workers_in_node, count));
        if (testing::Test::HasFailure())
          return;
      }
    }
}

template <class Check>
void for_each_payload(const std::string& exchange, const Topology& topology,
                      const GivenSettings& given, const std::vector<Payload>& payloads,
                      Check check) {
  for (const Payload& payload : payloads) {
    SCOPED_TRACE(std::to_string(payload.bytes) + " bytes for " + std::to_string(payload.elements));
    check(collective(exchange, topology, payload, given));
  }
}

// Calls `check(collective)` for all topologies, with uncompressed gradients.
template <class Check>
void for_each_collective(const std::string& exchange, Check check,
                         const GivenSettings& given = {}) {
  std::vector<Payload> payloads;
  for (const std::uint64_t bytes : byte_sizes)
    payloads.push_back(dense(bytes));
  for_each_topology(exchange, [&](const Topology& topology) {
    for_each_payload(exchange, topology, given, payloads, check);
  });
}

// The same with compressed gradients.
template <class Check>
void for_each_compressed(const std::string& exchange, Check check,
                         const GivenSettings& given = {}) {
  for_each_topology(exchange, [&](const Topology& topology) {
    for_each_payload(exchange, topology, given, compressed_payloads(exchange, topology.workers()),
                     check);
  });
}

// Executes plans on contributions: a message carries its sender's contributions at sending. Calls
// `on_message(the receiver's contributions, message, from, to, the receiver's phase, bytes)` for
// each; `bytes` are those of the whole phase.
template <class OnMessage>
void execute(const std::vector<Actions>& plans, std::vector<std::uint64_t>& contributions,
             OnMessage on_message) {
  struct Place {
    std::size_t phase = 0;
    int step = 0;
    bool sent = false;
  };
  using Pair = std::pair<int, int>;  // sender, receiver
  std::vector<Place> places(plans.size());
  std::map<Pair, std::vector<std::uint64_t>> sent;
  std::map<Pair, std::size_t> read;
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < static_cast<int>(plans.size()); ++rank) {
      Place& place = places[at(rank)];
      if (place.phase == plans[at(rank)].size())
        continue;
      const Action& phase = plans[at(rank)][place.phase];
      if (!place.sent)
        for (const Transfer& send : phase.sends)
          sent[{rank, send.peer}].push_back(contributions[at(rank)]);
      place.sent = true;
      const bool all_sent = std::ranges::all_of(phase.receives, [&](const Transfer& receive) {
        return sent[{receive.peer, rank}].size() > read[{receive.peer, rank}];
      });
      if (!all_sent)
        continue;
      for (const Transfer& receive : phase.receives) {
        const Pair pair{receive.peer, rank};
        on_message(contributions[at(rank)], sent[pair][read[pair]++], pair.first, rank, phase,
                   receive.bytes);
      }
      const bool last = place.step + 1 == phase.steps;
      place = {place.phase + (last ? 1 : 0), last ? 0 : place.step + 1, false};
      moved = true;
    }
  }
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    EXPECT_EQ(places[rank].phase, plans[rank].size()) << "rank " << rank << " is stuck";
}

inline std::uint64_t sent_by(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Action& phase : actions_of(plan))
    for (const Transfer& send : phase.sends)
      bytes += send.bytes;
  return bytes;
}

inline std::uint64_t received_by(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Action& phase : actions_of(plan))
    for (const Transfer& receive : phase.receives)
      bytes += receive.bytes;
  return bytes;
}

inline int steps_of(const Plan& plan) {
  int steps = 0;
  for (const Action& phase : actions_of(plan))
    steps += phase.messages > 0 ? 0 : phase.steps;
  return steps;
}

inline std::uint64_t sent_by_all(const Collective& all) {
  std::uint64_t bytes = 0;
  for (const Plan& plan : all.plans)
    bytes += sent_by(plan);
  return bytes;
}

inline std::uint64_t one(int i) {
  return std::uint64_t{1} << i;
}

inline std::uint64_t everybody(const Collective& all) {
  return one(all.topology.workers()) - 1;
}

inline Topology flat(int workers) {
  return make_topology(std::vector<int>(at(workers), 1), 0);
}

// Bytes of a plan's phases of one name.
inline std::uint64_t sent_in(const Plan& plan, std::string_view name) {
  std::uint64_t bytes = 0;
  for (const Action& phase : actions_of(plan))
    for (const Transfer& send : phase.sends)
      bytes += phase.name == name ? send.bytes : 0;
  return bytes;
}

// Clusters of equal nodes: check(topology, nodes, workers of a node).
template <class Check>
void for_each_grid(Check check) {
  for (const int nodes : {1, 2, 3, 5})
    for (const int m : {1, 2, 4, 6}) {
      SCOPED_TRACE(std::to_string(nodes) + " nodes of " + std::to_string(m));
      if (nodes * m > 1)
        check(make_topology(std::vector<int>(at(nodes), m), 0), nodes, m);
    }
}

using Works = std::vector<std::tuple<std::string_view, int, std::uint64_t>>;

// The work in a plan: messages and elements.
inline Works work_of(const Actions& plan) {
  Works work;
  for (const Action& phase : plan)
    if (phase.messages > 0)
      work.emplace_back(phase.name, phase.messages, phase.elements);
  return work;
}

inline void expect_no_work_for_dense(const std::string& exchange) {
  for_each_collective(exchange, [](const Collective& all) {
    for (const Actions& plan : actions_of(all.plans))
      EXPECT_TRUE(work_of(plan).empty());
  });
}

inline std::uint64_t up(std::uint64_t elements, std::uint64_t parts) {  // rounded up
  return (elements + parts - 1) / parts;
}

}  // namespace syncline
