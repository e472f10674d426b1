// Laws 16 and 20 for whole runs (tests/laws/README.md): what ends after the last iteration has
// begun belongs to the run, in its seconds, its samples and its learning rate.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

struct WholeRun {
  std::string name;
  Options options;
};

// Every registered schedule, and cases that leave work for the end: late averages, parameters that
// the next forward gathers, messages smaller than their answers. For schedules that do not wait for
// all workers, workers are alike: otherwise fast workers use up their lead in a short run, and
// queues at servers fill.
std::vector<WholeRun> whole_runs() {
  std::vector<WholeRun> all;
  Star star{.nodes = 3, .workers_per_node = 2, .nic_Bps = 2e7};
  const std::string alike = star_platform(star);
  // Workers that ask a neighbour wait for answers; those that only answer do not.
  const std::string fast = star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = 4e8});
  star.slow_speed = 0.6;
  const std::string slow = star_platform(star);
  const auto add = [&](const std::string& schedule, Options more) {
    const Schedule& entry = Registered<Schedule>::find(schedule);
    const bool leads = entry.server != nullptr && !more.contains("staleness");
    more.insert(
        {{"platform", entry.neighbours != nullptr ? fast
                      : leads                     ? alike
                                                  : slow},
         {"model", model_of({400'000, 900'000, 100, 700'000})},
         {"compressor", Registered<Schedule>::find(schedule).sparsifiers_only ? "topk" : "none"},
         {"schedule", schedule}});
    std::string name;
    for (const auto& [option, value] : more)
      if (option != "platform" && option != "model")
        name += option + "=" + value + " ";
    all.push_back({name, more});
  };
  for (const std::string& schedule : Registered<Schedule>::names())
    add(schedule, schedule == "dssp" ? Options{{"staleness", "0"}, {"range", "2"}} : Options());
  for (const char* delay : {"0", "1", "3"})
    for (const char* replica : {"worker", "node"})
      add("local-sgd", {{"local-steps", "4"}, {"average-delay", delay}, {"replica", replica}});
  for (const char* zero : {"1", "2", "3"})
    for (const char* prefetch : {"0", "1"})
      add("fsdp", {{"zero", zero}, {"prefetch", prefetch}, {"units", "3"}});
  for (const char* schedule : {"asp", "ssp", "inhad", "backup"})
    add(schedule, {{"compressor", "topk"}});
  for (const char* cache : {"on", "off"})
    add("ssp", {{"compressor", "topk"}, {"cache", cache}, {"staleness", "0"}});
  return all;
}

TEST(Law16, AfterNRoundsWithoutWarmUpThroughputIsWithinOneNthOfTheLongRun) {
  for (const WholeRun& one : whole_runs()) {
    Options options = one.options;
    options["warmup"] = "8";
    options["iterations"] = "32";
    const Simulated steady = simulated(options);
    const double long_run = steady.figures.throughput_samples_per_s;
    options["warmup"] = "0";
    for (const int rounds : {1, 4}) {
      options["iterations"] = std::to_string(rounds * steady.trace.round);
      const Simulated run = simulated(options);
      EXPECT_NEAR(run.figures.throughput_samples_per_s / long_run, 1, 1.0 / rounds + 1e-6)
          << one.name << ", " << rounds << " rounds";
      EXPECT_FALSE(run.below_its_bound()) << one.name << ", " << rounds << " rounds";
    }
  }
}

// N rounds of H iterations of c seconds: each but the first with the exposed rest of the average
// before it, plus the whole of the last average: N H c + (N - 1) max(0, A - D c) + A. After a
// warm-up, each round has one exposed rest.
TEST(Law16, AWindowFromTheStartHasTheLastLateAverage) {
  const double c = 0.1, bytes = 4 * 10'000'000;
  for (const char* fidelity : {"step", "flow"})
    for (const double nic_Bps : {4e7, 4e9})
      for (const int steps : {1, 4})
        for (const int delay : {0, 1, 3}) {
          if (delay >= steps)
            continue;
          const double average_s = 2 * (bytes / 2 / nic_Bps + 2e-5);
          const double left_s = std::max(average_s - delay * c, 0.0);
          for (const int rounds : {1, 3})
            for (const bool warm : {false, true}) {
              const Simulated run =
                  simulated({{"platform", star_platform({.nodes = 2, .nic_Bps = nic_Bps})},
                             {"model", model_of({10'000'000})},
                             {"schedule", "local-sgd"},
                             {"local-steps", std::to_string(steps)},
                             {"average-delay", std::to_string(delay)},
                             {"fidelity", fidelity},
                             {"warmup", warm ? "1" : "0"},
                             {"iterations", std::to_string(rounds * steps)}});
              const double end_s = delay == 0 || warm ? left_s : average_s;
              const double seconds = rounds * steps * c + (rounds - 1) * left_s + end_s;
              EXPECT_NEAR(run.figures.throughput_samples_per_s, 2 * 10 * rounds * steps / seconds,
                          1e-5 * 20 / c)
                  << fidelity << nic_Bps << " H " << steps << " D " << delay << " N " << rounds
                  << warm;
              EXPECT_EQ(run.figures.window_iterations, rounds * steps);
              // In a ring of two each worker sends the bytes of one gradient, once per round.
              EXPECT_NEAR(run.figures.bytes_sent, bytes / steps, 1e-6 * bytes);
            }
        }
}

// One iteration: computation, half of 2 (n - 1)/n of the bytes as reduce-scatter, which a single
// unit cannot hide, and half as the gather, after which no forward follows.
TEST(Law16, AWindowFromTheStartHasTheLastGatherOfShards) {
  const double gradient = 4 * 10'000'000, nic_Bps = 1e8;
  for (const char* zero : {"1", "2"})
    for (const char* prefetch : {"0", "1"}) {
      Options options{{"platform", star_platform({.nodes = 4, .nic_Bps = nic_Bps})},
                      {"model", model_of({10'000'000})},
                      {"schedule", "fsdp"},
                      {"zero", zero},
                      {"units", "1"},
                      {"prefetch", prefetch},
                      {"warmup", "0"},
                      {"iterations", "1"}};
      const double move_s = 3 * (gradient / 4 / nic_Bps + 2e-5);
      EXPECT_NEAR(simulated(options).iteration_s(), 0.1 + 2 * move_s, 1e-5) << zero << prefetch;
      options["warmup"] = "1";
      options["iterations"] = "3";
      EXPECT_NEAR(simulated(options).iteration_s(), 0.1 + 2 * move_s, 1e-5) << zero << prefetch;
    }
}

// A single worker pushes hardly any bytes, and is answered with all parameters: c + b/B each time.
TEST(Law16, AWindowFromTheStartHasTheLastAnswer) {
  const double bytes = 4 * 10'000'000, nic_Bps = 1e8;
  for (const char* schedule : {"asp", "backup"})
    for (const int iterations : {1, 4}) {
      const Simulated run =
          simulated({{"platform", star_platform({.nodes = 1, .nic_Bps = nic_Bps, .servers = 1})},
                     {"model", model_of({10'000'000})},
                     {"schedule", schedule},
                     {"servers", "1"},
                     {"compressor", "topk"},
                     {"density", "0.0001"},
                     {"host-memory-bandwidth", "1e15"},
                     {"device", cost_table(0, 0)},
                     {"warmup", "0"},
                     {"iterations", std::to_string(iterations)}});
      EXPECT_NEAR(run.iteration_s(), 0.1 + bytes / nic_Bps, 0.001) << schedule << iterations;
    }
}

Options short_lesson(const std::string& schedule) {
  Options options{{"learn", "mlp"},
                  {"hidden", "3"},
                  {"schedule", schedule},
                  {"iterations", "40"},
                  {"warmup", "0"},
                  {"momentum", "0"},
                  {"jitter", "0.2"},
                  {"platform", star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = 4e6})}};
  options.merge(small_data());
  if (Registered<Schedule>::find(schedule).sparsifiers_only)
    options["compressor"] = "topk";
  return options;
}

