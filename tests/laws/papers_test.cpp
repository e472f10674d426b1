// Papers' findings about which method is faster must follow from the models, platforms and cost
// tables of this repository. `syncline validate` checks the papers' figures.
#include <gtest/gtest.h>
#include <map>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

double iteration_s(Options options, const std::string& key, const std::string& value) {
  options[key] = value;
  return simulated(options).iteration_s();
}

// 16 V100 on 10 Gbit/s: in four nodes, or each with a card of its own.
std::map<std::string, std::string> ten_gigabit() {
  static const std::map<std::string, std::string> platforms{
      {"4 x 4", star_platform({.nodes = 4,
                               .workers_per_node = 4,
                               .nic_Bps = 1.25e9,
                               .nic_latency_s = 1.5e-5,
                               .bus_Bps = 1.2e10,
                               .bus_latency_s = 3e-6})},
      {"16 x 1", star_platform({.nodes = 16, .nic_Bps = 1.25e9, .nic_latency_s = 1.5e-5})}};
  return platforms;
}

// Samples/s of a V100 in fp32: ResNet-50 published (DLPerf), VGG-16 estimated from its flop.
const std::map<std::string, std::string> v100_throughput{{"resnet50", "367.29"}, {"vgg16", "230"}};

Options v100(const std::string& platform, const std::string& model, const std::string& device) {
  return {{"platform", platform}, {"model", model},
          {"batch", "32"},        {"throughput", v100_throughput.at(model)},
          {"device", device},     {"density", "0.001"},
          {"iterations", "3"},    {"schedule", "topk-sgd"}};
}

double dense_s(Options options) {
  options.erase("density");
  return iteration_s(options, "schedule", "bsp");
}

TEST(MsTopK, TheLibrarysExactTopKIsSlowerThanSendingEverything) {
  // Shi et al., MLSys 2021, and Shi, Chu, Cheung, See 2019: on GPUs exact selection costs more than
  // it saves; only approximate selection pays.
  for (const auto& [name, platform] : ten_gigabit())
    for (const auto& [model, throughput] : v100_throughput) {
      const Options options = v100(platform, model, "v100-published");
      const double dense = dense_s(options);
      EXPECT_GT(iteration_s(options, "compressor", "topk"), dense) << name << " " << model;
      EXPECT_LT(iteration_s(options, "compressor", "gaussiank"), dense) << name << " " << model;
      EXPECT_LT(iteration_s(options, "compressor", "mstopk"), dense) << name << " " << model;
    }
}

TEST(OurKernels, MakeExactTopKAsFastAsApproximate) {
  for (const auto& [name, platform] : ten_gigabit())
    for (const auto& [model, throughput] : v100_throughput) {
      const Options ours = v100(platform, model, "v100-modelled");
      const double gaussian_s = iteration_s(ours, "compressor", "gaussiank");
      const double exact_s = iteration_s(ours, "compressor", "topk");
      EXPECT_NEAR(exact_s / gaussian_s, 1, 0.03) << name << " " << model;
      EXPECT_LT(exact_s, dense_s(ours)) << name << " " << model;
      // Where the published kernels take as long as a whole iteration without them.
      const Options published = v100(platform, model, "v100-published");
      EXPECT_GT(iteration_s(published, "compressor", "topk") /
                    iteration_s(published, "compressor", "gaussiank"),
                2)
          << name << " " << model;
    }
}

