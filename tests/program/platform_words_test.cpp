// Platforms in words: what the program makes of them, and how it refuses wrong words.
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> explaining(const std::string& platform) {
  return {"explain",      "--json", "--model",    "resnet50",
          "--throughput", "100",    "--platform", platform};
}

Json explained_json(const std::string& platform) {
  const Ended ended = run_program(explaining(platform));
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

// tests/unit/platform_words_test.cpp has all wrong words.
TEST(PlatformInWords, AreRefusedInOneLine) {
  const std::map<std::string, std::vector<std::string>> wrong{
      {"dgz:nodes=3", {"'dgz'", "dgx, "}}, {"dgx:crads=8x200Gbps", {"'crads'", "cards"}}};
  for (const auto& [words, mentions] : wrong)
    for (const auto& arguments : {explaining(words), std::vector<std::string>{"platform", words}}) {
      const Ended ended = run_program(arguments);
      EXPECT_EQ(ended.code, 2);
      EXPECT_EQ(ended.out, "");
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, mentions);
      expect_mentions(ended.err, {"allowed"});
    }
}

TEST(PlatformInWords, IsAClusterOfTheseNodes) {
  const auto cluster = [](const std::string& platform) {
    return run_program(
               {"explain", "--model", "resnet50", "--throughput", "100", "--platform", platform})
        .out;
  };
  expect_mentions(cluster("dgx:gpus=4+6:cards=2x200Gbps"), {"10 workers on 2 nodes (4 6)"});
  expect_mentions(cluster("dgx:nodes=1+2:gpus=4+6:cards=2x200Gbps"),
                  {"16 workers on 3 nodes (4 6 6)"});
  expect_mentions(cluster("dgx:gpus=1x4+2x6:cards=4x400Gbps+2x200Gbps"),
                  {"16 workers on 3 nodes (4 6 6)"});
  expect_mentions(cluster("dgx:nodes=5:sites=2"), {"40 workers on 5 nodes (8 8 8 8 8)"});
}

TEST(PlatformInWords, IsLoadedInSecondsWhereItHas1024Gpus) {
  const auto began = std::chrono::steady_clock::now();
  const Json large = explained_json("dgx:nodes=128");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(large["cells"][0]["cluster"]["workers"], 1024);
}

TEST(PlatformInWords, GivesWayToAFileOfItsName) {
  const TemporaryFolder folder;
  const std::vector<std::string> made{"platform", "dgx:nodes=2:gpus=1:cards=1x10Gbps", "--out",
                                      "dgx:nodes=9"};
  ASSERT_EQ(run_program(made, folder.path()).code, 0);
  const Ended ended = run_program(explaining("dgx:nodes=9"), folder.path());
  EXPECT_EQ(Json::parse(ended.out)["cells"][0]["cluster"]["workers"], 2) << ended.err;
  const Ended again = run_program(made, folder.path());  // the file may have been edited
  EXPECT_EQ(again.code, 2);
  expect_mentions(again.err, {"--out dgx:nodes=9", "is there"});
}

TEST(PlatformInWords, HasFiguresOfItsFile) {
  const TemporaryFolder folder;
  const std::string words = "dgx:nodes=2:leaf=8:oversubscription=2";
  ASSERT_EQ(run_program({"platform", words, "--out", "ours.xml"}, folder.path()).code, 0);
  const auto figures = [&](const std::string& platform) {
    const Ended ended = run_program({"run", "--json", "--model", "resnet50", "--throughput", "100",
                                     "--iterations", "3", "--platform", platform},
                                    folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out).at("cells").at(0).at("result").at("figures").dump();
  };
  EXPECT_EQ(figures(words), figures("ours.xml"));
}

TEST(LinkFactors, AreRefusedInOneLine) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong{
      {"*-nix*:2", {"*-nix*", "no link has such a name", "node0-nic0"}},
      {"x", {"= x", "numbers from"}},
      {"1;2", {"1;2", "one number"}},
      {"*:1;*:2", {"*:1;*:2", "different patterns"}},
      {":3", {":3", "PATTERN:NUMBER"}},
      {"*-nic*:nan", {"nan", "numbers from"}},
      {"*-nic*:-1", {"-1", "numbers from"}},
      {"*-nic*:", {"numbers from"}},
      {"*-nic*:1e999", {"1e999", "numbers from"}}};
  for (const auto& [factor, mentions] : wrong)
    for (const std::string option : {"bandwidth-factor", "latency-factor"}) {
      std::vector<std::string> arguments = explaining("dgx:nodes=2");
      arguments.insert(arguments.end(), {"--" + option, factor});
      const Ended ended = run_program(arguments);
      EXPECT_EQ(ended.code, 2) << factor;
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, mentions);
      expect_mentions(ended.err, {option, "allowed are"});
    }
}

