// The double binary tree, and parameter servers as an exchange.
#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <map>

#include "sim/collectives.h"
#include "tests/unit/collective.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

Collective trees(const Topology& topology, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  return collective("tree", topology, bytes, {{"chunk-bytes", std::to_string(chunk_bytes)}});
}

Collective trees(int workers, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  return trees(make_topology(std::vector<int>(at(workers), 1), 0), bytes, chunk_bytes);
}

TEST(TreeExchange, SendsTheMinimum) {
  for_each_collective("tree", [](const Collective& all) {
    EXPECT_EQ(sent_by_all(all), 2 * (at(all.topology.workers()) - 1) * all.bytes);
  });
}

TEST(TreeExchange, LoadsNoRankWithMoreThanTwoBuffersEachWay) {
  // Half of the buffer per tree: a leaf of one tree sends half, as an inner rank of the other tree
  // it sends three halves, and one more half to the chain behind it.
  for_each_collective("tree", [](const Collective& all) {
    for (const Plan& plan : all.plans) {
      const bool chains = all.topology.nodes.size() < at(all.topology.workers());
      const std::uint64_t most = 2 * all.bytes + (chains ? all.bytes / 2 : 0) + 3;
      EXPECT_LE(sent_by(plan), most);
      EXPECT_LE(received_by(plan), most);
      if (all.topology.workers() > 1) {
        EXPECT_GE(sent_by(plan), all.bytes / 2);  // in at least one tree it is not the root
        EXPECT_GE(received_by(plan), all.bytes / 2);
      }
    }
  });
}

TEST(TreeExchange, TakesTwoLogarithmicRoundsForOneChunk) {
  for (int workers = 2; workers <= 33; ++workers)
    for (const Plan& plan : trees(workers, 1000, 1000).plans)
      EXPECT_LE(steps_of(plan),
                2 * std::countr_zero(std::bit_floor(static_cast<unsigned>(workers))));
}

TEST(TreeExchange, PipelinesChunks) {
  for (const int workers : {2, 5, 8, 33})
    for (const int chunks : {1, 2, 3, 17, 100}) {
      const Collective all = trees(workers, 2000, static_cast<std::uint64_t>(1000 / chunks));
      const int logarithm = std::countr_zero(std::bit_floor(static_cast<unsigned>(workers)));
      const int real_chunks = (1000 + 1000 / chunks - 1) / (1000 / chunks);
      for (const Plan& plan : all.plans)
        EXPECT_LE(steps_of(plan), real_chunks + 2 * logarithm - 1)
            << workers << " workers, " << chunks << " chunks";
      EXPECT_EQ(sent_by_all(all), 2000 * 2 * at(workers - 1));
    }
}

// With one chunk of 7 bytes, a transfer's size, 3 or 4 bytes, identifies its tree. A message
// carries what its sender has: on the way up a sum of others, on the way down the sum of all.
void expect_one_sum_of_all_everywhere(const Topology& topology) {
  const int n = topology.workers();
  const std::vector<Actions> plans = actions_of(trees(topology, 7, 1000).plans);
  const std::uint64_t everybody = (std::uint64_t{1} << n) - 1;
  std::map<std::uint64_t, std::vector<std::uint64_t>> has;  // by bytes, by rank
  for (int rank = 0; rank < n; ++rank) {
    has[3].push_back(std::uint64_t{1} << rank);
    has[4].push_back(std::uint64_t{1} << rank);
  }
  struct Message {
    std::uint64_t bytes;
    std::uint64_t sum;
  };
  std::map<std::pair<int, int>, std::vector<Message>> sent;
  std::map<std::pair<int, int>, std::size_t> read;
  std::vector<std::size_t> place(plans.size());
  std::vector<bool> posted(plans.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < n; ++rank) {
      if (place[at(rank)] == plans[at(rank)].size())
        continue;
      const Action& phase = plans[at(rank)][place[at(rank)]];
      ASSERT_EQ(phase.steps, 1);
      if (!posted[at(rank)])
        for (const Transfer& send : phase.sends)
          sent[{rank, send.peer}].push_back({send.bytes, has[send.bytes][at(rank)]});
      posted[at(rank)] = true;
      const bool all_sent = std::ranges::all_of(phase.receives, [&](const Transfer& receive) {
        return sent[{receive.peer, rank}].size() > read[{receive.peer, rank}];
      });
      if (!all_sent)
        continue;
      for (const Transfer& receive : phase.receives) {
        const std::pair<int, int> pair{receive.peer, rank};
        const Message& message = sent[pair][read[pair]++];
        ASSERT_EQ(message.bytes, receive.bytes);
        std::uint64_t& mine = has[message.bytes][at(rank)];
        const bool up = (mine & message.sum) == 0;
        ASSERT_TRUE(up || message.sum == everybody) << "a part of the sum was added twice";
        mine |= message.sum;
      }
      posted[at(rank)] = false;
      ++place[at(rank)];
      moved = true;
    }
  }
  for (const auto& [bytes, sums] : has)
    for (const std::uint64_t sum : sums)
      EXPECT_EQ(sum, everybody) << "tree of " << bytes << " bytes";
}

