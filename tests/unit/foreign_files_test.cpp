// Files of other tools are recognised and named.
#include "sim/import/foreign_files.h"

#include <gtest/gtest.h>

#include "sim/platform/platform_file.h"
#include "sim/platform/platform_words.h"
#include "sim/setup/model.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

struct Named {
  std::string text;
  std::vector<std::string> mentions;
};

const std::vector<Named> files{
    {"{\"schema\": \"1.1.1\", \"nodes\": [{\"id\": 1, \"ctrl_deps\": 1, \"inputs\": {}, "
     "\"outputs\": {}}]}",
     {"a PyTorch execution trace", "chakra_converter"}},
    {"{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\"}]}", {"Kineto", "--measure"}},
    {"[{\"ph\": \"X\", \"ts\": 1}]", {"trace of events"}},
    {"{\"scheduling-policy\": \"LIFO\", \"all-reduce-implementation\": [\"ring\"]}",
     {"system file of ASTRA-sim", "exchange"}},
    {"{\"logical-dims\": [\"8\"]}", {"logical topology of ASTRA-sim"}},
    {"{\"memory-type\": \"NO_MEMORY_EXPANSION\"}", {"memory file of ASTRA-sim"}},
    {"{\"hidden_size\": 768, \"num_hidden_layers\": 12}", {"Hugging Face", "from_torch.py"}},
    {"topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\n", {"network of ASTRA-sim"}},
    {"# dump\ntopology: [ Ring ]\nnpus-count: [ 4 ]\n", {"network of ASTRA-sim"}},
    {"<system version=\"1\"><cpu/></system>", {"NCCL's description of one machine"}},
    {"<?xml version=\"1.0\"?>\n<!-- dump -->\n<system version=\"1\"/>", {"NCCL_TOPO_DUMP_FILE"}},
    {"<graphs version=\"1\"/>", {"NCCL's rings and trees"}},
    {"# nThread 1 nGpus 8 minBytes 8\n", {"nccl-tests", "from_nccl_tests.py"}},
    {"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-63\n", {"nvidia-smi topo"}},
    {"\x1f\x8b\x08", {"gzip"}},
    {std::string("PK\x03\x04", 4), {"zip archive"}}};

TEST(ForeignFiles, AreNamedWhereAModelOrAPlatformIsWanted) {
  const TemporaryFolder folder;
  for (const Named& file : files) {
    const std::string path = folder.write("file", file.text);
    const std::string as_model = error_of([&] { read_model(path); });
    EXPECT_EQ(as_model.find(path + ": this is "), 0U) << as_model;
    expect_mentions(as_model, file.mentions);
    const std::string as_platform = read_platform(path).refusal;
    EXPECT_EQ(as_platform.find(path + ": this is "), 0U) << as_platform;
    expect_mentions(as_platform, file.mentions);
  }
}

// Once, the advised words had eight cards for four GPUs, which are refused.
TEST(ForeignFiles, WordsThatTheirErrorsAdviseAreAPlatform) {
  const TemporaryFolder folder;
  int advised = 0;
  for (const Named& file : files) {
    const std::string refusal = read_platform(folder.write("file", file.text)).refusal;
    const std::size_t words = refusal.find("dgx:");
    if (words == std::string::npos)
      continue;
    ++advised;
    EXPECT_GT(
        platform_plan(refusal.substr(words, refusal.find_first_of(" ,;", words) - words)).nodes(),
        0);
  }
  EXPECT_EQ(advised, 5);
}

TEST(ForeignFiles, OfTheOtherOptionAreSentThere) {
  const TemporaryFolder folder;
  const std::string model = folder.write("m.csv", "layer,parameters,forward_flop\nfc,1,1\n");
  expect_mentions(read_platform(model).refusal, {"this is a model", "option model"});
  const std::string workload =
      folder.write("w.txt", "DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n");
  expect_mentions(read_platform(workload).refusal, {"workload text of ASTRA-sim", "option model"});
  const std::string platform =
      folder.write("p.xml",
                   "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "
                   "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"/>");
  expect_mentions(error_of([&] { read_model(platform); }),
                  {"a platform of SimGrid", "option platform"});
}

TEST(ForeignFiles, OfNobodyKeepWhatIsSaidOfThem) {
  const TemporaryFolder folder;
  for (const char* text : {"", "\n", "{", "{}", "{\"nodes\": 1}", "<", "<!--", "<?xml", "hello",
                           "<a/>", "PK", "layer,parameters\n"}) {
    EXPECT_EQ(foreign_file(text, "model"), "") << text;
    EXPECT_EQ(foreign_file(text, "platform"), "") << text;
  }
}

// Unknown parallelism, recognised by the form of its file: a word in capitals, and a number.
TEST(ForeignFiles, OfAstraSimNameTheirParallelism) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    return error_of([&] { read_model(folder.write("w.txt", text)); });
  };
  expect_mentions(
      error("DATA_REORDER\n1\nconv1\t-1\t13003\tNONE\t0\t12864\tNONE\t0\t32291\tALLREDUCE"
            "\t37632\t3229\n"),
      {"w.txt:1: DATA_REORDER is not simulated: allowed are DATA"});
  expect_mentions(error("PIPELINE\r\n12\r\n"), {"w.txt:1: PIPELINE is not simulated"});
  expect_mentions(error("LAYER\nten\n"), {"no column"});
}

// In a trace of a single collective, its bytes become one bucket, and nothing computes.
TEST(ChakraTrace, OfOneCollectiveIsAModelOfOneBucket) {
  const auto collective = [](int id, int type, const std::string& bytes) {
    return "{\"id\": \"" + std::to_string(id) +
           "\", \"name\": \"C\", \"type\": \"COMM_COLL_NODE\", \"attr\": [{\"name\": "
           "\"is_cpu_op\", \"boolVal\": false}, {\"name\": \"comm_type\", \"int64Val\": \"" +
           std::to_string(type) + "\"}, {\"name\": \"comm_size\", \"int64Val\": \"" + bytes +
           "\"}]}\n";
  };
  const std::string head = "{\"version\": \"0.0.4\"}\n";
  const TemporaryFolder folder;
  const Model one = read_model(folder.write("t", head + collective(1, 0, "1048576")));
  ASSERT_EQ(one.layers.size(), 1U);
  EXPECT_EQ(one.parameters(), 1048576U / 4);
  EXPECT_DOUBLE_EQ(one.times->all_s(), 1e-9);
  expect_mentions(one.read_as, {"no computation: 1 ns stands for it"});
  const Model two =
      read_model(folder.write("t", head + collective(1, 0, "1000") + collective(2, 0, "3000")));
  ASSERT_EQ(two.layers.size(), 2U);
  EXPECT_DOUBLE_EQ(two.times->all_s(), 1e-9);
  // DDP broadcasts a model's buffers before it computes: these are no gradients.
  const Model buffers =
      read_model(folder.write("t", head + collective(1, 5, "512") + collective(2, 0, "4000")));
  EXPECT_EQ(buffers.parameters(), 1000U);
  expect_mentions(buffers.read_as, {"broadcasts of 512 bytes", "left out"});
  expect_mentions(error_of([&] { read_model(folder.write("t", head + collective(1, 5, "512"))); }),
                  {"no gradient"});
  expect_mentions(error_of([&] { read_model(folder.write("t", head + collective(1, 6, "512"))); }),
                  {"ALL_TO_ALL is not simulated"});
}

}  // namespace
}  // namespace syncline
