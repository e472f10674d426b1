// The answer to bad input is one line that says what is wrong, where, and what is allowed; the exit
// code is 2; and no file is written.
#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

const std::string head =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";

// A platform of two hosts without a link.
std::string unconnected(const std::string& a = "a", const std::string& b = "b",
                        const std::string& speed = "1Tf", const std::string& version = "4.1") {
  return head + "<platform version=\"" + version +
         "\"><zone id=\"z\" routing=\"Full\">\n<host id=\"" + a + "\" speed=\"" + speed +
         "\"/>\n<host id=\"" + b + "\" speed=\"" + speed + "\"/>\n</zone></platform>\n";
}

// A node of one worker, and a host with these properties, whose role is among them.
std::string node_and(const std::string& properties, const std::string& name = "cpu") {
  return head +
         "<platform version=\"4.1\"><zone id=\"n0\" routing=\"Floyd\">\n<host id=\"a\" "
         "speed=\"1Tf\">"
         "<prop id=\"node\" value=\"n0\"/></host>\n<host id=\"" +
         name + "\" speed=\"1Tf\">" + properties +
         "</host>\n<router id=\"root\"/>\n</zone></platform>\n";
}

const std::string role_host = "<prop id=\"role\" value=\"host\"/>";
const std::string on_node = "<prop id=\"node\" value=\"n0\"/>";

struct BadInput {
  std::string name;
  std::vector<std::string> arguments;  // on the command line
  std::vector<std::string> mentions;   // texts of the answer
};

const std::vector<std::string> valid{"--model", "resnet50", "--platform", "two-hosts"};

BadInput with(const std::string& name, const std::vector<std::string>& more,
              const std::vector<std::string>& mentions) {
  std::vector<std::string> arguments = valid;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return {name, arguments, mentions};
}

BadInput of_platform(const std::string& name, const std::string& file,
                     const std::vector<std::string>& mentions) {
  return {name, {"--model", "resnet50", "--throughput", "10", "--platform", file}, mentions};
}

BadInput of_model(const std::string& name, const std::string& file,
                  const std::vector<std::string>& mentions) {
  return {name, {"--platform", "two-hosts", "--throughput", "10", "--model", file}, mentions};
}

// With a compressor, and a known throughput.
BadInput compressing(const std::string& name, const std::string& compressor,
                     const std::vector<std::string>& more,
                     const std::vector<std::string>& mentions) {
  std::vector<std::string> arguments{"--throughput", "10", "--compressor", compressor};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return with(name, arguments, mentions);
}

std::vector<BadInput> bad_hosts() {
  return {
      with("NoHostBandwidth", {"--host-bandwidth", "0"}, {"--host-bandwidth", "0", "1 to"}),
      with("NoMemoryBandwidthOfHosts", {"--host-memory-bandwidth", "1"},
           {"--host-memory-bandwidth", "1", "1e+06 to"}),
      with("CacheOfAnUnknownKind", {"--schedule", "ssp", "--cache", "warm"},
           {"--cache", "warm", "on", "off"}),
      with("CacheOfAsp", {"--schedule", "asp", "--cache", "on"},
           {"--cache", "means nothing", "asp"}),
      of_platform("NodesHostWithoutNode", "nobodys-host.xml",
                  {"nobodys-host.xml", "cpu", "role = host", "`node`"}),
      of_platform("NodesHostOfAnUnknownNode", "misspelt-node.xml",
                  {"misspelt-node.xml", "cpu", "role = host of node n1", "no other host"}),
      {"NameOfTheMemoryIsTaken",
       {"--model", "resnet50", "--throughput", "10", "--platform", "memory.xml", "--schedule",
        "asp"},
       {"memory.xml", "n0-memory", "role = host"}},
  };
}

