// Defaults of frameworks (platforms/frameworks.csv): their buckets, by a second implementation of
// each framework's rule and as published, and how options use them.
#include "sim/catalogue/frameworks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/catalogue/files.h"
#include "sim/setup/model.h"
#include "tests/unit/errors.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

using Sizes = std::vector<std::uint64_t>;

Model model_named(const std::string& name) {
  return read_model(data_root() + "/models/" + name + ".csv");
}

Sizes bytes_of(const std::vector<Bucket>& buckets, std::uint64_t value_bytes) {
  Sizes sizes;
  for (const Bucket& bucket : buckets)
    sizes.push_back(bucket.parameters * value_bytes);
  return sizes;
}

// Tensors in the order in which their gradients are made.
Sizes tensors_of(const Model& model, std::uint64_t value_bytes) {
  Sizes sizes;
  for (const Layer& layer : model.layers)
    sizes.push_back(layer.parameters * value_bytes);
  return {sizes.rbegin(), sizes.rend()};
}

// PyTorch DDP's compute_bucket_assignment_by_size: a tensor is added, and a bucket that has then
// reached the limit is closed; limits are 1 MiB and then 25 MiB; the rest is the last bucket.
Sizes ddp_buckets(const Sizes& tensors, const std::vector<std::uint64_t>& limits) {
  Sizes done;
  std::uint64_t open = 0;
  for (const std::uint64_t tensor : tensors) {
    open += tensor;
    if (open >= limits[std::min(done.size(), limits.size() - 1)])
      done.push_back(std::exchange(open, 0));
  }
  if (open > 0)
    done.push_back(open);
  return done;
}
const std::vector<std::uint64_t> ddp_limits{1048576, 26214400};

// Buckets with these options.
Sizes buckets_with(const std::map<std::string, std::string>& options, const Model& model,
                   int value_bytes) {
  return bytes_of(fused_buckets(model, resolve(given(options)).fusion, value_bytes),
                  static_cast<std::uint64_t>(value_bytes));
}

TEST(PytorchDdp, HasItsOwnBuckets) {
  for (const std::string& name : names_in("models", ".csv"))
    if (name != "throughput")
      for (const int value_bytes : {2, 4}) {
        const Model model = model_named(name);
        const Sizes buckets = buckets_with({{"framework", "pytorch-ddp"}}, model, value_bytes);
        EXPECT_EQ(buckets, ddp_buckets(tensors_of(model, static_cast<std::uint64_t>(value_bytes)),
                                       ddp_limits))
            << name;
      }
  EXPECT_EQ(buckets_with({{"framework", "pytorch-ddp"}}, model_named("resnet50"), 4),
            (Sizes{8196000, 31502336, 26255360, 26550272, 9724160}));
  EXPECT_EQ(buckets_with({{"framework", "pytorch-ddp"}}, model_named("bert-base"), 4).size(), 14U);
}

// The ResNet-18 of torchvision, in forward order.
Model resnet18() {
  Model model;
  const auto conv = [&](std::uint64_t in, std::uint64_t out, std::uint64_t side) {
    model.layers.push_back({"conv", in * out * side * side, 1});
    model.layers.push_back({"weight", out, 0});
    model.layers.push_back({"bias", out, 0});
  };
  conv(3, 64, 7);
  std::uint64_t in = 64;
  for (const std::uint64_t out : {64U, 128U, 256U, 512U})
    for (int block = 0; block < 2; ++block) {
      conv(in, out, 3);
      conv(out, out, 3);
      if (in != out)
        conv(in, out, 1);
      in = out;
    }
  model.layers.push_back({"fc", 512000, 1});
  model.layers.push_back({"fc", 1000, 0});
  return model;
}

// Sizes of the all-reduces of pytorch/examples' imagenet, in pytorch issue 48880.
TEST(PytorchDdp, HasThePublishedBucketsOfResnet18) {
  EXPECT_EQ(resnet18().parameters(), 11689512U);
  EXPECT_EQ(buckets_with({{"framework", "pytorch-ddp"}}, resnet18(), 4),
            (Sizes{2052000, 28852224, 15853824}));
  EXPECT_EQ(
      buckets_with({{"framework", "pytorch-ddp"}, {"bucket-bytes", "36700160"}}, resnet18(), 4),
      (Sizes{2052000, 38297600, 6408448}));
}

