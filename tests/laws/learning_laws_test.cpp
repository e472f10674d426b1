// Laws of learning (tests/laws/README.md): what schedules, exchanges and compressors must give when
// they carry real gradients, and that learning takes no simulated time.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/schedule.h"
#include "tests/laws/every_schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// A small problem whose own model is timed: two hidden layers, so several buckets.
Options lesson_of(const std::string& schedule) {
  return {{"learn", "mlp"},      {"hidden", "7"},        {"hidden-layers", "2"},
          {"data", "generated"}, {"samples", "300"},     {"features", "6"},
          {"classes", "3"},      {"batch", "4"},         {"learning-rate", "0.1"},
          {"momentum", "0"},     {"schedule", schedule}, {"bucket-bytes", "0"},
          {"iterations", "30"}};
}

Options on(const Star& star, Options options) {
  options["platform"] = star_platform(star);
  return options;
}

const std::vector<float>& parameters(const Simulated& run) {
  return run.trace.learned->parameters_at_end;
}

// The largest difference, as a share of the largest value.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  double largest = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return most / largest;
}

const Star uneven{.nodes = 2, .workers_per_node = 2, .nic_Bps = 2e6, .slow_speed = 0.6};

TEST(Learning, TakesNoSimulatedTimeWhereSizesAreExact) {
  for (const Case& one : every_schedule()) {
    Options learning = one.options;
    for (const auto& [key, value] : lesson_of("bsp"))
      if (key != "schedule" && key != "bucket-bytes")
        learning[key] = value;
    Options timing = one.options;
    // In longer runs, and in longer periods, workers of these begin earlier if they learn.
    const std::string& schedule = timing.at("schedule");
    if (schedule == "ssp" || schedule == "dssp" || schedule == "easgd")
      learning["iterations"] = "4";
    if (schedule == "easgd")
      learning["period"] = timing["period"] = "2";
    for (const char* same : {"batch", "iterations"})
      timing[same] = learning[same];
    const Simulated with = simulated(learning);
    EXPECT_EQ(trace_text(with.trace), trace_text(simulated(timing).trace)) << one.name;
    ASSERT_TRUE(with.trace.learned) << one.name;
    EXPECT_NE(with.trace.learned->curve.front().loss, with.trace.learned->curve.back().loss)
        << one.name;
  }
}

TEST(Learning, IsTheSameToTheBitWithTheSameSeedOnly) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    const Simulated first = simulated(options);
    EXPECT_EQ(parameters(first), parameters(simulated(options))) << schedule;
    options["seed"] = "2";
    EXPECT_NE(parameters(first), parameters(simulated(options))) << schedule;
  }
}

TEST(Learning, ChangesNothingWithALearningRateOfZero) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    options["learning-rate"] = "0";
    options["momentum"] = "0.9";
    const Simulated run = simulated(options);
    const std::vector<CurvePoint>& curve = run.trace.learned->curve;
    EXPECT_EQ(curve.front().loss, curve.back().loss) << schedule;
    EXPECT_GT(curve.back().samples, 0) << schedule;
  }
}

TEST(Learning, OfDenseGradientsIsTheSameToTheBitInEveryExchange) {
  Options options = on(uneven, lesson_of("bsp"));
  const std::vector<float> ring = parameters(simulated(options));
  for (const std::string& exchange : exchanges_for("none"))
    for (const char* fidelity : {"flow", "step"}) {
      options["exchange"] = exchange;
      options["fidelity"] = fidelity;
      EXPECT_EQ(ring, parameters(simulated(options))) << exchange << fidelity;
    }
}

TEST(Learning, OfAspWithOneWorkerIsThatOfBsp) {
  for (const char* momentum : {"0", "0.9"})
    for (const char* servers : {"0", "2"}) {
      Options options = on({.nodes = 1, .servers = 2}, lesson_of("bsp"));
      options["workers"] = "1";
      options["servers"] = servers;
      options["momentum"] = momentum;
      options["weight-decay"] = "0.01";
      const Simulated bsp = simulated(options);
      options["schedule"] = "asp";
      EXPECT_EQ(parameters(bsp), parameters(simulated(options))) << momentum << servers;
    }
}