std::vector<BadInput> bad_compression_inputs() {
  const std::string v100 = "v100-modelled";
  return {
      {"NoCostTable",
       {"--model", "resnet50", "--platform", "unconnected.xml", "--throughput", "10",
        "--compressor", "topk"},
       {"topk", "cost table", "host a has no `device`", "one of `syncline list cost-tables`"}},
      compressing("SeveralCostTablesForTheHostsDevice", "topk", {},
                  {"several cost tables", "'v100'", v100, "v100-published"}),
      {"NoCostTableForTheHostsDevice",
       {"--model", "resnet50", "--platform", "gbe-32x1", "--throughput", "10", "--compressor",
        "topk"},
       {"cost table", "'p102-100'", "`syncline list cost-tables`", "syncline-calibrate --out"}},
      compressing("CompressedPullWithoutACompressor", "none",
                  {"--schedule", "asp", "--pull", "compressed"}, {"--pull", "makes no messages"}),
      compressing(
          "InNodeCompressionOfIndexLists", "topk",
          {"--exchange", "hierarchical", "--in-node", "compressed", "--device", "v100-modelled"},
          {"--in-node", "topk's messages cannot be added"}),
      compressing("UnknownCostTable", "topk", {"--device", "v1000"},
                  {"--device", "'v1000'", "path", v100, "`syncline list cost-tables` has all"}),
      compressing("TableWithoutTheCompressor", "qsgd", {"--device", "v100-published"},
                  {"v100-published.csv", "encode of qsgd", "not in the table",
                   "syncline-calibrate --compressors qsgd"}),
      compressing("TableWithoutTheSize", "topk", {"--device", "small.csv", "--bucket-bytes", "all"},
                  {"small.csv", "encode of topk", "25557032 elements", "100 to 1000",
                   "syncline-calibrate --compressors topk --sizes 25557032"}),
      compressing("TableWithLargerSizesOnly", "topk",
                  {"--device", "v100-published", "--bucket-bytes", "0"},
                  {"v100-published.csv", "allowed are 250000 to",
                   "; larger buckets, as with bucket-bytes = all, may be in the table"}),
      compressing("TableWithoutTheSetting", "qsgd", {"--device", v100, "--bits", "3"},
                  {"v100-modelled.csv", "encode of qsgd", "bits=3", "--bits 3"}),
      compressing("TableWithoutTheDensity", "topk", {"--device", v100, "--density", "0.00001"},
                  {"v100-modelled.csv", "encode of topk", "density=1e-05", "0.0001",
                   "syncline-calibrate --compressors topk", "--densities 1e-05"}),
      compressing("TableWithoutDecode", "topk", {"--device", "encode.csv"},
                  {"encode.csv", "decode of topk", "not in the table", "syncline-calibrate"}),
      compressing("TruncatedTable", "topk", {"--device", "cut.csv"}, {"cut.csv:5", "truncated"}),
      compressing("TableWithoutProvenance", "topk", {"--device", "origin.csv"},
                  {"origin.csv", "provenance"}),
      compressing("NotACostTable", "topk", {"--device", "hello.xml"}, {"hello.xml:1"}),
      compressing("TopKOnARing", "topk", {"--exchange", "ring"},
                  {"--compressor", "ring", "cannot be added", "allgather", "randomk"}),
      compressing("QsgdOnGTopK", "qsgd", {"--exchange", "gtopk"}, {"gtopk", "qsgd", "alltoall"}),
      compressing("QsgdOnHiTopK", "qsgd", {"--exchange", "hitopk"}, {"hitopk", "qsgd", "topk"}),
      compressing("QsgdOnOkTopK", "qsgd", {"--exchange", "oktopk"}, {"oktopk", "qsgd", "topk"}),
      compressing("QsgdInTopKSgd", "qsgd", {"--schedule", "topk-sgd"},
                  {"topk-sgd", "qsgd", "allowed are", "gaussiank"}),
      compressing("NoneInTopKSgd", "none", {"--schedule", "topk-sgd"}, {"topk-sgd", "topk"}),
      compressing("TopKAddedInTheNode", "topk",
                  {"--exchange", "hierarchical", "--in-node", "compressed", "--device", v100},
                  {"in-node = compressed", "cannot be added", "dense"}),
      compressing("WarmUpWithoutADensity", "threshold",
                  {"--schedule", "topk-sgd", "--warm-up-densities", "dgc", "--device", v100},
                  {"--warm-up-densities", "threshold", "density"}),
      compressing("WarmUpInBsp", "topk", {"--warm-up-densities", "dgc", "--device", v100},
                  {"--warm-up-densities", "bsp"}),
      compressing("DensityWithoutACompressor", "none", {"--density", "0.1"}, {"--density", "none"}),
      compressing("DensityAboveOne", "topk", {"--density", "1.5"},
                  {"--density", "density = 1.5", "allowed are"}),
      compressing("PullWithoutAServer", "topk", {"--pull", "compressed"}, {"--pull", "bsp"}),
      compressing(
          "UnknownCompressor", "topj", {},
          {"--compressor", "'topj': nearest are topk, ", "`syncline list compressors` has all"}),
  };
}