// A GPT of 1.3 billion parameters (24 layers of 2,048), in two bytes.
TEST(PytorchDdp, HasFewBucketsWhereTensorsAreLarge) {
  Model model;
  const auto layer = [&](std::uint64_t inputs, std::uint64_t outputs) {
    model.layers.push_back({"weight", inputs * outputs, 1});
    model.layers.push_back({"bias", outputs, 0});
  };
  constexpr std::uint64_t width = 2048;
  model.layers = {{"wte", 50257 * width, 1}, {"wpe", 2048 * width, 0}};
  for (int block = 0; block < 24; ++block)
    for (const auto& [inputs, outputs] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, width},
                                                              {width, 3 * width},
                                                              {width, width},
                                                              {1, width},
                                                              {width, 4 * width},
                                                              {4 * width, width}})
      layer(inputs, outputs);
  layer(1, width);
  EXPECT_EQ(buckets_with({{"framework", "pytorch-ddp"}}, model, 2).size(), 73U);
  EXPECT_EQ(buckets_with({}, model, 2).size(), 123U);
}

// Horovod, by its documentation of tensor fusion: in each cycle it repeatedly selects the first
// ready tensors that fit into the threshold. These groups are sent at the end of the cycle.
struct Group {
  std::uint64_t bytes = 0;
  double sent_s = 0;
  bool operator==(const Group&) const = default;
};
std::vector<Group> horovod_groups(const Sizes& tensors, const std::vector<double>& ready_s,
                                  double cycle_s, std::uint64_t threshold) {
  std::vector<Group> sent;
  std::size_t next = 0;
  for (int cycle = 1; next < tensors.size(); ++cycle) {
    const double now_s = cycle * cycle_s;
    while (next < tensors.size() && ready_s[next] <= now_s) {
      Group group{tensors[next++], now_s};
      while (next < tensors.size() && ready_s[next] <= now_s &&
             group.bytes + tensors[next] <= threshold)
        group.bytes += tensors[next++];
      sent.push_back(group);
    }
  }
  return sent;
}

// When each gradient is ready, if backward takes this long.
std::vector<double> ready_times(const Model& model, double backward_s) {
  std::vector<double> ready_s;
  double flop = 0;
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    flop += layer->forward_flop;
    ready_s.push_back(backward_s * flop / model.forward_flop());
  }
  return ready_s;
}

TEST(Horovod, HasItsOwnGroupsForGivenTimes) {
  for (const std::string name : {"resnet50", "bert-base", "vgg16"})
    for (const auto& [version, cycle_s, threshold] : {std::tuple("horovod-0.15", 5e-3, 64U << 20),
                                                      {"horovod-0.20.3", 5e-3, 64U << 20},
                                                      {"horovod-0.21", 1e-3, 128U << 20},
                                                      {"horovod", 1e-3, 128U << 20}})
      for (const double backward_s : {0.0007, 0.03, 0.1187}) {
        const Model model = model_named(name);
        const std::vector<double> ready_s = ready_times(model, backward_s);
        const Fusion fusion = resolve(given({{"framework", version}})).fusion;
        EXPECT_EQ(fusion.cycle_s, cycle_s);
        const std::vector<Bucket> buckets = cycled_buckets(model, fusion, 4, ready_s);
        const std::vector<Group> groups =
            horovod_groups(tensors_of(model, 4), ready_s, cycle_s, threshold);
        ASSERT_EQ(buckets.size(), groups.size()) << name << version;
        std::size_t last = 0;
        for (std::size_t i = 0; i < groups.size(); ++i) {
          last += static_cast<std::size_t>(buckets[i].tensors);
          EXPECT_EQ(4 * buckets[i].parameters, groups[i].bytes) << name << version;
          EXPECT_NEAR(ready_s[last - 1] + buckets[i].waits_s, groups[i].sent_s, 1e-9);
        }
      }
  // In 0.12 s of backward a new version sends the groups that an old one would send in five cycles.
  const Model model = model_named("resnet50");
  const auto groups_of = [&](const char* version) {
    return cycled_buckets(model, resolve(given({{"framework", version}})).fusion, 4,
                          ready_times(model, 0.1187))
        .size();
  };
  EXPECT_EQ(groups_of("horovod-0.20"), 24U);
  EXPECT_EQ(groups_of("horovod"), 54U);
}

TEST(Frameworks, AreNamedWithOrWithoutAVersion) {
  EXPECT_TRUE(framework_called("none").defaults.empty());
  for (const char* text :
       {"pytorch-ddp", "pytorch-ddp-1.6", "pytorch-ddp-1.10.2", "pytorch-ddp-2.4"}) {
    const Framework framework = framework_called(text);
    EXPECT_EQ(framework.name, "pytorch-ddp");
    EXPECT_EQ(framework.from, "1.6");
    EXPECT_EQ(framework.defaults.size(), 5U);
  }
  expect_mentions(error_of([] { framework_called("pytorch-ddp-1.5"); }),
                  {"pytorch-ddp-1.5", "before 1.6", "1.6 or later"});
  for (const char* text : {"pytorch", "ddp-", "pytorch-ddp-x", "-1", "1.7", "none-1.7"})
    expect_mentions(error_of([&] { framework_called(text); }),
                    {text, "no such framework", "none", "pytorch-ddp-1.6"});
}