// gTop-k (Shi et al., ICDCS 2019), figure 9: 32 machines at 1 Gbit/s.
TEST(GTopK, OvertakesTheAllGatherAsWorkersAreAdded) {
  const std::string nothing = cost_table(0, 0);
  for (const char* model : {"alexnet", "vgg16-cifar10", "resnet20"})
    for (const std::string& device : {nothing, std::string("v100-modelled")}) {
      std::map<int, double> ratio;  // all-gather's communication seconds divided by the tree's
      for (const int workers : {4, 8, 16, 32}) {
        const Options options{{"platform", "gbe-32x1"}, {"workers", std::to_string(workers)},
                              {"model", model},         {"device", device},
                              {"density", "0.001"},     {"schedule", "topk-sgd"}};
        ratio[workers] = (iteration_s(options, "exchange", "allgather") - 0.1) /
                         (iteration_s(options, "exchange", "gtopk") - 0.1);
      }
      // Steps of all-gather and tree: 3 and 4, 7 and 6, 15 and 8, 31 and 10.
      EXPECT_LT(ratio[4], 1) << model;
      EXPECT_NEAR(ratio[8], 1, 0.25) << model;
      EXPECT_GT(ratio[16], 1) << model;
      EXPECT_GT(ratio[32], 1.5) << model;
      EXPECT_GT(ratio[16], ratio[8]) << model;
      EXPECT_GT(ratio[32], ratio[16]) << model;
    }
}

TEST(GTopK, OvertakesTopKBetweenEightAndThirtyTwoWorkers) {
  // The paper's all-gather has log2 P rounds (recursive doubling), the tree 2 log2 P; at the
  // paper's density the bytes of a large model outweigh that from between 8 and 32 workers on.
  for (const char* model : {"vgg16-cifar10", "alexnet"}) {
    Options options{{"platform", "gbe-32x1"},     {"model", model},
                    {"device", cost_table(0, 0)}, {"density", "0.001"},
                    {"schedule", "topk-sgd"},     {"throughput", "1000"}};
    const auto faster = [&](const char* workers) {
      options["workers"] = workers;
      options.erase("algorithm");
      const double tree_s = iteration_s(options, "exchange", "gtopk");
      options["algorithm"] = "recursive-doubling";
      return tree_s < iteration_s(options, "exchange", "allgather");
    };
    EXPECT_FALSE(faster("4")) << model;
    EXPECT_TRUE(faster("32")) << model;
    if (std::string(model) == "vgg16-cifar10") {
      EXPECT_FALSE(faster("8"));
    }
  }
}

// QSGD (Alistarh et al., NIPS 2017), figure 4 of the appendix: hours of computation per epoch on 16
// GPUs of one server; CNTK's MPI moves 0.4 GB/s there, derived from its dense AlexNet.
TEST(Qsgd, SpeedsUpNetworksWithManyParametersPerFlopMost) {
  struct Bar {
    double computation_hours;
    int batch;
  };
  const std::map<std::string, Bar> bars{{"alexnet", {0.12, 64}},
                                        {"vgg19", {0.99, 16}},
                                        {"resnet50", {0.572, 16}},
                                        {"resnet152", {1.388, 16}},
                                        {"bn-inception", {0.315, 64}}};
  const std::string linear = cost_table(2e-10, 2e-10);
  for (const char* factor : {"0.033", "0.2"}) {
    std::map<std::string, double> speedup;
    for (const auto& [model, bar] : bars) {
      const double images_per_s = 1281167.0 / 3600 / bar.computation_hours / 16;
      Options options{{"platform", "k80-1x16"},
                      {"model", model},
                      {"batch", std::to_string(bar.batch)},
                      {"throughput", std::to_string(images_per_s)},
                      {"device", linear},
                      {"overlap", "off"},
                      {"bandwidth-factor", factor},
                      {"iterations", "2"}};
      const double dense = simulated(options).iteration_s();
      options["exchange"] = "alltoall";
      options["dense-below"] = "10000";
      speedup[model] = dense / iteration_s(options, "compressor", "qsgd");
    }
    for (const char* most : {"alexnet", "vgg19"})
      for (const char* less : {"resnet50", "resnet152", "bn-inception"})
        EXPECT_GT(speedup[most], speedup[less]) << most << " " << less << " at " << factor;
    for (const char* more : {"resnet50", "resnet152"})
      EXPECT_GT(speedup[more], speedup["bn-inception"]) << more << " at " << factor;
    EXPECT_GT(speedup["bn-inception"], 0.99) << factor;
  }
}