std::vector<BadInput> bad_names_and_values() {
  return {
      of_platform("NoSuchPlatform", "two-host", {"platform", "'two-host'", "two-hosts", "path"}),
      of_platform("MalformedXml", "cut.xml", {"cut.xml:4"}),
      of_platform("NotXml", "hello.xml", {"hello.xml:1"}),
      of_platform("EmptyXml", "empty.xml", {"empty.xml"}),
      of_platform("TwoHostsOfOneName", "twice.xml", {"twice.xml:5", "<host> a", "a second host"}),
      of_platform("InvalidSpeed", "speed.xml", {"speed.xml:4", "fast"}),
      of_platform("UnknownPlatformVersion", "future.xml", {"future.xml", "4.1"}),
      of_platform("HostsWithoutARoute", "unconnected.xml", {"unconnected.xml", " a ", " b "}),
      of_platform("PlatformWithoutHosts", "no_hosts.xml", {"no_hosts.xml", "0 worker hosts"}),
      of_model("UnknownModel", "resnet51",
               {"model", "'resnet51': nearest are resnet50, ", "`syncline list models` has all"}),
      of_model("ModelWithoutAColumn", "column.csv", {"column.csv", "'parameters'", "forward_flop"}),
      of_model("ModelWithANegativeNumber", "negative.csv", {"negative.csv:3", "-5", "allowed"}),
      with("UnknownKey", {"--wokers", "3"},
           {"--wokers", "nearest are workers, ", "`syncline run --help` has all"}),
      with("UnknownSchedule", {"--schedule", "bsq"}, {"--schedule", "'bsq'", "asp", "bsp", "ssp"}),
      with("UnknownExchange", {"--exchange", "rong"},
           {"--exchange", "'rong': nearest are ring, ", "allowed are auto, too"}),
      with("NcclWithACompressor",
           {"--exchange", "nccl", "--compressor", "powersgd", "--device", "none"},
           {"exchange = nccl", "compressor powersgd", "allowed is compressor none"}),
      with("UnknownNetwork", {"--network", "fast"}, {"--network", "'fast'", "exact"}),
      with("IbWithFlows", {"--network", "ib", "--fidelity", "flow"},
           {"--network", "ib", "fidelity = auto, step"}),
      with("IbWithFlowsInOneCell",
           {"--network", "ib", "--fidelity", "flow,step", "--schedule", "bsp,asp"},
           {"--network", "ib", "fidelity = auto, step"}),
      with("IbInAFileWithAnotherSchedule", {"ib.cfg", "--schedule", "bsp", "--fidelity", "flow"},
           {"ib.cfg:1", "ib", "fidelity = auto, step"}),
      with("IbHasItsOwnFactors", {"--network", "ib", "--fidelity", "step", "--latency-factor", "2"},
           {"--latency-factor", "network = ib"}),
      with("IterationsInWords", {"--iterations", "many"}, {"--iterations", "many", "or auto"}),
      with("IntervalOfNothing", {"--interval", "0"}, {"--interval", "interval = 0", "0.0001"}),
      with("FewMaxIterations", {"--max-iterations", "3"}, {"--max-iterations", "from 20"}),
      with("IntervalOfAFixedLength", {"--iterations", "9", "--interval", "0.1"},
           {"--interval", "iterations = 9", "allowed is auto"}),
      with("UnknownOptimizer", {"--optimizer", "lion"},
           {"--optimizer", "optimizer = lion", "in-throughput", "sgd", "momentum", "adam"}),
      with("OptimizerWithoutAMemoryRate",
           {"--optimizer", "adam", "--device", "abacus", "--throughput", "9"},
           {"optimizer = adam", "28 bytes per parameter", "abacus", "give memory-bandwidth"}),
      with("MemoryRateWithoutAnOptimizer", {"--memory-bandwidth", "9e11"},
           {"--memory-bandwidth", "in-throughput", "sgd, momentum or adam"}),
      with("MemoryRateOfZero", {"--optimizer", "sgd", "--memory-bandwidth", "0"},
           {"--memory-bandwidth", "memory-bandwidth = 0", "allowed are"}),
      with("NegativeOptimizerOverhead", {"--optimizer-overhead", "-1e-5"},
           {"--optimizer-overhead", "optimizer-overhead = -1e-5", "allowed are"}),
      with("OptimizerSlowerThanTheIteration",
           {"--throughput", "1000", "--optimizer", "adam", "--memory-bandwidth", "1e9"},
           {"optimizer = adam", "0.7155", "0.032", "option throughput", "memory-bandwidth"}),
      with("MoreWorkersThanHosts", {"--workers", "3"}, {"workers = 3", "2 worker hosts"}),
      with("MoreServersThanHosts", {"--exchange", "ps", "--servers", "1"}, {"servers = 1", "0"}),
      with("StalenessOfAnotherWord", {"--schedule", "inhad", "--staleness", "off"},
           {"--staleness", "staleness = off", "whole numbers from 0", "or none"}),
      with("StalenessOfHalfAnIteration", {"--schedule", "ssp", "--staleness", "0.5"},
           {"--staleness", "staleness = 0.5", "whole numbers from 0", "or none"}),
      with("ThresholdThatIsNeverMet",
           {"--schedule", "inhad", "--throughput", "10", "--threshold", "5"},
           {"threshold = 5", "staleness = 1", "2 workers", "4"}),
      with("ThresholdOfNone", {"--schedule", "inhad", "--threshold", "none"},
           {"--threshold", "threshold = none", "whole numbers from 0"}),
      with("WaitIsGone", {"--schedule", "inhad", "--wait", "on"},
           {"--wait", "unknown option 'wait'"}),
      with("StalenessOnBsp", {"--staleness", "3"}, {"--staleness", "bsp"}),
      with("RingForAsp", {"--schedule", "asp", "--exchange", "ring"}, {"--exchange", "asp", "ps"}),
      with("NoComputeCost", {"--device", "tpu"}, {"tpu", "throughput", "efficiency", "v100"}),
      with("OptionWithoutAValue", {"--workers"}, {"--workers"}),
      with("NoSuchFile", {"none.cfg"}, {"none.cfg"}),
      with("ZeroJobs", {"--jobs", "0"}, {"--jobs", "0", "allowed"}),
      {"NoModel", {"--platform", "two-hosts"}, {"--model"}},
      {"NoPlatform", {"--model", "resnet50"}, {"--platform"}},
      {"UnknownKeyInAFile", {"key.cfg"}, {"key.cfg:3", "wokers", "nearest are workers"}},
      {"BadNumberInAFile", {"number.cfg"}, {"number.cfg:4", "batch = 1e400", "allowed"}},
      {"BadCombinationInAFile", {"staleness.cfg"}, {"staleness.cfg:3", "staleness", "bsp"}},
  };
}

