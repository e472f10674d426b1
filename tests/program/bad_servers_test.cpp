// Mistakes a user may make about server software and about what `throughput` covers: one line that
// says what, where and what is allowed, and exit code 2.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

struct WrongServer {
  std::vector<std::string> arguments;
  std::vector<std::string> mentions;
};

TEST(BadServers, AreAnsweredInOneLineWithExitCodeTwo) {
  const std::vector<WrongServer> all{
      {{"--throughput", "9", "--server-overhead", "tensorflwo"},
       {"--server-overhead", "tensorflwo", "no such software", "none", "tensorflow-1.10"}},
      {{"--throughput", "9", "--server-overhead", "ps-lite"},
       {"--server-overhead", "ps-lite", "has not been measured", "seconds", "tensorflow-1.10"}},
      {{"--throughput", "9", "--server-overhead", "0"}, {"server-overhead = 0", "allowed are"}},
      {{"--throughput", "9", "--server-overhead", "1.5"}, {"server-overhead = 1.5", "allowed are"}},
      {{"--throughput", "9", "--server-overhead", "nan"}, {"server-overhead", "allowed are"}},
      {{"--throughput", "9", "--server-jitter", "3"}, {"server-jitter = 3", "0 to 2"}},
      {{"--throughput", "9", "--server-placement", "hash"},
       {"server-placement = hash", "cut", "tensors"}},
      {{"--throughput", "9", "--schedule", "asp", "--server-placement", "tensors", "--compressor",
        "topk", "--device", "v100-modelled"},
       {"--server-placement", "with a compressor or learn", "cut"}},
      {{"--throughput", "9", "--schedule", "asp", "--server-placement", "tensors", "--learn",
        "mlp"},
       {"--server-placement", "with a compressor or learn", "cut"}},
      {{"--throughput", "9", "--throughput-of", "cluster"},
       {"throughput-of = cluster", "worker", "schedule"}},
      {{"--throughput-of", "schedule"}, {"--throughput-of", "give throughput"}},
      {{"--throughput", "9", "--throughput-servers", "1"}, {"--throughput-servers", "nothing"}},
      {{"--throughput", "9", "--throughput-of", "schedule", "--throughput-servers", "9"},
       {"servers = 9"}},
      {{"--schedule", "asp", "--workers", "1", "--servers", "1", "--throughput-of", "schedule",
        "--throughput", "1e9"},
       {"throughput = 1e+09", "samples/s", "smaller"}},
  };
  for (const WrongServer& wrong : all) {
    std::vector<std::string> arguments{"run", "--platform", "two-hosts", "--model", "resnet50"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"syncline: "});
    expect_mentions(ended.err, wrong.mentions);
  }
}

}  // namespace
}  // namespace syncline