TEST(LinkFactors, AreRefusedWhereALinkFollowsAProfile) {
  const TemporaryFolder folder;
  folder.write("rows.txt", "0 1e9\n1 2e9\n");
  folder.write("p.xml",
               "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
               "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"><zone id=\"z\" "
               "routing=\"Full\"><host id=\"a\" speed=\"1Tf\"/><host id=\"b\" speed=\"1Tf\"/>"
               "<link id=\"l\" bandwidth=\"1GBps\" latency=\"0\" bandwidth_file=\"rows.txt\"/>"
               "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone></platform>\n");
  std::vector<std::string> arguments = explaining("p.xml");
  arguments.insert(arguments.end(), {"--bandwidth-factor", "l:2"});
  const Ended ended = run_program(arguments, folder.path());
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"bandwidth-factor = l:...", "link l follows a profile", "allowed"});
}

TEST(PlatformInWords, IsPrintedWithTheSourceOfEachNumber) {
  const Ended ended = run_program({"platform", "dgx:nodes=20:cards=8x200Gbps"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out,
                  {"160 GPUs in 20 nodes", "cards = 8x200Gbps", "as said", "nvlink = 450GBps",
                   "datasheet: H100-SXM5", "<link id=\"node19-nic7\" bandwidth=\"25GBps\""});
  EXPECT_EQ(run_program({"platform"}).code, 2);
}

// Once, an H100's slot was half of an RTX 2080 Ti's, although its comment claimed the H100's.
TEST(PlatformInWords, TakesSlotAndSpeedOfTheDeviceThatItSays) {
  const std::string h100 =
      run_program({"platform", "pcie:nodes=2:device=h100-pcie:cards=1x400Gbps"}).out;
  expect_mentions(h100, {"which without other words is\n  nodes of 4 RTX 2080 Ti", "pcie = 63GBps",
                         "slot of h100-pcie in platforms/devices.csv", "speed = 51Tf",
                         "latency = 14us", "count as RDMA"});
  expect_mentions(run_program({"platform", "pcie:device=rtx2080ti:cards=1x25Gbps"}).out,
                  {"pcie = 6GBps", "speed = 13.45Tf", "latency = 30us"});
  expect_mentions(run_program({"platform", "dgx:device=h200:pcie=50GBps:latency=9us"}).out,
                  {"pcie = 50GBps", "latency = 9us", "speed = 67Tf"});
}

// Two nodes of H100 and one of A100, each with its own speed, slot and peak: at the pace of A100s
// an iteration takes 989 / 312 times as long in bf16.
TEST(PlatformInWords, HasNodesOfDifferentDevices) {
  const std::string words = "dgx:nodes=2+1:gpus=1:cards=1x400Gbps:device=h100+a100";
  const std::string mixed = run_program({"platform", words}).out;
  expect_mentions(mixed, {"speed = 67Tf+19.5Tf", "pcie = 63GBps+31.5GBps",
                          "node0-gpu0\" speed=\"67Tf\"><prop id=\"node\" value=\"node0\"/><prop "
                          "id=\"device\" value=\"h100\"/>",
                          "node1-gpu0\" speed=\"67Tf\"",
                          "node2-gpu0\" speed=\"19.5Tf\"><prop id=\"node\" value=\"node2\"/><prop "
                          "id=\"device\" value=\"a100\"/>",
                          "node1-gpu0-pcie\" bandwidth=\"63GBps\"",
                          "node2-gpu0-pcie\" bandwidth=\"31.5GBps\""});
  const auto bound_s = [](const std::string& platform) {
    const Ended ended = run_program({"explain", "--json", "--platform", platform, "--model", "gpt2",
                                     "--precision", "bf16", "--efficiency", "0.4"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out)["cells"][0]["bounds"]["bound_compute_s"].get<double>();
  };
  const double h100_s = bound_s("dgx:nodes=2:gpus=1:cards=1x400Gbps");
  EXPECT_NEAR(bound_s(words) / h100_s, 989.0 / 312, 1e-3);
}

}  // namespace
}  // namespace syncline