// PowerSGD (Vogels et al., NeurIPS 2019), section 5: methods whose messages can be added scale,
// methods whose messages must be gathered do not.
TEST(PowerSgd, ScalesWhereGatheringDoesNot) {
  const auto exchange_s = [](int workers, const std::string& compressor) {
    return iteration_s({{"platform", "gbe-32x1"},
                        {"workers", std::to_string(workers)},
                        {"model", "vgg16-cifar10"},
                        {"device", cost_table(0, 0)},
                        {"overlap", "off"},
                        {"bucket-bytes", "all"}},
                       "compressor", compressor) -
           0.1;
  };
  EXPECT_LT(exchange_s(32, "powersgd") / exchange_s(4, "powersgd"), 10);  // all of it latencies
  EXPECT_NEAR(exchange_s(32, "onebit") / exchange_s(4, "onebit"), 31.0 / 3, 0.1);
  EXPECT_LT(exchange_s(32, "powersgd"), exchange_s(32, "none"));
  EXPECT_GT(exchange_s(32, "onebit") / exchange_s(32, "none"), 0.4) << "1/32 of 31/2 times as much";
}

// Bytes of a worker's gradient and of its message, with all tensors in one bucket: of two workers
// in a ring, each sends as many.
struct Sizes {
  double dense = 0;
  double message = 0;
  double times() const { return std::round(dense / message); }
};

Sizes sizes_of(const std::string& model, const std::string& rank, Options more = {}) {
  Options options{{"platform", "gbe-32x1"},     {"workers", "2"},        {"model", model},
                  {"device", cost_table(0, 0)}, {"bucket-bytes", "all"}, {"iterations", "2"}};
  Sizes sizes{.dense = simulated(options).figures.bytes_sent};
  options.merge(more);
  options["compressor"] = "powersgd";
  options["rank"] = rank;
  sizes.message = simulated(options).figures.bytes_sent;
  return sizes;
}

// Tables 3 and 4 of the paper say how many times smaller messages of ranks 1, 2 and 4 are. Once, a
// bucket was one matrix as square as possible: 805 times for ResNet-18 and rank 1.
TEST(PowerSgd, HasTheBytesOfThePaper) {
  const std::map<std::string, double> resnet18{{"1", 243}, {"2", 136}, {"4", 72}};
  for (const auto& [rank, times] : resnet18)
    EXPECT_EQ(sizes_of("resnet18-cifar10", rank).times(), times) << rank;
  // WikiText-2: three layers of 650 and a decoder tied to the embedding.
  std::string lstm = "layer,parameters,forward_flop,shape\n";
  auto add = [&lstm, layers = 0](int rows, int columns) mutable {
    lstm += std::to_string(layers++) + "," + std::to_string(rows * columns) + ",1," +
            std::to_string(rows) + (columns > 1 ? "x" + std::to_string(columns) : "") + "\n";
  };
  add(28869, 650);
  for (int layer = 0; layer < 3; ++layer) {
    add(2600, 650);
    add(2600, 650);
    add(2600, 1);
    add(2600, 1);
  }
  add(28869, 1);
  const std::string model = written_model(lstm);
  const std::map<std::string, double> published{{"1", 310}, {"2", 203}, {"4", 120}};
  for (const auto& [rank, times] : published)
    EXPECT_EQ(sizes_of(model, rank).times(), times) << rank;
}

// PyTorch's powerSGD_hook with rank 4: of each tensor of ResNet-50 both factors, and 54,120 values
// of vectors. Its batched hook takes a bucket as one matrix.
TEST(PowerSgd, HasTheBytesOfPyTorchsHooks) {
  EXPECT_EQ(sizes_of("resnet50", "4").message, 1'536'336);
  EXPECT_EQ(sizes_of("resnet50", "4", {{"matrices", "bucket"}}).message, 4 * 4 * (5056 + 5055));
  // A matrix has no more columns than its smaller side.
  const std::string tiny = written_model("layer,parameters,forward_flop,shape\na,30,1,3x2x5\n");
  EXPECT_EQ(sizes_of(tiny, "8").message, 4 * 3 * (3 + 10));
}

}  // namespace
}  // namespace syncline
