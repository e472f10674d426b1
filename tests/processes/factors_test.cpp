// A factor reaches SimGrid exactly as written: with six decimals, 1.4e-6 became 1e-6 and 4e-7
// became 0.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace syncline {
namespace {

double iteration_s(const std::string& network, const std::string& option,
                   const std::string& factor) {
  const TemporaryFolder folder;
  folder.write("far.xml",
               "<?xml version='1.0'?>\n"
               "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
               "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
               "<cluster id=\"c\" prefix=\"m\" suffix=\"\" radical=\"0-1\" speed=\"1Tf\" "
               "bw=\"1GBps\" lat=\"100s\"/>\n</zone></platform>\n");
  const Ended ended =
      run_program({"run", "--platform", "far.xml", "--model", "resnet20", "--throughput", "1000",
                   "--batch", "1", "--iterations", "3", "--network", network, "--latency-factor",
                   option == "latency-factor" ? factor : "0", "--bandwidth-factor",
                   option == "bandwidth-factor" ? factor : "1", "--out", "o"},
                  folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto result = nlohmann::json::parse(text_of(folder.path("o/result.json")));
  return result.at("figures").at("iteration_mean_s").get<double>();
}

TEST(Factors, AreSimulatedToTheLastDigit) {
  for (const char* network : {"exact", "cm02", "lv08"})
    for (const auto& [option, factor, a_little_more] :
         {std::tuple{"bandwidth-factor", "1.4e-6", "1.4000001e-6"},
          std::tuple{"latency-factor", "4e-4", "4.000001e-4"},
          std::tuple{"latency-factor", "4e-7", "4.0000004e-7"}}) {
      const double before_s = iteration_s(network, option, factor);
      const double after_s = iteration_s(network, option, a_little_more);
      const bool slower = std::string(option) == "latency-factor";
      EXPECT_TRUE(slower ? after_s > before_s : after_s < before_s)
          << network << " " << option << " = " << factor << ": " << before_s << " s, "
          << a_little_more << ": " << after_s << " s";
    }
}

}  // namespace
}  // namespace syncline
