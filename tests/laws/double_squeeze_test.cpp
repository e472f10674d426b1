// DoubleSqueeze (Tang et al., ICML 2019, arXiv 1905.05957), written here once more from its
// Algorithm 1, comes to the parameters of the schedules that are said to be it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/catalogue/data.h"
#include "sim/learning/sampler.h"
#include "sim/plan.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

using Vector = std::vector<float>;
using Squeeze = std::function<Vector(const Vector&)>;  // Q: what a receiver sees

Vector largest(const Vector& v, double density) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return std::abs(v[i]); });
  Vector sent(v.size());
  const auto k = std::max<std::size_t>(
      static_cast<std::size_t>(density * static_cast<double>(v.size())), v.empty() ? 0 : 1);
  for (std::size_t j = 0; j < k; ++j)
    sent[order[j]] = v[order[j]];
  return sent;
}

Vector signs(const Vector& v) {
  double sum = 0;
  for (const float value : v)
    sum += std::abs(value);
  Vector sent;
  for (const float value : v)
    sent.push_back(static_cast<float>((value >= 0 ? sum : -sum) / static_cast<double>(v.size())));
  return sent;
}

// A place that squeezes vectors and keeps the error: a worker, or a server.
struct Compensated {
  Vector error;

  Vector squeezed(Vector v, const Squeeze& squeeze) {
    error.resize(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] += error[i];
    const Vector sent = squeeze(v);
    for (std::size_t i = 0; i < v.size(); ++i)
      error[i] = v[i] - sent[i];
    return sent;
  }
};

// Parameters of workers, or those of servers, which have already taken the errors that they keep.
enum class Held { by_workers, by_servers };

// Algorithm 1 for each bucket, of which each server has a share.
Vector double_squeezed(const Options& options, int servers, const Squeeze& squeeze, int steps,
                       Held held) {
  const Scenario scenario = resolved(options);
  const Data data =
      load_data(scenario.learning.data, "", scenario.learning.generated, scenario.seed);
  const Objective objective =
      scenario.learning.problem->objective(scenario.learning.problem_settings, data, scenario.seed);
  std::vector<std::size_t> buckets{0};  // where each begins
  if (options.at("bucket-bytes") == "0")
    for (const Tensor& tensor : objective.tensors)
      buckets.push_back(buckets.back() + tensor.parameters);
  else
    buckets.push_back(objective.parameters());
  const int workers = std::stoi(options.at("workers"));
  const Sampler sampler(data, workers, std::stoi(options.at("batch")), scenario.seed, {});
  const auto rate = static_cast<float>(std::stod(options.at("learning-rate")));
  Vector x(objective.initial.begin(), objective.initial.end());
  std::map<std::tuple<int, std::size_t, int>, Compensated> places;  // by rank, bucket and share
  for (int step = 0; step < steps; ++step) {
    std::vector<Vector> gradients(static_cast<std::size_t>(workers), Vector(x.size()));
    for (int worker = 0; worker < workers; ++worker)
      objective.gradient(x, sampler.samples(worker, step),
                         gradients[static_cast<std::size_t>(worker)]);
    for (std::size_t b = 0; b + 1 < buckets.size(); ++b) {
      const std::size_t first = buckets[b], size = buckets[b + 1] - first;
      Vector mean(size);
      for (int worker = 0; worker < workers; ++worker) {
        const float* g = gradients[static_cast<std::size_t>(worker)].data() + first;
        const Vector sent = places[{worker, b, 0}].squeezed({g, g + size}, squeeze);
        for (std::size_t i = 0; i < size; ++i)
          mean[i] += sent[i] / static_cast<float>(workers);
      }
      for (int server = 0; server < servers; ++server) {
        const std::size_t begin = shares(size, servers, 0, server);
        const Vector part(
            mean.begin() + static_cast<std::ptrdiff_t>(begin),
            mean.begin() + static_cast<std::ptrdiff_t>(begin + share(size, servers, server)));
        Compensated& place = places[{workers, b, server}];
        const Vector sent = place.squeezed(part, squeeze);
        for (std::size_t i = 0; i < sent.size(); ++i)
          x[first + begin + i] -=
              rate *
              (sent[i] + (held == Held::by_servers && step + 1 == steps ? place.error[i] : 0));
      }
    }
  }
  return x;
}

constexpr int steps = 30;

Options lesson(int nodes, int workers_per_node, const std::string& bucket_bytes) {
  return {{"learn", "least-squares"},
          {"data", "generated"},
          {"samples", "120"},
          {"features", "16"},
          {"classes", "3"},
          {"batch", "4"},
          {"learning-rate", "0.05"},
          {"momentum", "0"},
          {"weight-decay", "0"},
          {"bucket-bytes", bucket_bytes},
          {"iterations", std::to_string(steps)},
          {"warmup", "0"},
          {"jitter", "0.3"},
          {"workers", std::to_string(nodes * workers_per_node)},
          {"platform", star_platform({.nodes = nodes,
                                      .workers_per_node = workers_per_node,
                                      .servers = 3,
                                      .slow_speed = 0.7})}};
}

void expect_same(Options options, int servers, Held held, const std::string& about) {
  for (const std::string compressor : {"topk", "efsign"}) {
    options["compressor"] = compressor;
    if (compressor == "topk")
      options["density"] = "0.3";
    else
      options.erase("density");
    const Squeeze squeeze = compressor == "topk"
                                ? Squeeze([](const Vector& v) { return largest(v, 0.3); })
                                : Squeeze(signs);
    const Simulated run = simulated(options);
    const std::vector<float>& learned = run.trace.learned->parameters_at_end;
    const Vector expected = double_squeezed(options, servers, squeeze, steps, held);
    ASSERT_EQ(learned.size(), expected.size());
    double moved = 0;
    for (std::size_t i = 0; i < learned.size(); ++i) {
      EXPECT_NEAR(learned[i], expected[i], 1e-6) << about << compressor << ", parameter " << i;
      moved += std::abs(expected[i]);
    }
    EXPECT_GT(moved, 0.1);
  }
}

// Every worker is the server of an n-th of each bucket.
TEST(DoubleSqueeze, IsBspWithAllToAll) {
  for (const auto& [nodes, workers] : {std::pair(2, 1), {3, 2}, {5, 1}})
    for (const char* buckets : {"all", "0"}) {
      Options options = lesson(nodes, workers, buckets);
      options["schedule"] = "bsp";
      options["exchange"] = "alltoall";
      expect_same(options, nodes * workers, Held::by_workers,
                  std::to_string(nodes * workers) + " workers, ");
    }
}

// Through servers, for compressors without chance: each worker gets a message of its own. (Of odd
// numbers of workers: where signs of an even number cancel, rounding decides the sign of the mean.)
TEST(DoubleSqueeze, IsSspThatWaitsForAllWithCompressedPulls) {
  for (const auto& [nodes, workers] : {std::pair(3, 1), {3, 3}, {5, 1}})
    for (const int servers : {1, 3})
      for (const char* buckets : {"all", "0"}) {
        Options options = lesson(nodes, workers, buckets);
        options["schedule"] = "ssp";
        options["staleness"] = "0";
        options["cache"] = "off";
        options["pull"] = "compressed";
        options["servers"] = std::to_string(servers);
        expect_same(options, servers, Held::by_servers, std::to_string(servers) + " servers, ");
      }
}

}  // namespace
}  // namespace syncline