TEST(Learning, OfTopkSgdThatSendsAllIsThatOfBsp) {
  Options options = on(uneven, lesson_of("bsp"));
  const Simulated bsp = simulated(options);
  options["schedule"] = "topk-sgd";
  options["density"] = "1";
  EXPECT_EQ(parameters(bsp), parameters(simulated(options)));
}

TEST(Learning, OfInhadWithOneWorkerPerNodeIsThatOfAsp) {
  Options options =
      on({.nodes = 3, .nic_latency_s = 0, .servers = 2, .slow_speed = 0.7}, lesson_of("asp"));
  options["bucket-bytes"] = "all";
  options["servers"] = "2";
  options["jitter"] = "0.3";
  options["weight-decay"] = "0.3";
  for (const char* rate : {"workers", "inverse"}) {
    options["staleness-rate"] = rate;
    Options same = options;
    same["partition-bytes"] = "1e9";
    const Simulated asp = simulated(same);
    same.erase("partition-bytes");
    same["schedule"] = "inhad";
    same["threshold"] = "1";
    same["staleness"] = "0";
    if (rate == std::string("workers"))
      EXPECT_EQ(parameters(asp), parameters(simulated(same)));
    else  // equal but for rounding of the factors
      EXPECT_LT(difference(parameters(asp), parameters(simulated(same))), 1e-6);
  }
}

// DGC's momentum correction applies to what is compressed; if nothing is, the optimizer has the
// momentum.
TEST(Learning, OfDgcHasItsMomentumWhereNothingIsCompressed) {
  Options options = on(uneven, lesson_of("bsp"));
  options["momentum"] = "0.9";
  for (const Options& more :
       std::vector<Options>{{{"workers", "1"}},
                            {{"workers", "2"}, {"exchange", "hierarchical"}},  // both in one node
                            {{"dense-below", "1e12"}}}) {
    for (const auto& [option, value] : more)
      options[option] = value;
    Options dgc = options;
    dgc["compressor"] = "dgc";
    dgc["density"] = "0.01";
    options.erase("dense-below");
    EXPECT_EQ(parameters(simulated(options)), parameters(simulated(dgc))) << more.begin()->first;
    for (const auto& [option, value] : more)
      options.erase(option);
  }
}

TEST(Learning, OfDgcThatSendsAllIsThatOfNoCompressor) {
  for (const char* schedule : {"bsp", "local-sgd"}) {
    Options options = on(uneven, lesson_of(schedule));
    options["momentum"] = schedule == std::string("bsp") ? "0" : "0.9";  // of the steps only
    options["clip-norm"] = "0.2";  // clips whole gradients, not buckets
    options["bucket-bytes"] = "0";
    Options dgc = options;
    dgc["compressor"] = "dgc";
    dgc["density"] = "1";
    dgc["exchange"] = "allgather";
    const std::vector<float> plain = parameters(simulated(options));
    EXPECT_EQ(plain, parameters(simulated(dgc))) << schedule;
    options.erase("clip-norm");
    EXPECT_NE(plain, parameters(simulated(options))) << schedule;
  }
}

TEST(Learning, OfManyWorkersIsThatOfOneWithTheirBatch) {
  for (const char* momentum : {"0", "0.9"}) {
    Options options = on(uneven, lesson_of("bsp"));
    options["iterations"] = "100";
    options["momentum"] = momentum;
    const Simulated four = simulated(options);
    options["workers"] = "1";
    options["batch"] = "16";
    EXPECT_LT(difference(parameters(four), parameters(simulated(options))), 1e-5) << momentum;
  }
}

TEST(Learning, OfLocalSgdWithOneStepIsThatOfBsp) {
  Options options = on(uneven, lesson_of("bsp"));
  options["iterations"] = "100";
  const Simulated bsp = simulated(options);
  options["schedule"] = "local-sgd";
  options["local-steps"] = "1";
  EXPECT_LT(difference(parameters(bsp), parameters(simulated(options))), 1e-5);
  options["local-steps"] = "5";
  EXPECT_GT(difference(parameters(bsp), parameters(simulated(options))), 1e-3);
}

