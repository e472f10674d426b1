#include "sim/plan.h"

#include <gtest/gtest.h>
#include <numeric>

#include "sim/collectives.h"
#include "tests/unit/collective.h"

namespace syncline {
namespace {

TEST(Share, PartsAddUpAndDifferByOneByteAtMost) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 7ULL, 1000ULL, 102228128ULL, 1000000000000ULL})
    for (int parts = 1; parts <= 130; ++parts) {
      std::uint64_t sum = 0;
      for (int i = 0; i < parts; ++i) {
        const std::uint64_t part = share(bytes, parts, i);
        EXPECT_GE(part, bytes / static_cast<unsigned>(parts));
        EXPECT_LE(part, bytes / static_cast<unsigned>(parts) + 1);
        sum += part;
      }
      EXPECT_EQ(sum, bytes) << parts << " parts";
    }
}

TEST(Topology, NumbersWorkersNodeByNode) {
  const Topology topology = make_topology({2, 1, 3}, 2);
  EXPECT_EQ(topology.nodes, (std::vector<std::vector<int>>{{0, 1}, {2}, {3, 4, 5}}));
  EXPECT_EQ(topology.node_of, (std::vector<int>{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(topology.workers(), 6);
  EXPECT_EQ(topology.ranks(), 8);
}

TEST(RingPlace, HasTheRanksOfItsNeighbours) {
  const std::vector<int> ring{7, 3, 9};
  for (int position = 0; position < 3; ++position) {
    const RingPlace place = place_in(ring, position);
    EXPECT_EQ(place.position, position);
    EXPECT_EQ(place.size, 3);
    EXPECT_EQ(place.next, ring[static_cast<std::size_t>((position + 1) % 3)]);
    EXPECT_EQ(place.previous, ring[static_cast<std::size_t>((position + 2) % 3)]);
  }
}

TEST(RingPlace, OfOneIsItsOwnNeighbour) {
  const RingPlace place = place_in({5}, 0);
  EXPECT_EQ(place.next, 5);
  EXPECT_EQ(place.previous, 5);
}

// Contributions: for each part of each position's buffer, one bit per rank that has been added.
using Parts = std::vector<std::vector<std::uint64_t>>;

Parts own_contributions(int n) {
  Parts has;
  for (int place = 0; place < n; ++place)
    has.emplace_back(static_cast<std::size_t>(n), std::uint64_t{1} << place);
  return has;
}

std::vector<int> ring_of(int n) {
  std::vector<int> ring(static_cast<std::size_t>(n));
  std::iota(ring.begin(), ring.end(), 0);
  return ring;
}

// Runs the ring algorithm: in step 0 every position sends the part `first` positions after its own,
// then always the part just received. Returns the bytes that each has sent.
std::vector<std::uint64_t> run_ring(Parts& has, std::uint64_t bytes, int first, bool reduce) {
  const int n = static_cast<int>(has.size());
  std::vector<std::uint64_t> sent(has.size());
  for (int step = 0; step < n - 1; ++step) {
    const Parts before = has;
    for (int place = 0; place < n; ++place) {
      const int part = ((place + first - step) % n + n) % n;
      const auto p = static_cast<std::size_t>(part);
      const std::uint64_t moved = before[static_cast<std::size_t>(place)][p];
      std::uint64_t& there = has[static_cast<std::size_t>((place + 1) % n)][p];
      if (reduce) {
        EXPECT_EQ(there & moved, 0U) << "added twice";
      }
      there = reduce ? there | moved : moved;
      sent[static_cast<std::size_t>(place)] += share(bytes, n, part);
    }
  }
  return sent;
}

TEST(RingPhases, MoveTheBytesOfTheRingAlgorithm) {
  for (int n = 2; n <= 33; ++n)
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{102228128}}) {
      Parts has = own_contributions(n);
      const std::uint64_t everybody = (std::uint64_t{1} << n) - 1;
      const auto scattered = run_ring(has, bytes, n - 1, true);
      for (int place = 0; place < n; ++place)  // part i of the sum is at place i
        EXPECT_EQ(has[static_cast<std::size_t>(place)][static_cast<std::size_t>(place)], everybody);
      const auto gathered = run_ring(has, bytes, 0, false);
      for (const auto& parts : has)
        for (const std::uint64_t part : parts)
          EXPECT_EQ(part, everybody);

      const std::vector<int> ring = ring_of(n);
      for (int place = 0; place < n; ++place) {
        const auto i = static_cast<std::size_t>(place);
        const RingPlace here = place_in(ring, place);
        EXPECT_EQ(ring_reduce_scatter(here, bytes, 0).sends[0].bytes, scattered[i]);
        EXPECT_EQ(ring_all_gather(here, bytes, 0).sends[0].bytes, gathered[i]);
        EXPECT_EQ(ring_all_reduce(here, bytes, 0).sends[0].bytes, scattered[i] + gathered[i]);
      }
    }
}

TEST(RingPhases, TakeOneStepLessThanPlaces) {
  const RingPlace place = place_in({0, 1, 2, 3}, 2);
  EXPECT_EQ(ring_reduce_scatter(place, 100, 0).steps, 3);
  EXPECT_EQ(ring_all_gather(place, 100, 0).steps, 3);
  EXPECT_EQ(ring_all_reduce(place, 100, 0).steps, 6);
}

TEST(RingPhases, GatherPartsOfDifferentSizes) {
  const std::vector<std::uint64_t> parts{1, 20, 300};
  for (int place = 0; place < 3; ++place) {
    const Phase phase = ring_all_gather(place_in({0, 1, 2}, place), parts, 7);
    const auto i = static_cast<std::size_t>(place);
    EXPECT_EQ(phase.sends[0].bytes, 321 - parts[(i + 1) % 3]);
    EXPECT_EQ(phase.receives[0].bytes, 321 - parts[i]);
    EXPECT_EQ(phase.steps, 2);
    EXPECT_EQ(phase.group, 7);
  }
  const Phase even = ring_all_gather(place_in({0, 1, 2}, 1), {5, 5, 5}, 0);
  EXPECT_EQ(even.sends[0].bytes, ring_all_gather(place_in({0, 1, 2}, 1), 15, 0).sends[0].bytes);
}

TEST(GridPlace, HasOneRingInsideAndOneAcrossNodes) {
  const GridPlace place = place_in_grid(make_topology({3, 3}, 0), 4, "x");
  EXPECT_EQ(place.inside.position, 1);
  EXPECT_EQ(place.inside.next, 5);
  EXPECT_EQ(place.inside.previous, 3);
  EXPECT_EQ(place.across.position, 1);
  EXPECT_EQ(place.across.next, 1);
  EXPECT_EQ(place.across.previous, 1);
  EXPECT_EQ(place.inside_group, 1);
  EXPECT_EQ(place.across_group, 3);
}

TEST(PlanOf, EncodesBeforeAndDecodesAfterAnExchangeThatAdds) {
  const Topology topology = make_topology({1, 1}, 1);
  const Payload payload{.bytes = 10, .dense_bytes = 40, .elements = 10};
  const auto names = [&](const std::string& exchange, const Payload& given, int rank) {
    const Exchange& found = Registered<Exchange>::find(exchange);
    std::string text;
    for (const Action& phase :
         actions_of(plan_of(found, topology, Settings(found.options, {}), given, rank)))
      text += std::string(phase.name) + " ";
    return text;
  };
  EXPECT_EQ(names("ring", payload, 0), "compress all-reduce decompress ");
  EXPECT_EQ(names("ring", dense(40), 0), "all-reduce ");
  EXPECT_EQ(names("ps", payload, 1), "compress push pull decompress ");
  EXPECT_EQ(names("ps", payload, 2), "push pull ");  // the server
  EXPECT_EQ(names("allgather", payload, 0), "compress all-gather decompress ");
}

}  // namespace
}  // namespace syncline