TEST(Frameworks, GiveDefaultsThatOptionsReplace) {
  const Scenario taken = resolve(given({{"framework", "pytorch-ddp"}}));
  EXPECT_TRUE(taken.fusion.closes_after);
  EXPECT_EQ(taken.fusion.first_bytes, 1048576);
  EXPECT_EQ(taken.written.at("bucket-closes"), "after");
  expect_mentions(taken.framework.described(),
                  {"pytorch-ddp from 1.6", "bucket-closes = after", "reducer.cpp",
                   "first-bucket-bytes = 1048576", "bucket-bytes = 26214400", "overlap = on"});
  const Scenario replaced = resolve(
      given({{"framework", "pytorch-ddp"}, {"bucket-closes", "before"}, {"bucket-bytes", "5"}}));
  EXPECT_FALSE(replaced.fusion.closes_after);
  EXPECT_EQ(replaced.fusion.bytes, 5);
  EXPECT_EQ(replaced.fusion.first_bytes, 1048576);
  EXPECT_EQ(replaced.framework.described().find("bucket-bytes = "),
            replaced.framework.described().find("-bucket-bytes") + 1);
  EXPECT_EQ(replaced.framework.described().find("bucket-closes"), std::string::npos);
  // A schedule with one fused buffer keeps it.
  const Scenario fused = resolve(
      given({{"framework", "pytorch-ddp"}, {"schedule", "topk-sgd"}, {"device", "v100-modelled"}}));
  EXPECT_EQ(fused.fusion.kind, Fusion::Kind::all);
  EXPECT_EQ(fused.framework.described().find("26214400"), std::string::npos);
  EXPECT_EQ(resolve(given({})).framework.described(), "");
}

// NCCL chooses among its exchanges; compressed messages and servers have their own.
TEST(Frameworks, LeaveTheExchangeToWhatChoosesIt) {
  for (const char* framework : {"pytorch-ddp", "horovod", "horovod-0.15"}) {
    const auto resolved = [&](std::map<std::string, std::string> options) {
      options["framework"] = framework;
      return resolve(given(options));
    };
    EXPECT_EQ(resolved({}).candidates.size(), 2U) << framework;
    EXPECT_TRUE(resolved({}).nccl_chooses);
    EXPECT_EQ(resolved({}).written.at("exchange"), "nccl");
    expect_mentions(resolved({}).framework.described(), {"exchange = nccl (", "NCCL"});
    EXPECT_FALSE(resolved({{"schedule", "local-sgd"}}).candidates.empty());
    const std::vector<std::pair<std::map<std::string, std::string>, std::string>> others{
        {{{"exchange", "ring"}}, "ring"},
        {{{"schedule", "asp"}}, "ps"},
        {{{"compressor", "topk"}, {"device", "v100-modelled"}}, "allgather"},
        {{{"compressor", "randomk"}, {"device", "v100-modelled"}}, "ring"},
        {{{"schedule", "topk-sgd"}, {"device", "v100-modelled"}}, "allgather"}};
    for (const auto& [options, exchange] : others) {
      const Scenario scenario = resolved(options);
      EXPECT_EQ(scenario.exchange->name, exchange);
      EXPECT_EQ(scenario.written.at("exchange"), exchange);
      EXPECT_TRUE(scenario.candidates.empty()) << exchange;
      EXPECT_EQ(scenario.framework.described().find("exchange = nccl"), std::string::npos);
    }
  }
}

TEST(Frameworks, GiveAScheduleAndItsSettings) {
  const Scenario taken = resolve(given({{"framework", "pytorch-fsdp"}}));
  EXPECT_EQ(taken.schedule->name, "fsdp");
  EXPECT_EQ(taken.written.at("schedule"), "fsdp");
  for (const auto& [setting, value] :
       std::map<std::string, std::string>{{"zero", "3"},
                                          {"prefetch", "1"},
                                          {"backward-prefetch", "pre"},
                                          {"shard", "all"},
                                          {"no-sync", "off"}}) {
    EXPECT_EQ(taken.written.at(setting), value);
    expect_mentions(taken.framework.described(), {setting + " = " + value + " ("});
  }
  expect_mentions(taken.framework.described(), {"BACKWARD_PRE", "limit_all_gathers"});
  const Scenario replaced =
      resolve(given({{"framework", "pytorch-fsdp"}, {"zero", "2"}, {"schedule", "fsdp"}}));
  EXPECT_EQ(replaced.schedule_settings.number("zero"), 2);
  EXPECT_EQ(replaced.framework.described().find("zero = "), std::string::npos);
  EXPECT_EQ(replaced.framework.described().find("schedule = "), std::string::npos);
}

}  // namespace
}  // namespace syncline
