// Pipelines: how stages are cut into pieces, and how servers get few flows.
#include <gtest/gtest.h>
#include <set>

#include "sim/collectives.h"
#include "tests/unit/collective.h"

namespace syncline {
namespace {

Phase stage_of(int place, int stages, int partitions, int fine_pieces = 0) {
  return {
      .verb = Verb::push,
      .sends = {{1, 1'000'003}},
      .receives = {{2, 77}},
      .steps = 3,
      .stage = {
          .place = place, .stages = stages, .partitions = partitions, .fine_pieces = fine_pieces}};
}

// The number of partitions in pieces 0 .. piece - 1.
int partitions_before(const Phase& phase, int piece, bool every_step) {
  int steps = 0;
  for (int p = 0; p < piece; ++p)
    steps += piece_of(phase, p, every_step).steps;
  return steps / phase.steps;
}

TEST(Pieces, AddUpToTheirPhase) {
  for (const bool every_step : {true, false})
    for (const int stages : {1, 2, 4})
      for (int place = 0; place < stages; ++place)
        for (const int partitions : {1, 2, 3, 4, 5, 50})
          for (const int fine : {0, 3, 12, 100}) {
            const Phase whole = stage_of(place, stages, partitions, fine);
            const int pieces = pieces_of(whole.stage, every_step);
            EXPECT_EQ(pieces,
                      every_step ? partitions : std::min(partitions, std::max(stages, fine)));
            std::uint64_t sent = 0;
            std::uint64_t received = 0;
            for (int p = 0; p < pieces; ++p) {
              sent += piece_of(whole, p, every_step).sends[0].bytes;
              received += piece_of(whole, p, every_step).receives[0].bytes;
              EXPECT_GE(piece_of(whole, p, every_step).steps, whole.steps);
            }
            EXPECT_EQ(sent, whole.sends[0].bytes);
            EXPECT_EQ(received, whole.receives[0].bytes);
            EXPECT_EQ(partitions_before(whole, pieces, every_step), partitions);
          }
}

// A piece starts when the same piece of the previous stage has ended.
TEST(Pieces, BeginWithAPartitionThatTheStageBeforeHasBrought) {
  for (const bool every_step : {true, false})
    for (const int stages : {2, 4})
      for (int place = 1; place < stages; ++place)
        for (const int partitions : {1, 2, 3, 4, 5, 50})
          for (const int fine : {0, 3, 12, 100}) {
            const Phase before = stage_of(place - 1, stages, partitions, fine);
            const Phase phase = stage_of(place, stages, partitions, fine);
            for (int p = 0; p < pieces_of(phase.stage, every_step); ++p)
              EXPECT_LT(partitions_before(phase, p, every_step),
                        partitions_before(before, p + 1, every_step))
                  << stages << " stages, " << partitions << " partitions, piece " << p
                  << " of stage " << place << ", at least " << fine << " pieces";
          }
}

// Otherwise the pipeline would wait while a long piece is in the first stage only.
TEST(Pieces, OfAllStagesAreLongAtTheSameTime) {
  for (int place = 0; place < 4; ++place) {
    const Phase phase = stage_of(place, 4, 50);
    for (int p = 0; p < 4; ++p)
      EXPECT_EQ(piece_of(phase, p, false).steps, 3 * (p == 3 - place ? 47 : 1)) << place;
  }
}

TEST(Stages, AreSumPushPullAndSpreadOfEveryPartition) {
  const Collective all = collective("ps", make_topology({2, 2}, 2), 10'000'000);
  std::vector<std::string> names;
  for (const auto& action : all.plans[3]) {
    const Phase& phase = std::get<Phase>(action);
    EXPECT_EQ(phase.stage.place, static_cast<int>(names.size()));
    EXPECT_EQ(phase.stage.stages, 4);
    EXPECT_EQ(phase.stage.partitions, 3);  // of 4,096,000 bytes, with any number of servers
    names.emplace_back(name_of(phase.verb));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"reduce-scatter", "push", "pull", "all-gather"}));
  const Phase& server_pushes = std::get<Phase>(all.plans[4][0]);
  EXPECT_EQ(server_pushes.stage.place, 1);
  EXPECT_EQ(server_pushes.stage.stages, 4);
}