std::vector<BadInput> bad_numbers() {
  std::vector<BadInput> all;
  const std::map<std::string, std::string> numbers{
      {"0", "Zero"}, {"-1", "Negative"}, {"nan", "NotANumber"}, {"1e400", "Huge"}};
  for (const auto& [value, name] : numbers)
    for (const auto& [option, title] :
         std::map<std::string, std::string>{{"workers", "Workers"},
                                            {"batch", "Batch"},
                                            {"iterations", "Iterations"},
                                            {"throughput", "Throughput"},
                                            {"bandwidth-factor", "BandwidthFactor"}})
      all.push_back(with(name + title, {"--" + option, value},
                         {"--" + option, option + " = " + value, "allowed are"}));
  return all;
}

class BadInputs : public testing::Test {
 protected:
  BadInputs() {
    folder_.write("cut.xml", head + "<platform version=\"4.1\">\n<zone id=\"z\" routing");
    folder_.write("hello.xml", "hello");
    folder_.write("empty.xml", "");
    folder_.write("twice.xml", unconnected("a", "a"));
    folder_.write("speed.xml", unconnected("a", "b", "fast"));
    folder_.write("future.xml", unconnected("a", "b", "1Tf", "99"));
    folder_.write("unconnected.xml", unconnected());
    folder_.write("nobodys-host.xml", node_and(role_host));
    folder_.write("misspelt-node.xml", node_and(role_host + "<prop id=\"node\" value=\"n1\"/>"));
    folder_.write("memory.xml", node_and(on_node, "n0-memory"));
    folder_.write("no_hosts.xml", head +
                                      "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
                                      "</zone></platform>\n");
    folder_.write("column.csv", "layer,forward_flop\na,1\n");
    folder_.write("negative.csv", "layer,parameters,forward_flop\na,1,1\nb,-5,1\n");
    const std::string about = "# device: made up\n# provenance: modelled\n";
    const std::string columns =
        "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
    const std::string encode = "topk,,encode,100,1e-5,0,0,0,none\n";
    const std::string large = "topk,,encode,1e9,1e-2,0,0,0,none\n";
    folder_.write("small.csv", about + columns + encode + "topk,,encode,1000,1e-4,0,0,0,none\n");
    folder_.write("encode.csv", about + columns + encode + large);
    folder_.write("cut.csv", about + columns + encode + "topk,,encode,1e9,1e-");
    folder_.write("origin.csv", "# device: made up\n" + columns + encode + large);
    const std::string both = "model = resnet50\nplatform = two-hosts\n";
    folder_.write("key.cfg", both + "wokers = 2\n");
    folder_.write("number.cfg", both + "\nbatch = 1e400  # too much\n");
    folder_.write("ib.cfg", "network = ib\n");
    folder_.write("staleness.cfg", both + "staleness = 2\n");
  }
  std::vector<std::string> all_files() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    return paths;
  }
  // In one line, with exit code 2; nothing is written.
  void expect_refused(const std::vector<BadInput>& inputs) const {
    const std::vector<std::string> before = all_files();
    for (const BadInput& input : inputs) {
      SCOPED_TRACE(input.name);
      std::vector<std::string> arguments = input.arguments;
      arguments.insert(arguments.begin(), {"run", "--out", "results"});
      const Ended ended = run_program(arguments, folder_.path());
      EXPECT_EQ(ended.code, 2);
      EXPECT_EQ(ended.out, "");
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {"syncline: "});
      expect_mentions(ended.err, input.mentions);
      EXPECT_EQ(all_files(), before);
    }
  }
  TemporaryFolder folder_;
};