TEST(Learning, OfSspWithoutStalenessIsThatOfBsp) {
  Options options = on(uneven, lesson_of("bsp"));
  options["iterations"] = "100";
  options["jitter"] = "0.3";
  const Simulated bsp = simulated(options);
  options["schedule"] = "ssp";
  options["staleness"] = "0";
  for (const char* cache : {"on", "off"}) {
    options["cache"] = cache;
    EXPECT_LT(difference(parameters(bsp), parameters(simulated(options))), 1e-5) << cache;
  }
}

TEST(Learning, CountsSamplesAndBytesAsTheTraceDoes) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    const Simulated run = simulated(on(uneven, lesson_of(schedule)));
    const CurvePoint& last = run.trace.learned->curve.back();
    double bytes = 0;
    int most_iterations = 0;
    for (const Row& row : run.trace.rows) {
      bytes += static_cast<double>(row.bytes_sent);
      if (row.verb == Verb::forward)
        most_iterations = std::max(most_iterations, row.iteration + 1);
    }
    EXPECT_LE(last.bytes, bytes) << schedule;
    EXPECT_GT(last.bytes, 0.9 * bytes) << schedule;
    EXPECT_LE(last.iterations, most_iterations) << schedule;
    EXPECT_DOUBLE_EQ(last.samples, last.iterations * 4 * 4) << schedule;
    EXPECT_LE(last.seconds, run.trace.end_s) << schedule;
  }
}

// An update has the gradients of several workers, and evaluations use parameters with all of them.
TEST(Learning, OfInhadIsEvaluatedAfterWholeUpdates) {
  Options options = on(uneven, lesson_of("inhad"));
  options["evaluate-every"] = "4";
  options["staleness"] = "0";
  const std::vector<CurvePoint> curve = simulated(options).trace.learned->curve;
  ASSERT_GT(curve.size(), 20U);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    EXPECT_GT(curve[i].seconds, curve[i - 1].seconds);
    EXPECT_EQ(curve[i].samples, curve[i - 1].samples + 4 * 4);
  }
}

// The window then has the averages of its steps, whenever the target is met.
TEST(LocalSgd, EndsWithAWholeRoundWhenTheTargetIsMet) {
  Options options = on(uneven, lesson_of("local-sgd"));
  options["local-steps"] = "5";
  options["iterations"] = "40";
  options["bucket-bytes"] = "all";
  const Simulated whole = simulated(options);
  for (const char* until : {"loss:100", "loss:1.05", "loss:0.95"}) {
    options["until"] = until;
    const Simulated run = simulated(options);
    ASSERT_TRUE(run.trace.learned->target_s) << until;
    EXPECT_EQ((run.rows("forward").back().iteration + 1) % 5, 0) << until;
    EXPECT_NEAR(run.figures.throughput_samples_per_s, whole.figures.throughput_samples_per_s,
                1e-6 * whole.figures.throughput_samples_per_s)
        << until;
  }
}

TEST(Learning, WarnsOfWorkersWithoutSamples) {
  Options options = on({.nodes = 4, .workers_per_node = 2}, lesson_of("bsp"));
  const auto warned = [&] {
    return std::ranges::any_of(simulated(options).figures.warnings, [](const Warning& line) {
      return line.text.starts_with("skew leaves ") &&
             line.text.find(" of 8 workers") != std::string::npos;
    });
  };
  options["skew"] = "0.001";  // five workers get nothing of three labels
  EXPECT_TRUE(warned());
  options["skew"] = "100";
  EXPECT_FALSE(warned());
}

TEST(Learning, EndsWhenTheTargetIsMet) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    options["iterations"] = "1";
    options["evaluate-every"] = "16";
    const double first = simulated(options).trace.learned->curve.front().loss;
    options["iterations"] = "400";
    options["until"] = "loss:" + std::to_string(0.8 * first);
    const Simulated run = simulated(options);
    const Learned& learned = *run.trace.learned;
    ASSERT_TRUE(learned.target_s) << schedule;
    int iterations = 0;
    for (const Row& row : run.rows("forward"))
      iterations = std::max(iterations, row.iteration + 1);
    EXPECT_LT(iterations, 400) << schedule;
    const auto met = std::ranges::find_if(
        learned.curve, [&](const CurvePoint& point) { return point.loss <= 0.8 * first; });
    ASSERT_NE(met, learned.curve.end()) << schedule;
    EXPECT_EQ(met->seconds, *learned.target_s) << schedule;
    EXPECT_EQ(met + 1, learned.curve.end()) << schedule;
  }
}