TEST(TreeExchange, AddsEveryGradientOnceAndSendsTheSumToAll) {
  for (int n = 2; n <= 33; ++n)
    for (const Shape& shape : shapes_of(n)) {
      SCOPED_TRACE(std::to_string(n) + " workers, " + shape.name);
      expect_one_sum_of_all_everywhere(make_topology(shape.workers_in_node, 0));
    }
}

TEST(TreeExchange, CrossesNodesOncePerTreeEdge) {
  for (const int nodes : {2, 3, 8, 16}) {
    const Collective all = trees(make_topology(std::vector<int>(at(nodes), 8), 0), 1000, 1000);
    std::uint64_t between = 0;
    for (int rank = 0; rank < all.topology.workers(); ++rank)
      for (const Action& phase : actions_of(all.plans[at(rank)]))
        for (const Transfer& send : phase.sends)
          if (all.topology.node_of[at(send.peer)] != all.topology.node_of[at(rank)])
            between += send.bytes;
    EXPECT_EQ(between, 2 * at(nodes - 1) * 1000);
  }
}

// Bytes between each node's workers and each server: [node][server].
std::map<int, std::map<int, std::uint64_t>> pushed(const Collective& all) {
  std::map<int, std::map<int, std::uint64_t>> bytes;
  for (int rank = 0; rank < all.topology.workers(); ++rank)
    for (const Action& phase : actions_of(all.plans[at(rank)]))
      for (const Transfer& send : phase.sends)
        if (send.peer >= all.topology.workers())
          bytes[all.topology.node_of[at(rank)]][send.peer] += send.bytes;
  return bytes;
}

TEST(ParameterServer, ReceivesTheWholeGradientOfEachNodeInEvenShares) {
  for_each_collective("ps", [](const Collective& all) {
    const auto nodes = static_cast<int>(all.topology.nodes.size());
    const auto of_nodes = pushed(all);
    EXPECT_EQ(of_nodes.size(), nodes == 1 ? 0 : at(nodes));  // a single node sums by itself
    for (const auto& [node, of_servers] : of_nodes) {
      std::uint64_t sum = 0;
      const auto m = static_cast<double>(all.topology.nodes[at(node)].size());
      EXPECT_EQ(of_servers.size(), at(all.topology.servers));
      for (const auto& [server, bytes] : of_servers) {
        sum += bytes;
        EXPECT_NEAR(static_cast<double>(bytes),
                    static_cast<double>(all.bytes) / all.topology.servers, m);
      }
      EXPECT_EQ(sum, all.bytes) << "node " << node;
    }
  });
}

TEST(ParameterServer, AnswersAsMuchAsItReceives) {
  for_each_collective("ps", [](const Collective& all) {
    for (int rank = all.topology.workers(); rank < all.topology.ranks(); ++rank)
      EXPECT_EQ(sent_by(all.plans[at(rank)]), received_by(all.plans[at(rank)]));
  });
}

TEST(ParameterServer, ReceivesFromEveryWorkerWithoutAggregation) {
  for (const std::uint64_t bytes : byte_sizes) {
    const Collective all =
        collective("ps", make_topology({4, 4, 2}, 3), bytes, {{"aggregate", "off"}});
    for (int worker = 0; worker < 10; ++worker) {
      EXPECT_EQ(sent_by(all.plans[at(worker)]), bytes);
      EXPECT_EQ(received_by(all.plans[at(worker)]), bytes);
    }
    for (int server = 10; server < 13; ++server)
      EXPECT_EQ(received_by(all.plans[at(server)]), 10 * share(bytes, 3, server - 10));
  }
}

}  // namespace
}  // namespace syncline