// The second factor of PowerSGD needs the sum of the first.
TEST(Stages, OfASecondAllReduceHaveStreamsOfTheirOwn) {
  Payload twice = dense(1000);
  twice.all_reduces = 2;
  const Collective all = collective("ps", make_topology({1, 1}, 2), twice);
  std::vector<int> streams;
  for (const auto& action : all.plans[0])
    streams.push_back(std::get<Phase>(action).stage.stream());
  EXPECT_EQ(streams, (std::vector<int>{0, 1, 2, 3}));
}

TEST(FewFlows, CarryWhatEveryRankSendsAndReceives) {
  struct Case {
    std::vector<int> nodes;
    int servers;
    std::size_t most;  // flows of one worker
  };
  for (const Case& about :
       {Case{std::vector<int>(64, 1), 64, 9}, Case{std::vector<int>(64, 4), 64, 9},
        Case{std::vector<int>(64, 1), 16, 9}, Case{std::vector<int>(16, 2), 64, 36},
        Case{std::vector<int>(9, 1), 9, 9}, Case{std::vector<int>(12, 1), 8, 8}}) {
    const Topology topology = make_topology(about.nodes, about.servers);
    const std::uint64_t bytes = 64 * 64 * 4 * 1000;
    const Collective all = collective("ps", topology, bytes);
    const Collective few = collective("ps", topology, bytes, {{"fidelity", "flow"}});
    for (int rank = 0; rank < topology.ranks(); ++rank) {
      EXPECT_EQ(sent_by(few.plans[at(rank)]), sent_by(all.plans[at(rank)])) << rank;
      EXPECT_EQ(received_by(few.plans[at(rank)]), received_by(all.plans[at(rank)])) << rank;
      for (const Action& phase : actions_of(few.plans[at(rank)])) {
        std::set<int> peers;
        for (const Transfer& send : phase.sends)
          EXPECT_TRUE(peers.insert(send.peer).second) << "two flows to one rank";
        if (rank < topology.workers() && phase.name == "push") {
          EXPECT_EQ(phase.sends.size(), about.most);
        }
      }
    }
  }
}

// Once, 50,000 x 50,000 was a negative int, so each worker had a flow to each server.
TEST(FewFlows, AreFewWhereWorkersTimesServersIsMoreThanAnIntHolds) {
  const Topology topology = make_topology(std::vector<int>(50'000, 1), 50'000);
  const Exchange& exchange = Registered<Exchange>::find("ps");
  const Plan plan =
      plan_of(exchange, topology, Settings(exchange.options, {}), dense(1'000'000), 7, false);
  EXPECT_EQ(actions_of(plan).front().sends.size(), 9U);
}

// Of 100 rounds plus the depth of the trees, only those of the first chunk are separate.
TEST(FewFlows, OfATreeAreTwoPerEdge) {
  const Topology topology = make_topology(std::vector<int>(64, 1), 0);
  const Collective all = collective("tree", topology, 100 * 2 * 524288);
  const Collective few = collective("tree", topology, 100 * 2 * 524288, {{"fidelity", "flow"}});
  for (int rank = 0; rank < topology.workers(); ++rank) {
    EXPECT_EQ(sent_by(few.plans[at(rank)]), sent_by(all.plans[at(rank)])) << rank;
    std::size_t sends = 0;
    std::size_t edges = 0;
    for (const Action& phase : actions_of(few.plans[at(rank)])) {
      sends += phase.sends.size();
      edges += phase.steps > 1 ? phase.sends.size() : 0;
    }
    EXPECT_EQ(sends, 2 * edges) << rank;
  }
}

}  // namespace
}  // namespace syncline
