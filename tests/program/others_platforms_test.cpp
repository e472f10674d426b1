// Platforms made by others for SimGrid, which SimGrid loads: they give the figures of the same
// platform without the additions.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/platform/platform_values.h"
#include "tests/program/refused_platform.h"

namespace syncline {
namespace {

struct Found {
  double per_s = 0;
  std::string warnings;
};

Found found(const std::string& xml, const std::vector<std::string>& more = {}) {
  const TemporaryFolder folder;
  folder.write("p.xml", xml);
  std::vector<std::string> arguments{"run",        "--json", "--model",      "resnet50",
                                     "--batch",    "32",     "--throughput", "250",
                                     "--platform", "p.xml",  "--iterations", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = run_program(arguments, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  if (ended.code != 0)
    return {};
  const nlohmann::json figures =
      nlohmann::json::parse(ended.out).at("cells").at(0).at("result").at("figures");
  return {figures.at("throughput_samples_per_s"), figures.at("warnings").dump()};
}

std::string with_settings(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string text = "<config>";
  for (const auto& [id, value] : settings)
    text += "<prop id=\"" + id + "\" value=\"" + value + "\"/>";
  return platform({.before = text + "</config>\n"});
}

TEST(OthersPlatforms, SayWhatMpiTakesWhichIsIgnoredAndNamed) {
  const double plain = found(platform({})).per_s;
  const Found calibrated = found(with_settings({{"smpi/os", "0:1e-6:1e-10;4096:2e-6:2e-10"},
                                                {"smpi/or", "0:1e-6:1e-10"},
                                                {"smpi/host-speed", "1Gf"},
                                                {"smpi/async-small-thresh", "65536"}}));
  EXPECT_EQ(calibrated.per_s, plain);
  expect_mentions(calibrated.warnings,
                  {"ignored", "config smpi/os", "config smpi/host-speed", "async-small-thresh"});
}

// StarPU's settings amount to network = exact, also under the names of older versions.
TEST(OthersPlatforms, MaySetWhatTheScenarioSaysAnyway) {
  const Found plain = found(platform({}));
  for (const std::string between : {"-", "_"}) {
    const Found starpu = found(with_settings({{"network/TCP" + between + "gamma", "-1"},
                                              {"network/latency" + between + "factor", "1"},
                                              {"network/bandwidth" + between + "factor", "1.0"},
                                              {"network/weight" + between + "S", "0.0"},
                                              {"network/crosstraffic", "0"}}));
    EXPECT_EQ(starpu.per_s, plain.per_s);
    EXPECT_EQ(starpu.warnings, plain.warnings);
  }
  const std::string slow = with_settings({{"network/model", "LV08"},
                                          {"network/latency-factor", "13.01"},
                                          {"network/crosstraffic", "yes"}});
  EXPECT_EQ(found(slow, {"--network", "lv08"}).per_s,
            found(platform({}), {"--network", "lv08"}).per_s);
  EXPECT_EQ(
      found(with_settings({{"network/bandwidth-factor", "0.5"}}), {"--bandwidth-factor", "0.5"})
          .per_s,
      found(platform({}), {"--bandwidth-factor", "0.5"}).per_s);
}

TEST(OthersPlatforms, ThatSetAnotherNetworkAreRefusedWithBothAndTheOption) {
  const std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> all{
      {{"network/bandwidth-factor", "0.97"},
       {"p.xml:4", "network/bandwidth-factor = 0.97, but the scenario's is 1 (network = exact)",
        "here bandwidth-factor = 0.97"}},
      {{"network/model", "LV08"}, {"network/model = LV08", "is CM02", "here network = lv08"}},
      {{"network/TCP-gamma", "4194304"}, {"is -1", "here network = cm02, lv08 or ib"}},
      {{"network/crosstraffic", "1"}, {"is 0", "here network = cm02, lv08 or ib"}},
      {{"smpi/lat-factor", "0:1"}, {"smpi/lat-factor", "here latency-factor, or network = ib"}},
  };
  for (const auto& [setting, mentions] : all)
    expect_refused({"Setting", with_settings({setting}), mentions});
}

// Batsim's scheduler and storage hosts run no jobs.
TEST(OthersPlatforms, HaveBatsimsRoles) {
  const double plain = found(platform({})).per_s;
  for (const std::string role : {"master", "storage"}) {
    const Found batsim = found(platform(
        {.host = "speed=\"1Tf\"/><host id=\"m\" speed=\"1Tf\"><prop id=\"role\" value=\"" + role +
                 "\"/></host><host id=\"c\" speed=\"1Tf\"><prop id=\"role\" value=\"none\"/></host"
                 "><router id=\"r\""}));
    EXPECT_EQ(batsim.per_s, plain);
    expect_mentions(batsim.warnings, {"ignored", "host with role = " + role});
  }
  EXPECT_EQ(found(platform({.host = "speed=\"1Tf\"><prop id=\"role\" value=\"compute_node\"/>"
                                    "</host><router id=\"r\""}))
                .per_s,
            plain);
  expect_refused({"Role",
                  platform({.host = "speed=\"1Tf\"><prop id=\"role\" value=\"boss\"/></host>"
                                    "<router id=\"r\""}),
                  {"role = boss", "worker, server, host or none", "worker-hosts"}});
}

TEST(OthersPlatforms, MayHaveBlankLinesBeforeTheDeclaration) {
  const double plain = found(platform({})).per_s;
  EXPECT_EQ(found("\n" + platform({})).per_s, plain);
  EXPECT_EQ(found(" \r\n\t\n" + with_settings({{"smpi/os", "0:1:1"}})).per_s, plain);
  expect_refused({"Line",
                  "\n\n" + platform({.link = R"(bandwidth="1" latency="1sec")"}),
                  {"p.xml:9", "<link> l", "1sec"}});
}

// A host runs at the speed of its state, so its other states may be speeds that are not allowed.
TEST(OthersPlatforms, MayHaveStatesInWhichAHostIsOff) {
  const std::string states = "speed=\"1Tf, 500Gf, 1e-9Mf\" pstate=\"";
  EXPECT_EQ(found(platform({.host = states + "0\""})).per_s, found(platform({})).per_s);
  EXPECT_EQ(found(platform({.host = states + "1\""})).per_s,
            found(platform({.host = "speed=\"500Gf\""})).per_s);
  expect_refused(
      {"State", platform({.host = states + "2\""}), {"speed = 1Tf, 500Gf, 1e-9Mf", "least 1f"}});
}

// Without editing the file: a is no worker, whatever its role in the file, and b is one.
TEST(OthersPlatforms, HaveTheWorkersThatTheScenarioNames) {
  const std::string xml =
      platform({.host = "speed=\"1Tf\"/><host id=\"CUDA0\" speed=\"1Tf\"/><host id=\"CUDA1\" "
                        "speed=\"1Tf\"><prop id=\"role\" value=\"none\"/></host><router id=\"r\"",
                .inside = "<route src=\"CUDA0\" dst=\"CUDA1\"><link_ctn id=\"l\"/></route>\n"});
  const auto workers = [&](const std::string& hosts) {
    return found(xml, {"--worker-hosts", hosts, "--overlap", "off"}).per_s;
  };
  const double two = workers("CUDA*");
  EXPECT_EQ(two, workers("CUDA0;CUDA1"));
  EXPECT_EQ(two, workers("a;b"));
  EXPECT_NEAR(workers("a"), 250, 1e-6);
  EXPECT_LT(two, 500);
  const TemporaryFolder folder;
  folder.write("p.xml", xml);
  for (const std::string bad : {"GPU*", "a;", ";"}) {
    const Ended ended = run_program({"explain", "--model", "resnet50", "--throughput", "10",
                                     "--platform", "p.xml", "--worker-hosts", bad},
                                    folder.path());
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"worker-hosts = ", "allowed are"});
  }
}

TEST(PlatformValues, HaveSimGridsUnits) {
  EXPECT_EQ(speed_flops("1.5Tf"), 1.5e12);
  EXPECT_EQ(speed_flops("2gigaflops"), 2e9);
  EXPECT_EQ(speed_flops("1Tf, 2Tf"), 1e12);
  EXPECT_EQ(speed_flops("7"), 7);
  EXPECT_EQ(bandwidth_Bps("8Gbps"), 1e9);
  EXPECT_EQ(bandwidth_Bps("1KiBps"), 1024);
  EXPECT_EQ(bandwidth_Bps("1Mibps"), 131072);
  EXPECT_EQ(time_s("0"), 0);
  EXPECT_DOUBLE_EQ(time_s("10us"), 1e-5);
  EXPECT_EQ(hosts_of_radical("0-7,12"), 9);
  EXPECT_EQ(size_of_topology("FAT_TREE", "2;4,4;1,2;1,2").hosts, 16);
  EXPECT_EQ(size_of_topology("DRAGONFLY", "3,4;3,2;3,1;2").hosts, 54);
}

}  // namespace
}  // namespace syncline
