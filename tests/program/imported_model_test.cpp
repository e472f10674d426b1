// Models from other tools' files. The fixtures' numbers are computed by hand.
#include "sim/import/imported_model.h"

#include <gtest/gtest.h>

#include "sim/setup/compute.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

const std::string fixtures = SYNCLINE_SOURCE_DIR "/tests/program/fixtures/";

std::string with_text(std::string text, const std::string& old, const std::string& by) {
  const std::size_t found = text.find(old);
  EXPECT_NE(found, std::string::npos) << old;
  return found == std::string::npos ? text : text.replace(found, old.size(), by);
}

// The error of a fixture with one text replaced, starting at the file's name.
std::string error_with(const std::string& fixture, const std::string& old, const std::string& by) {
  const TemporaryFolder folder;
  const std::string path = folder.write("net", with_text(text_of(fixtures + fixture), old, by));
  return error_of([&] { read_model(path); }).substr(folder.path().size() + 1);
}

void expect_layer(const Layer& layer, const std::string& name, std::uint64_t parameters,
                  double backward_ns) {
  EXPECT_EQ(layer.name, name);
  EXPECT_EQ(layer.parameters, parameters);
  EXPECT_DOUBLE_EQ(layer.forward_flop, backward_ns);
}

TEST(AstraWorkload, OfDataParallelismComputesWeightGradientsFirst) {
  const Model model = read_model(fixtures + "data.txt");
  ASSERT_EQ(model.layers.size(), 2U);  // the pool has no gradient
  // conv1 is ready 2500 (fc's input gradient) + 0 + 600 (the pool's) + 2000 after fc; the first
  // layer's input gradient is not computed.
  expect_layer(model.layers[0], "conv1", 10'000, 2500 + 600 + 2000);
  expect_layer(model.layers[1], "fc", 2'000'000, 3500);
  EXPECT_DOUBLE_EQ(model.times->forward_s, 4500e-9);
  EXPECT_DOUBLE_EQ(model.times->backward_s, 8600e-9);
  EXPECT_DOUBLE_EQ(model.times->step_s, 1000e-9);
  expect_mentions(model.read_as, {"ASTRA-sim 1.0 / SimAI workload (DATA), times in ns", "1000 ns",
                                  "4 bytes per parameter"});
}

TEST(AstraWorkload, HasTheSameBytesInHalfPrecision) {
  EXPECT_EQ(read_model(fixtures + "data.txt", 2).parameters() * 2,
            read_model(fixtures + "data.txt").parameters() * 4);
}

TEST(AstraWorkload, OfMegatronAddsHalvesOfAnAllReduce) {
  const Model model = read_model(fixtures + "megatron-tp1.txt");
  ASSERT_EQ(model.layers.size(), 2U);
  expect_layer(model.layers[0], "grad_gather", 40'000'000 / 2 / 4, 1 + 1);
  expect_layer(model.layers[1], "grad_param_comm", 80'000'000 / 2 / 4,
               2'200'000 + 120'001 + 900'001 + 2);
  EXPECT_DOUBLE_EQ(model.times->forward_s, 1'250'003e-9);
  expect_mentions(model.read_as, {"halves", "groups of one, which send nothing: 1"});
}

TEST(AstraWorkload, IsRefusedWhereMoreThanGradientsIsExchanged) {
  expect_mentions(error_with("data.txt", "500\tNONE\t0", "500\tALLREDUCE\t77"),
                  {"net:4: forward ALLREDUCE of 77 bytes is not simulated: allowed is NONE"});
  expect_mentions(error_with("data.txt", "ALLREDUCE\t8000000", "ALLTOALL\t8000000"),
                  {"net:5: weight gradient ALLTOALL of 8000000 bytes", "allowed are"});
  expect_mentions(error_with("megatron-tp1.txt", "NPU_group: 1", "NPU_group: 2"),
                  {"net:8: forward ALLREDUCE of 8192 bytes"});
  for (const char* parallelism : {"pp: 1", "ep: 1", "checkpoints: 0"}) {
    const std::string old = parallelism;
    expect_mentions(
        error_with("megatron-tp1.txt", " " + old, " " + old.substr(0, old.find(' ')) + " 3"),
        {"net:1: ", "= 3: ", "allowed is"});
  }
  for (const char* other : {"MODEL", "MICRO", "HYBRID_DLRM"})
    expect_mentions(error_with("data.txt", "DATA", other), {"net:1: ", other, "allowed are DATA"});
}

TEST(AstraWorkload, NamesTheLineOfWhatIsBroken) {
  expect_mentions(error_with("data.txt", "2500", "x"),
                  {"net:5: input gradient time = x: allowed are whole numbers"});
  expect_mentions(error_with("data.txt", "\t300", ""), {"net:3: 11 fields: allowed are 12"});
  expect_mentions(error_with("data.txt", "\n3\n", "\n4\n"), {"3 layers", "announces 4"});
  expect_mentions(error_with("data.txt", "\n3\n", "\n2\n"), {"net:5: a line after the 2 layers"});
  expect_mentions(error_with("data.txt", "\n3\n", "\nmany\n"), {"net:2: ", "many: allowed are"});
  expect_mentions(error_with("data.txt", "8000000", "9e99"), {"net:5: weight gradient bytes"});
  expect_mentions(error_with("data.txt", "NONE", "NONSENSE"), {"net:3: forward collective"});
  expect_mentions(error_with("megatron-tp1.txt", "vpp: 2", "words: 2"), {"net:1: 'words:'"});
  const TemporaryFolder folder;
  const std::string none = folder.write("n", "DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n");
  expect_mentions(error_of([&] { read_model(none); }), {"no gradient"});
  const std::string idle = folder.write("i", "DATA\n1\na -1 1 NONE 0 1 NONE 0 0 ALLREDUCE 4 0\n");
  expect_mentions(error_of([&] { read_model(idle); }), {"backward pass takes no time"});
}

TEST(ChakraTrace, IsOneIterationOfARank) {
  const Model model = read_model(fixtures + "iteration.json");
  ASSERT_EQ(model.layers.size(), 2U);
  expect_layer(model.layers[0], "COMM_COLL_NODE_conv1_ALLREDUCE", 10'000, 2'000'000);
  expect_layer(model.layers[1], "COMM_COLL_NODE_fc_ALLREDUCE", 2'000'000, 1'000'000);
  EXPECT_DOUBLE_EQ(model.times->forward_s, 1500e-6);
  EXPECT_DOUBLE_EQ(model.times->backward_s, 3000e-6);
  EXPECT_DOUBLE_EQ(model.times->step_s, 250e-6);
  expect_mentions(model.read_as, {"Chakra trace", "4 bytes per parameter"});
}

TEST(ChakraTrace, KeepsItsTimesWhereForwardIsNotNamed) {
  const TemporaryFolder folder;
  const Model model = read_model(
      folder.write("t.json", with_text(text_of(fixtures + "iteration.json"), "_FWD", "_1")));
  // A third of 4500 us would be more than half of the 2500 us before the first gradient.
  EXPECT_DOUBLE_EQ(model.times->forward_s, 2500e-6 / 2);
  EXPECT_DOUBLE_EQ(model.times->backward_s, 4500e-6 - 2500e-6 / 2);
}

TEST(ChakraTrace, NamesTheLineAndTheNodeOfWhatIsBroken) {
  const auto error = [](const std::string& old, const std::string& by) {
    return error_with("iteration.json", old, by);
  };
  expect_mentions(error("\"type\": \"COMP_NODE\"", "\"type\": \"COMM_SEND_NODE\""),
                  {"net:8: node 'COMP_NODE_net_FWD': COMM_SEND_NODE is not simulated"});
  expect_mentions(error("\"int64Val\": \"0\"", "\"int64Val\": \"6\""),
                  {"net:26: ", "ALL_TO_ALL is not simulated: allowed is ALL_REDUCE"});
  expect_mentions(error("comm_type", "kind"), {"net:26: ", "no comm_type"});
  expect_mentions(error("comm_size", "size"), {"net:26: ", "no comm_size"});
  expect_mentions(error("\"8000000\"", "\"8e99\""), {"net:26: ", "comm_size = 8e99"});
  expect_mentions(error("\"1000\"", "\"-3\""), {"net:18: ", "durationMicros = -3: allowed are"});
  expect_mentions(error("\"1000\"", "[]"), {"net:18: ", "durationMicros"});
  expect_mentions(error("\"id\": \"4\"", "\"id\": \"3\""), {"net:55: a second node with id 3"});
  expect_mentions(error("\"dataDeps\": [\n    \"0\"", "\"dataDeps\": [\n    \"9\""),
                  {"net:18: depends on node 9, which is absent"});
  expect_mentions(error("\"dataDeps\": [\n    \"0\"", "\"dataDeps\": [\n    \"3\""),
                  {"net:18: the node depends on itself"});
  expect_mentions(error("\"type\": \"COMP_NODE\"", "\"kind\": 4"), {"net:8: ", "no type"});
  expect_mentions(error("\"id\": \"1\"", "\"id\" \"1\""), {"net:18: ", "no JSON"});
  expect_mentions(error("}{", "},{"), {"net:8: ',' between objects"});
  expect_mentions(error("\"durationMicros\": \"250\"\n}", ""), {"does not end"});
  expect_mentions(error("\"attr\"", "\"workload_graph\""), {"net:1: workload_graph"});
  EXPECT_EQ(error("\"stringVal\"", std::string(40, '[') + "\"a\"").substr(0, 6), "net:5:");
}

// PyTorch's traces have operators of the host, for example before forward, or one that starts fc's
// all-reduce: they take no time and change nothing else.
TEST(ChakraTrace, LeavesOutOperatorsOfTheHostAndCountsThem) {
  const auto of_host = [](int id, const std::string& type, const std::string& needs) {
    return "{\"id\": \"" + std::to_string(id) + "\", \"name\": \"aten::add\", \"type\": \"" + type +
           "\", \"dataDeps\": [" + needs +
           "], \"durationMicros\": \"70000\", \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": "
           "true}]}";
  };
  const TemporaryFolder folder;
  const std::string text = text_of(fixtures + "iteration.json") + of_host(10, "COMP_NODE", "") +
                           of_host(11, "COMM_COLL_NODE", "\"1\", \"10\"");
  const Model model = read_model(folder.write(
      "t.json", with_text(text, "\"id\": \"2\",", "\"id\": \"2\", \"ctrlDeps\": [\"11\"],")));
  const Model without = read_model(fixtures + "iteration.json");
  EXPECT_EQ(model.times->forward_s, without.times->forward_s);
  EXPECT_EQ(model.times->backward_s, without.times->backward_s);
  EXPECT_EQ(model.times->step_s, without.times->step_s);
  expect_mentions(model.read_as, {"2 of 8 nodes are operators of the host"});
}

TEST(ChakraTrace, OfTwoIterationsIsRefused) {
  // conv1's gradient waits for an operation that waits for fc's all-reduce.
  expect_mentions(
      error_with("iteration.json", "\"dataDeps\": [\n    \"1\"\n  ],\n  \"durationMicros\"",
                 "\"dataDeps\": [\n    \"2\"\n  ],\n  \"durationMicros\""),
      {"net:55: ", "allowed is one iteration"});
}

// `run --chakra` writes one all-reduce per bucket, so buckets become the layers of the model that
// is read back.
TEST(ChakraTrace, OfOursIsReadBackWithItsBytesAndTimes) {
  const TemporaryFolder folder;
  const Ended ended = run_program({"run", "--platform", "two-hosts", "--model", "resnet50",
                                   "--throughput", "253", "--chakra", "iteration"},
                                  folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Model ours = read_model(SYNCLINE_SOURCE_DIR "/models/resnet50.csv");
  const std::vector<Bucket> buckets = fused_buckets(ours, {}, 4);
  ASSERT_GT(buckets.size(), 2U);
  for (const char* rank : {"0", "1"}) {
    const Model read = read_model(folder.path("iteration." + std::string(rank) + ".json"));
    ASSERT_EQ(read.layers.size(), buckets.size());
    const double backward_s = 32.0 / 253 * 2 / 3;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const Layer& layer = read.layers[buckets.size() - 1 - i];
      EXPECT_EQ(layer.parameters, buckets[i].parameters);
      EXPECT_NEAR(layer.forward_flop * 1e-9,
                  backward_s * buckets[i].forward_flop / ours.forward_flop(), 1e-6);
    }
    EXPECT_NEAR(read.times->forward_s, 32.0 / 253 / 3, 1e-6);
    EXPECT_NEAR(read.times->backward_s, backward_s, 1e-6);
  }
}

Cluster two_speeds() {
  Cluster cluster;
  for (const double speed_flops : {2e12, 1e12})
    cluster.workers.push_back(
        {.name = "h", .node = "", .device = "", .role = "", .speed_flops = speed_flops});
  cluster.worker_hosts = cluster.workers;
  return cluster;
}

TEST(ImportedModel, TakesItsOwnTimesOnTheFastestHostWhateverTheBatch) {
  const Model model = read_model(fixtures + "iteration.json");
  for (const int batch : {1, 64}) {
    Scenario scenario;
    scenario.batch = batch;
    const ComputeTimes times = compute_times(scenario, model, two_speeds());
    EXPECT_DOUBLE_EQ(times.solo_s(0), 4750e-6);
    EXPECT_DOUBLE_EQ(times.solo_s(1), 2 * 4750e-6);
    EXPECT_DOUBLE_EQ(times.forward_s(0), 1500e-6);
    EXPECT_DOUBLE_EQ(times.backward_s(0), 3000e-6);
    EXPECT_DOUBLE_EQ(times.backward_s(1, {.forward_flop = model.layers[0].forward_flop}),
                     2 * 2000e-6);
    EXPECT_DOUBLE_EQ(times.step_s(1), 2 * 250e-6);
    expect_mentions(times.source, {"times of the model's file", "Chakra"});
  }
}

TEST(ImportedModel, KeepsItsProportionsWithAThroughput) {
  const Model model = read_model(fixtures + "iteration.json");
  Scenario scenario;
  scenario.batch = 10;
  scenario.throughput = 100;
  const ComputeTimes times = compute_times(scenario, model, two_speeds());
  EXPECT_DOUBLE_EQ(times.solo_s(0), 0.1);
  EXPECT_DOUBLE_EQ(times.forward_s(0), 0.1 * 1500 / 4750);
  EXPECT_DOUBLE_EQ(times.step_s(0), 0.1 * 250 / 4750);
  expect_mentions(times.source, {"throughput", "Chakra"});
}

TEST(ImportedModel, HasNoSecondStep) {
  Scenario scenario;
  scenario.optimizer = {.name = "adam", .values = 7};
  scenario.memory_Bps = 1e12;
  expect_mentions(error_of([&] {
                    compute_times(scenario, read_model(fixtures + "iteration.json"), two_speeds());
                  }),
                  {"optimizer = adam", "updates", "allowed with it is in-throughput"});
}

}  // namespace
}  // namespace syncline
