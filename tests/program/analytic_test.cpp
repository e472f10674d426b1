// fidelity = analytic as a user sees it: its output and its refusals.
#include <algorithm>
#include <gtest/gtest.h>
#include <initializer_list>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

Ended run_analytic(std::vector<std::string> more) {
  std::vector<std::string> arguments{"run",      "--model",      "resnet50", "--fidelity",
                                     "analytic", "--iterations", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

TEST(Analytic, SaysHowARunWasSimulated) {
  const Ended ended = run_analytic({"--platform", "pcie-8x4-10gbe", "--throughput", "200"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"analytic, 1 run", "samples/s", "node0-nic"});
}

// In each of these cases arithmetic is off by more than 5 %, or cannot give an answer.
TEST(Analytic, RefusesWhatArithmeticCannotSay) {
  struct Refused {
    std::vector<std::string> options;
    std::string why;
  };
  const std::vector<std::string> pcie{"--platform", "pcie-8x4-10gbe", "--throughput", "200"};
  for (const Refused& refused : std::initializer_list<Refused>{
           {{"--schedule", "asp"}, "asp has servers"},
           {{"--fusion-cycle", "0.005", "--jitter", "0.1"}, "fusion-cycle with jitter"},
           {{"--learn", "mlp", "--data", "digits"}, "the learned parameters"},
           {{"--network", "lv08"}, "network = lv08 has no closed form"},
           {{"--network", "ib"}, "factors depend on a message's size"},
           {{"--device", "h100-modelled", "--schedule", "topk-sgd", "--warm-up-densities", "dgc",
             "--epoch-iterations", "3"},
            "warm-up-densities"},
           {{"--device", "h100-modelled", "--compressor", "efsign", "--exchange", "alltoall"},
            "exchange = alltoall works on messages between its steps"},
           {{"--goal", "x.goal"}, "no messages"}}) {
    std::vector<std::string> options = pcie;
    for (std::size_t i = 0; i < refused.options.size(); i += 2) {  // replaces the option above
      const auto given = std::find(options.begin(), options.end(), refused.options[i]);
      if (given != options.end())
        options.erase(given, given + 2);
    }
    options.insert(options.end(), refused.options.begin(), refused.options.end());
    std::vector<std::string> arguments{"run", "--fidelity", "analytic"};
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"--model", "resnet50"}, {"--iterations", "3"}})
      if (std::find(options.begin(), options.end(), name) == options.end())
        arguments.insert(arguments.end(), {name, value});
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2) << refused.why << ended.out;
    expect_mentions(ended.err, {"analytic", refused.why, "allowed"});
  }
  expect_mentions(run_analytic({"--platform", "straggler-8x1", "--throughput", "200"}).err,
                  {"fidelity = analytic: the platform has profiles"});
}

}  // namespace
}  // namespace syncline
