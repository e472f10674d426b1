// Platforms in words: what the program makes of them, and how it refuses wrong words.
#include <chrono>
#include <gtest/gtest.h>
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

struct WrongWords {
  std::string name;
  std::string words;
  std::vector<std::string> mentions;
};
void PrintTo(const WrongWords& one, std::ostream* out) {
  *out << one.name;
}

class PlatformWords : public testing::TestWithParam<WrongWords> {};

TEST_P(PlatformWords, AreRefusedInOneLine) {
  for (const auto& arguments :
       {explaining(GetParam().words), std::vector<std::string>{"platform", GetParam().words}}) {
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, GetParam().mentions);
    expect_mentions(ended.err, {"allowed"});
  }
}

const std::vector<WrongWords> wrong_words{
    {"NoFamily", "dgz:nodes=3", {"'dgz'", "dgx, "}},
    {"NoWord", "dgx:crads=8x200Gbps", {"'crads'", "cards"}},
    {"NoValue", "dgx:nodes", {"nodes has no value", "nodes=20"}},
    {"AnEmptyValue", "dgx:nodes=", {"nodes has no value"}},
    {"AWordTwice", "dgx:nodes=3:nodes=3", {"nodes is given twice"}},
    {"NoNode", "dgx:nodes=0", {"nodes = 0", "1 to 1048576"}},
    {"ABillionNodes", "dgx:nodes=1000000000", {"nodes = 1000000000", "1 to 1048576"}},
    {"NodesThatOverflow", "dgx:nodes=99999999999999999999", {"1 to 1048576"}},
    {"NodesOfAPower", "dgx:nodes=1e3", {"nodes = 1e3", "whole numbers"}},
    {"NegativeNodes", "dgx:nodes=-1", {"nodes = -1"}},
    {"NoGpu", "dgx:gpus=0", {"gpus = 0", "1 to 128"}},
    {"GpusOfNothing", "dgx:gpus=4+", {"gpus = 4+", "whole numbers"}},
    {"ABillionNodesOfGpus", "dgx:gpus=1000000000x8", {"gpus = 1000000000x8", "1 to 1048576"}},
    {"NodesAndGpusThatDiffer", "dgx:gpus=4+6:cards=1x10Gbps:nodes=3", {"nodes = 3", "names 2"}},
    {"TooManyWays", "dgx:nodes=900:gpus=128", {"gpus = 128", "500000"}},
    {"MoreCardsThanGpus", "dgx:gpus=4+6:cards=5x10Gbps", {"cards = 5x10Gbps", "1 to 4"}},
    {"NoCard", "dgx:cards=0x10Gbps", {"cards = 0x10Gbps", "whole numbers from 1"}},
    {"MoreKindsOfCardsThanOfNodes",
     "dgx:cards=8x400Gbps+4x200Gbps",
     {"cards = 8x400Gbps+4x200Gbps", "2 kinds", "name 1", "nodes=4+16"}},
    {"MoreKindsOfNodesThanOfCards", "dgx:nodes=1+2+3:cards=8x1Gbps+8x2Gbps", {"2 kinds", "name 3"}},
    {"NoNodeOfAKind", "dgx:nodes=4+0", {"nodes = 4+0", "1 to 1048576"}},
    {"KindsOfTooManyNodes", "dgx:nodes=999+2", {"1001 nodes", "1 to 1000"}},
    {"MoreGpusThanAMillion", "dgx:nodes=131073", {"1048584 GPUs", "1 to 1048576"}},
    {"MoreCardsThanGpusOfAKind",
     "dgx:nodes=1+1:gpus=8+4:cards=8x1Gbps+8x1Gbps",
     {"more cards than GPUs", "1 to 4"}},
    {"ALeafOfCardsThatDiffer",
     "dgx:nodes=1+1:cards=8x1Gbps+4x1Gbps:leaf=8",
     {"leaf = 8", "the same cards"}},
    {"ARateWithoutUnit", "dgx:cards=8x200", {"cards = 8x200", "no unit", "200Gbps"}},
    {"ANegativeRate", "dgx:cards=8x-1Gbps", {"cards = 8x-1Gbps", "Gbps"}},
    {"ARateThatIsNone", "dgx:nvlink=nanGBps", {"nvlink = nanGBps", "Gbps"}},
    {"ARateThatOverflows", "dgx:pcie=1e400GBps", {"pcie = 1e400GBps", "Gbps"}},
    {"ALatencyWithoutUnit", "dgx:latency=14", {"latency = 14", "no unit", "14us"}},
    {"ANegativeLatency", "dgx:inside-latency=-1us", {"inside-latency = -1us", "us"}},
    {"ALatencyBelowTheBus", "pcie:latency=1us", {"latency = 1us", "inside-latency is 5.7us"}},
    {"RailsOfYes", "dgx:rails=yes", {"rails = yes", "on or off"}},
    {"NoLeaf", "dgx:leaf=0", {"leaf = 0", "1 to"}},
    {"ALeafOfHalfANode", "dgx:leaf=12:rails=off", {"leaf = 12", "multiples of 8"}},
    {"OversubscriptionOfNothing", "dgx:oversubscription=2", {"oversubscription = 2", "leaf=32"}},
    {"OversubscriptionBelowOne", "dgx:leaf=8:oversubscription=0.5", {"from 1 to 1000"}},
    {"OversubscriptionOfNan", "dgx:leaf=8:oversubscription=nan", {"oversubscription = nan"}},
    {"NoSite", "dgx:sites=0", {"sites = 0", "1 to 4"}},
    {"MoreSitesThanNodes", "dgx:sites=5", {"sites = 5", "1 to 4"}},
    {"ADistanceOfOneSite", "dgx:distance=3ms", {"distance = 3ms", "sites=2"}},
    {"ALineOfOneSite", "dgx:line=10Gbps", {"line = 10Gbps", "sites=2"}},
    {"ADistanceWithoutUnit", "dgx:sites=2:distance=30", {"distance = 30", "no unit"}},
    {"ADeviceOfUnknownSpeed", "dgx:device=b200", {"device = b200", "speed=67Tf"}},
    {"MoreKindsOfDevicesThanOfNodes",
     "dgx:device=h100+a100",
     {"device = h100+a100", "2 kinds", "name 1", "nodes=4+16"}},
    {"ADeviceOfUnknownSpeedAmongOthers",
     "dgx:nodes=1+1:device=h100+b200",
     {"device = b200", "speed=67Tf"}},
    {"ADeviceOfNoName", "dgx:device=a--b", {"device = a--b", "digits"}},
    {"ASpeedWithoutUnit", "dgx:speed=67", {"speed = 67", "no unit", "67Tf"}},
};
INSTANTIATE_TEST_SUITE_P(Wrong, PlatformWords, testing::ValuesIn(wrong_words),
                         [](const auto& about) { return about.param.name; });

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
