// Mistakes a user may make about shards, and words of other frameworks: one line that says what,
// where and what is allowed, and exit code 2.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

struct WrongShards {
  std::vector<std::string> arguments;
  std::vector<std::string> mentions;
};

TEST(BadShards, AreAnsweredInOneLineWithExitCodeTwo) {
  const std::vector<WrongShards> all{
      {{"--schedule", "fsdp", "--bucket-bytes", "0"},
       {"--bucket-bytes: bucket-bytes = 0: schedule fsdp moves units", "allowed is units"}},
      {{"--schedule", "fsdp", "--compressor", "topk", "--device", "v100-modelled"},
       {"--compressor: compressor = topk: schedule fsdp", "allowed is none"}},
      {{"--schedule", "fsdp", "--exchange", "tree"},
       {"--exchange: exchange = tree: schedule fsdp allows only ring"}},
      {{"--schedule", "fsdp", "--zero", "4"}, {"--zero: zero = 4", "1 to 3"}},
      {{"--schedule", "fsdp", "--units", "0"}, {"--units: units = 0", "blocks"}},
      {{"--schedule", "fsdp", "--units", "layers"}, {"--units: units = layers", "blocks"}},
      {{"--schedule", "fsdp", "--prefetch", "-1"}, {"--prefetch: prefetch = -1"}},
      {{"--schedule", "fsdp", "--shard", "rack"}, {"--shard: shard = rack", "all or node"}},
      {{"--schedule", "fsdp", "--backward-prefetch", "BACKWARD_PRE"},
       {"--backward-prefetch: backward-prefetch = BACKWARD_PRE", "pre, post or none"}},
      {{"--schedule", "fsdp", "--no-sync", "1"}, {"--no-sync: no-sync = 1", "on or off"}},
      {{"--schedule", "fsdp", "--framework", "pytorch-ddp"},
       {"--schedule: schedule = fsdp: framework pytorch-ddp", "pytorch-fsdp and none"}},
      {{"--schedule", "fsdp", "--framework", "horovod-0.20"},
       {"--schedule: schedule = fsdp: framework horovod", "pytorch-fsdp and none"}},
      {{"--schedule", "bsp", "--framework", "pytorch-fsdp"},
       {"--schedule: schedule = bsp: framework pytorch-fsdp has schedule fsdp"}},
      {{"--framework", "pytorch-fsdp", "--bucket-bytes", "5"},
       {"--bucket-bytes: bucket-bytes = 5: schedule fsdp", "allowed is units"}},
      {{"--framework", "pytorch-fsdp-1.12"}, {"pytorch-fsdp before 2.1", "2.1 or later"}},
      {{"--schedule", "bsp", "--zero", "2"}, {"--zero: zero means nothing to schedule bsp"}},
      {{"--schedule", "fsdp", "--staleness", "2"}, {"staleness means nothing to schedule fsdp"}},
      {{"--schedule", "fsdp", "--goal", "x.goal"}, {"--goal", "fsdp", "bsp"}},
      {{"--schedule", "fsdp", "--chakra", "x"}, {"--chakra", "fsdp", "bsp"}},
      {{"--schedule", "fsdp", "--shard", "node", "--platform", "pcie-4-and-6-10gbe"},
       {"shard = node: every node needs the same number of workers", "4", "6", "allowed is all"}},
      {{"--recompute", "selective"},
       {"recompute = selective: model resnet50 does not say", "attention_flop", "off and full"}},
      {{"--overlap-slowdown", "-0.1"},
       {"--overlap-slowdown: overlap-slowdown = -0.1", "published"}},
      {{"--placement", "near"}, {"--placement: placement = near", "packed, spread or random"}},
      {{"--overlap-slowdown", "measured"}, {"--overlap-slowdown: overlap-slowdown = measured"}},
      {{"--schedule", "asp", "--overlap-slowdown", "0.2"},
       {"--overlap-slowdown: overlap-slowdown = 0.2 means nothing to schedule asp",
        "allowed is 0"}},
      {{"--exchange", "ps", "--overlap-slowdown", "published"},
       {"overlap-slowdown = published means nothing to exchange ps", "allowed is 0"}},
      {{"--recompute", "some"}, {"--recompute: recompute = some", "off, selective or full"}},
      {{"--schedule", "tp"},
       {"--schedule: schedule = tp: tensor parallelism", "not modelled", "fsdp"}},
      {{"--schedule", "pp"},
       {"--schedule: schedule = pp: pipeline parallelism", "not modelled", "fsdp"}},
      {{"--schedule", "megatron"}, {"--schedule: schedule = megatron", "not modelled", "fsdp"}},
      {{"--schedule", "moe"}, {"--schedule: schedule = moe: expert parallelism", "fsdp"}},
      {{"--schedule", "zero3"}, {"--schedule: schedule = zero3", "fsdp with zero = 3"}},
      {{"--schedule", "ddp"}, {"--schedule: schedule = ddp", "schedule = bsp"}},
  };
  for (const WrongShards& wrong : all) {
    std::vector<std::string> arguments{"run", "--model", "resnet50", "--throughput", "9"};
    if (wrong.arguments.back() != "pcie-4-and-6-10gbe")
      arguments.insert(arguments.end(), {"--platform", "two-hosts"});
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, wrong.mentions);
  }
}

// In a sweep, options that only some schedules allow are left out for the others.
TEST(BadShards, InASweepLeaveOutWhatOnlyOthersHave) {
  const Ended ended =
      run_program({"run", "--platform", "two-hosts", "--model", "resnet20", "--throughput", "920",
                   "--schedule", "bsp,fsdp", "--zero", "2", "--bucket-bytes", "0"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("fsdp"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("bsp"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace syncline