// 240 of 300 samples are trained on: with four workers and 4 samples each, an epoch has 15
// iterations.
TEST(Learning, WarmsDensitiesUpByTheEpochsOfItsData) {
  for (const char* given : {"", "3"}) {
    Options options = on(uneven, lesson_of("topk-sgd"));
    options["warm-up-densities"] = "dgc";
    options["density"] = "0.01";
    options["bucket-bytes"] = "all";
    options["iterations"] = "70";
    options["epoch-iterations"] = given;
    const int epoch = *given == '3' ? 3 : 15;
    const Simulated run = simulated(options);
    const Learned& learned = *run.trace.learned;
    ASSERT_GE(learned.each_compressed.size(), 70u);
    for (const Compressed& one : learned.each_compressed) {
      const int stage = one.iteration / epoch;
      const double density = std::max(stage < 4 ? std::pow(0.25, stage + 1) : 0.0, 0.01);
      EXPECT_EQ(one.target_values, std::floor(density * one.values)) << given << one.iteration;
    }
  }
}

// The grid of `evaluate-every` counts from zero, not from the last evaluation. Steps of four
// samples hit no grid point exactly, so the first update after each is evaluated.
TEST(Learning, IsEvaluatedOnTheGridOfSamples) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    options["iterations"] = "40";
    options["evaluate-every"] = "1";
    const Simulated every = simulated(options);
    std::vector<double> expected{0};
    double next = 107;
    for (const CurvePoint& point : every.trace.learned->curve)
      if (point.samples >= next) {
        expected.push_back(point.samples);
        next = 107 * (std::floor(point.samples / 107) + 1);
      }
    if (const double end = every.trace.learned->curve.back().samples; expected.back() != end)
      expected.push_back(end);
    std::vector<double> samples;
    options["evaluate-every"] = "107";
    const Simulated run = simulated(options);
    for (const CurvePoint& point : run.trace.learned->curve)
      samples.push_back(point.samples);
    EXPECT_EQ(samples, expected) << schedule;
    EXPECT_GT(expected.size(), 6u);
  }
}

// A loss of 1e8 is a number, but not a useful result.
TEST(Learning, EndsWhereTheLossIsAThousandTimesThatOfTheStart) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    options["learn"] = "least-squares";
    options.erase("hidden");
    options.erase("hidden-layers");
    options["iterations"] = "400";
    options["momentum"] = "0";
    if (schedule == "local-sgd")
      options["local-steps"] = "1";
    if (schedule == "easgd")
      options["period"] = "1";
    options["learning-rate"] = "1.5";  // grows slowly, so the loss stays a number to the end
    options["evaluate-every"] = "1";
    const Learned learned = *simulated(options).trace.learned;
    ASSERT_TRUE(learned.diverged_s) << schedule;
    const double start = learned.curve.front().loss;
    EXPECT_GT(learned.curve.back().loss, 10 * start) << schedule;
    for (const CurvePoint& point : learned.curve)
      EXPECT_LE(point.loss, 1000 * start) << schedule;
  }
}

TEST(Learning, EndsWhereTheLossIsNoNumberAnyMore) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    Options options = on(uneven, lesson_of(schedule));
    options["learning-rate"] = "1e6";
    options["learn"] = "least-squares";
    options.erase("hidden");
    options.erase("hidden-layers");
    options["iterations"] = "400";
    const Learned learned = *simulated(options).trace.learned;
    ASSERT_TRUE(learned.diverged_s) << schedule;
    EXPECT_LT(learned.curve.size(), 10u) << schedule;
    for (const CurvePoint& point : learned.curve)
      EXPECT_TRUE(std::isfinite(point.loss)) << schedule;
  }
}

}  // namespace
}  // namespace syncline