// Every registered schedule, and late averages of each kind.
std::vector<WholeRun> short_lessons() {
  std::vector<WholeRun> all;
  for (const auto& [schedule, entry] : Registered<Schedule>::all())
    all.push_back({schedule, short_lesson(schedule)});
  for (const char* delay : {"1", "7"})
    for (const char* replica : {"worker", "node"})
      for (const char* mixing : {"changes", "0.5"}) {
        Options late = short_lesson("local-sgd");
        late.merge(
            Options{{"average-delay", delay}, {"replica", replica}, {"average-mixing", mixing}});
        all.push_back({std::string("local-sgd ") + delay + replica + mixing, late});
      }
  Options backup = short_lesson("backup");
  backup["backup-workers"] = "3";
  all.push_back({"backup 3", backup});
  return all;
}

// Dropped gradients were simulated, but nothing was learned from them: each part counts that much
// less.
TEST(Learning, SamplesAtTheEndAreThoseThatWereSimulated) {
  for (const WholeRun& one : short_lessons())
    for (const char* iterations : {"1", "10"})
      for (const char* warmup : {"0", "1"}) {
        Options options = one.options;
        options["iterations"] = iterations;
        options["warmup"] = warmup;
        const Simulated run = simulated(options);
        std::set<std::pair<int, int>> begun;  // by worker and iteration
        for (const Row& row : run.rows("forward"))
          begun.emplace(row.rank, row.iteration);
        const auto applied = static_cast<double>(run.rows("apply").size());
        const auto dropped = static_cast<double>(run.rows("drop").size());
        const double part = applied + dropped > 0 ? applied / (applied + dropped) : 1;
        EXPECT_NEAR(run.trace.learned->curve.back().samples,
                    static_cast<double>(begun.size()) * 4 * part, 1e-6)
            << one.name << ", " << iterations << " iterations after " << warmup;
      }
}