TEST_F(BadInputs, OfNamesAndValuesAreRefused) {
  expect_refused(bad_names_and_values());
}

TEST_F(BadInputs, OfNumbersCompressionAndHostsAreRefused) {
  expect_refused(bad_numbers());
  expect_refused(bad_compression_inputs());
  expect_refused(bad_hosts());
}

TEST(Out, UnwritableFolderIsReportedBeforeSimulating) {
  const TemporaryFolder folder;
  folder.write("file", "");
  for (const std::string& out : {folder.path("file") + "/below", folder.path("file"),
                                 std::string("/proc/nothing/here"), std::string("/dev/null/x")}) {
    // A scenario that takes much longer than this test.
    std::vector<std::string> arguments{"run",     "--out",      out,   "--iterations",
                                       "1000000", "--fidelity", "step"};
    arguments.insert(arguments.end(), valid.begin(), valid.end());
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"--out", out});
  }
}

TEST(Resume, NeedsAFolder) {
  for (const char* flag : {"--resume", "--trace"}) {
    std::vector<std::string> arguments{"run", flag};
    arguments.insert(arguments.end(), valid.begin(), valid.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {flag, "--out"});
  }
}

TEST(Commands, UnknownCommandListsAllCommands) {
  const Ended ended = run_program({"rum"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"'rum'", "run", "list", "explain", "validate"});
}

TEST(Commands, HelpWorksEverywhere) {
  const Ended help = run_program({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  expect_mentions(help.out, {"run", "list", "explain", "validate", "--workers", "--schedule",
                             "--staleness", "--jobs", "--out", "--resume"});
  EXPECT_EQ(run_program({"run", "--help"}).code, 0);
  EXPECT_EQ(run_program({"--version"}).code, 0);
  EXPECT_EQ(run_program({}).code, 2);
}

TEST(Commands, HelpGivesEveryMeaningOfASharedOption) {
  const std::string help = run_program({"--help"}).out;
  expect_mentions(help, {"--staleness          inhad: how many of a worker's own", "[1]\n",
                         "\n                       ssp: iterations the fastest worker", "[3]\n"});
  // A meaning shared by all owners is printed once, without their names.
  expect_mentions(help, {"--pull               servers answer with dense"});
  EXPECT_EQ(help.find("asp, ssp: servers answer"), std::string::npos);
}

TEST(Commands, ListShowsEverything) {
  const Ended ended = run_program({"list"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  expect_mentions(ended.out, {"bsp", "inhad", "ring", "halving-doubling", "chunk-bytes", "none",
                              "resnet50", "gpt2", "two-hosts", "fat-tree-1024", "exact", "lv08"});
  const Ended bad = run_program({"list", "shedules"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(lines_in(bad.err), 1U);
  expect_mentions(bad.err, {"shedules", "schedules", "exchanges"});
}

TEST(Explain, ReportsMissingRoutes) {
  const TemporaryFolder folder;
  folder.write("unconnected.xml", unconnected());
  const Ended ended = run_program(
      {"explain", "--model", "resnet50", "--throughput", "10", "--platform", "unconnected.xml"},
      folder.path());
  EXPECT_EQ(ended.code, 2) << "explain shows a ring without routes as one that takes no time";
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
}

}  // namespace
}  // namespace syncline
