// Platforms in words that are refused.
#include <gtest/gtest.h>

#include "sim/platform/platform_file.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

struct WrongWords {
  std::string name;
  std::string words;
  std::vector<std::string> mentions;
};

const std::vector<WrongWords> wrong_words{
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
    {"AHostBesideNvlink", "dgx:host=13GBps", {"host = 13GBps", "nvlink=none"}},
    {"AHostWithoutUnit", "pcie:host=13", {"host = 13", "no unit"}},
    {"AHostWithoutRate", "pcie:host=0GBps", {"host = 0GBps"}},
    {"ASpeedWithoutUnit", "dgx:speed=67", {"speed = 67", "no unit", "67Tf"}},
};

TEST(PlatformWords, ThatAreWrongAreRefusedInOneLine) {
  for (const WrongWords& wrong : wrong_words) {
    SCOPED_TRACE(wrong.name);
    const std::string refusal = read_platform(wrong.words).refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
    expect_mentions(refusal, wrong.mentions);
    expect_mentions(refusal, {"allowed"});
  }
}

}  // namespace
}  // namespace syncline