// With gradients near zero only weight decay changes parameters: each update multiplies them by one
// minus its rate, so the logarithm of the remaining share is the sum of all rates. The cosine
// schedule's sum is half of the constant one's, that of steps is 1/2 + 0.1/4 + 0.01/4.
TEST(Learning, RatesAreThoseOfTheirScheduleToTheEnd) {
  const auto length = [](const Learned& learned) {
    const std::vector<float>& values = learned.own_parameters_at_end.empty()
                                           ? learned.parameters_at_end
                                           : learned.own_parameters_at_end.front();
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
  };
  for (const WholeRun& one : short_lessons()) {
    if (one.options.contains("average-delay"))
      continue;  // as without a delay; and mixing loses steps
    Options options = one.options;
    options["clip-norm"] = "1e-30";
    options["weight-decay"] = "1";
    options["iterations"] = "96";
    options["evaluate-every"] = "1e9";
    if (one.name == "easgd")
      options.merge(Options{{"moving-rate", "0"}, {"period", "8"}});  // workers alone take steps
    options["learning-rate"] = "0";
    const double before = length(*simulated(options).trace.learned);
    options["learning-rate"] = "0.01";
    for (const auto& [schedule, part] :
         {std::pair("constant", 1.0), {"step", 0.5275}, {"cosine", 0.5}}) {
      if (one.name == "backup 3" && part == 1)
        continue;  // late workers skip updates: more updates than iterations
      options["learning-rate-schedule"] = schedule;
      const double after = length(*simulated(options).trace.learned);
      EXPECT_NEAR(std::log(before / after) / (96 * 0.01), part, 0.03 * part)
          << one.name << ", " << schedule;
    }
  }
}

// If a worker keeps all of its own parameters, it learns as if alone; if none, it loses the steps
// that it took while the average was on its way.
TEST(LateAverage, IsMixedWithAWorkersOwnParametersByItsWeight) {
  const auto loss = [](const char* mixing, const char* delay) {
    Options options = short_lesson("local-sgd");
    options["average-mixing"] = mixing;
    options["average-delay"] = delay;
    options["learning-rate"] = "0.02";
    return simulated(options).trace.learned->curve.back().loss;
  };
  EXPECT_EQ(loss("0", "0"), loss("changes", "0")) << "an average that is not late is all there is";
  EXPECT_LT(loss("changes", "7"), loss("0.5", "7"));
  EXPECT_LT(loss("0.5", "7"), loss("0", "7"));
}

}  // namespace
}  // namespace syncline
