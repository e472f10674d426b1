// Law 25 (tests/laws/README.md): no run beats the lower bound of `explain`, links are as full as
// they can be, and closed forms give the seconds of steps.
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>

#include "sim/schedule.h"
#include "tests/laws/awkward.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// SYNCLINE_CELLS=1000 runs the same test on more cells.
int cells(int otherwise) {
  const char* given = std::getenv("SYNCLINE_CELLS");
  return given == nullptr ? otherwise : std::atoi(given);
}

// Two hosts joined by one link in each direction, with these attributes.
std::string two_hosts(const std::string& there, const std::string& back) {
  return written_platform(
      "<?xml version=\"1.0\"?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n"
      "<host id=\"a\" speed=\"1e12f\"/>\n<host id=\"b\" speed=\"1e12f\"/>\n"
      "<link id=\"there\" " +
      there + "/>\n<link id=\"back\" " + back +
      "/>\n"
      "<route src=\"a\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"there\"/></route>\n"
      "<route src=\"b\" dst=\"a\" symmetrical=\"NO\"><link_ctn id=\"back\"/></route>\n"
      "</zone>\n</platform>\n");
}

std::string profile_file(const std::string& rows) {
  const std::string path = written_platform(rows);
  return path.substr(path.rfind('/') + 1);
}

// 1e8 B/s for 3 s, then 3e8 B/s for 1 s, repeating: 6e8 bytes in 4 s. A ring of two sends 1e8 bytes
// each way in an iteration whose computation takes 1e-8 s, so the link is full all the time,
// whatever its bandwidth at the end. Once, it was "133 % full" or below its bound.
TEST(Law25, ALinkIsAsFullAsItsProfileLetsItBe) {
  const std::string profile = profile_file("PERIODICITY 4\n0 1e8\n3 3e8\n");
  for (const char* iterations : {"6", "9", "10", "36"}) {
    const Options options{
        {"platform",
         two_hosts("bandwidth=\"1e9Bps\" latency=\"0\" bandwidth_file=\"" + profile + "\"",
                   "bandwidth=\"1e9Bps\" latency=\"0\"")},
        {"model", model_of({25'000'000})},
        {"bucket-bytes", "all"},
        {"throughput", "1e9"},
        {"fidelity", "step"},
        {"warmup", "0"},
        {"iterations", iterations}};
    const Simulated run = simulated(options);
    const double bytes = 1e8 * std::atof(iterations);
    const double whole = std::floor(bytes / 6e8);
    const double rest = bytes - whole * 6e8;
    const double seconds = 4 * whole + (rest < 3e8 ? rest / 1e8 : 3 + (rest - 3e8) / 3e8);
    EXPECT_NEAR(run.trace.end_s, seconds, 1e-3) << iterations;
    ASSERT_FALSE(run.figures.busiest_links.empty());
    EXPECT_EQ(run.figures.busiest_links.front().name, "there");
    EXPECT_NEAR(run.figures.busiest_links.front().utilisation, 1, 1e-3) << iterations;
    EXPECT_NEAR(run.figures.bound_link_s * std::atof(iterations), seconds, 1e-3) << iterations;
    EXPECT_FALSE(run.below_its_bound()) << iterations;
    for (const LinkUse& link : run.trace.links)
      for (std::size_t i = 0; i < link.sampled_bytes.size(); ++i)
        EXPECT_LE(link.bandwidth.part_used(link.sampled_bytes[i],
                                           static_cast<double>(i) * run.trace.sample_s,
                                           static_cast<double>(i + 1) * run.trace.sample_s),
                  1 + 1e-6);
    // At the highest bandwidth that the link ever has.
    EXPECT_NEAR(predicted(options).bound_s, 1e8 / 3e8, 1e-9);
  }
}

// Before the first row of its profile a link has its own bandwidth, after the last row that row's.
TEST(Law25, AProfileBeginsLateAndEnds) {
  const Simulated run =
      simulated({{"platform", two_hosts("bandwidth=\"1e8Bps\" latency=\"0\" bandwidth_file=\"" +
                                            profile_file("2 4e8\n3 2e8\n") + "\"",
                                        "bandwidth=\"1e9Bps\" latency=\"0\"")},
                 {"model", model_of({25'000'000})},
                 {"bucket-bytes", "all"},
                 {"throughput", "1e7"},
                 {"fidelity", "step"},
                 {"warmup", "0"},
                 {"iterations", "10"}});
  EXPECT_NEAR(run.trace.end_s, 2 + 1 + 4e8 / 2e8, 1e-3);
  EXPECT_NEAR(run.figures.busiest_links.front().utilisation, 1, 1e-3);
  EXPECT_NEAR(run.figures.bound_link_s, 0.5, 1e-3);
}

// SimGrid 3.32 would go on to limit each flow by the 1 MB/s with which it began: 100 s.
TEST(Law25, ARisingBandwidthIsUsedAtOnce) {
  const auto rising = [] {
    return "bandwidth=\"1e6Bps\" latency=\"0\" bandwidth_file=\"" +
           profile_file("0 1e6\n0.01 1e9\n") + "\"";
  };
  for (const auto& [exchange, fidelity] :
       {std::pair("ring", "flow"), {"ring", "step"}, {"halving-doubling", "flow"}})
    for (const std::string& back : {rising(), std::string("bandwidth=\"1e9Bps\" latency=\"0\"")}) {
      const Simulated run = simulated({{"platform", two_hosts(rising(), back)},
                                       {"model", model_of({25'000'000})},
                                       {"bucket-bytes", "all"},
                                       {"throughput", "1e9"},
                                       {"exchange", exchange},
                                       {"fidelity", fidelity},
                                       {"warmup", "0"},
                                       {"iterations", "1"}});
      EXPECT_NEAR(run.trace.end_s, 0.01 + (1e8 - 0.01 * 1e6) / 1e9, 1e-6) << exchange;
    }
}

// Four hosts, each of which sends 2 · 3/4 of 1e8 bytes to the next: 1.5 s on a core that limits
// each flow to 1e8 B/s, and 0.15 s on each card.
TEST(Law25, AFatpipeCoreIsTheBusiestLinkWhereItLimitsFlows) {
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n";
  for (const char* host : {"a", "b", "c", "d"})
    xml += "<host id=\"" + std::string(host) + "\" speed=\"1e12f\"/><link id=\"" + host +
           "-card\" bandwidth=\"1e9Bps\" latency=\"0\" sharing_policy=\"SPLITDUPLEX\"/>\n";
  xml += "<link id=\"core\" bandwidth=\"1e8Bps\" latency=\"0\" sharing_policy=\"FATPIPE\"/>\n";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"}, {"a", "c"}, {"a", "d"}, {"b", "c"}, {"b", "d"}, {"c", "d"}})
    xml += "<route src=\"" + from + "\" dst=\"" + to + "\"><link_ctn id=\"" + from +
           "-card\" direction=\"UP\"/><link_ctn id=\"core\"/><link_ctn id=\"" + to +
           "-card\" direction=\"DOWN\"/></route>\n";
  const Options options{{"platform", written_platform(xml + "</zone>\n</platform>\n")},
                        {"model", model_of({25'000'000})},
                        {"bucket-bytes", "all"},
                        {"throughput", "20"},  // 0.5 s
                        {"overlap", "off"},
                        {"fidelity", "step"}};
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), 0.5 + 1.5, 1e-6);
  EXPECT_EQ(run.figures.busiest_links.front().name, "core");
  EXPECT_NEAR(run.figures.busiest_links.front().utilisation, 1.5 / 2, 1e-6);
  EXPECT_NE(run.figures.bottleneck.find("core, is 75 % full"), std::string::npos)
      << run.figures.bottleneck;
  EXPECT_EQ(predicted(options).busiest_link, "core");
  EXPECT_NEAR(predicted(options).bound_s, 1.5, 1e-9);
}

// 1 ms there and 10 ms back. `gtopk` sends a list from b to a, and one from a to b: 11 ms. Once,
// `explain` charged a's receive with the latency of its sending direction: 20 ms.
TEST(Law25, AReceiveIsChargedByTheWayThatItComes) {
  const Options options{{"platform", two_hosts("bandwidth=\"1e12Bps\" latency=\"1ms\"",
                                               "bandwidth=\"1e12Bps\" latency=\"10ms\"")},
                        {"model", model_of({1000})},
                        {"device", cost_table(0, 0)},
                        {"schedule", "bsp"},
                        {"exchange", "gtopk"},
                        {"compressor", "topk"},
                        {"bucket-bytes", "all"}};
  EXPECT_NEAR(predicted(options).exchange_s, 0.011, 1e-6);
}

// Four hosts, one server on each, routes of 20 ms, 135 partitions of 5.5e8 bytes. A card carries 2
// · 3/4 of them, and only one round trip to the server shows: what was pushed in the first 20 ms is
// still to be pulled at the end, so that each card idles for one way only.
TEST(Law25, APipelinePaysLatencyOnce) {
  const Options options{
      {"platform", star_platform({.nodes = 4, .nic_Bps = 1.25e9, .nic_latency_s = 0.01})},
      {"model", model_of({138'000'000})},
      {"exchange", "ps"},
      {"bucket-bytes", "all"}};
  const double bytes_s = 1.5 * 4 * 138e6 / 1.25e9;
  EXPECT_GE(predicted(options).exchange_s, bytes_s + 0.02 - 1e-9);
  EXPECT_LE(predicted(options).exchange_s, bytes_s + 0.04 + 0.005);  // plus one partition
}

// Options of a random cell on an awkward platform, with any schedule, exchange and compressor.
Options drawn_cell(Draws& draws, const AwkwardPlatform& platform) {
  Options options{{"platform", platform.path},
                  {"throughput", draws.of<std::string>({"1000", "1e4", "1e6"})},
                  {"model", model_of({draws.of<std::uint64_t>({300, 50'000, 2'000'000}),
                                      draws.of<std::uint64_t>({1000, 700'000}), 30'000})},
                  {"bucket-bytes", draws.of<std::string>({"0", "all"})},
                  {"overlap", draws.of<std::string>({"on", "off"})},
                  {"fidelity", draws.of<std::string>({"step", "flow"})},
                  {"iterations", draws.of<std::string>({"2", "5"})},
                  {"warmup", draws.of<std::string>({"0", "1"})}};
  std::vector<std::string> schedules;
  for (const auto& [name, schedule] : Registered<Schedule>::all())
    schedules.push_back(name);
  const std::string schedule = draws.of(schedules);
  options["schedule"] = schedule;
  const Schedule& chosen = Registered<Schedule>::find(schedule);
  std::string compressor = draws.of<std::string>({"none", "none", "topk", "qsgd"});
  if (chosen.defaults.contains("compressor"))
    compressor = "topk";
  else if (!takes(chosen, compressor))
    compressor = "none";
  else
    options["compressor"] = compressor;
  if (chosen.chooses_exchange())
    options["exchange"] = draws.of(exchanges_for(compressor));
  if (chosen.answer != nullptr)  // every other worker asks, the others answer
    options["workers"] = std::to_string(platform.workers / 2 * 2);
  return options;
}

TEST(Law25, NoRunIsFasterThanItsBounds) {
  const int count = cells(200);
  int looked_at = 0;
  int near = 0;
  for (int seed = 0; seed < count; ++seed) {
    Draws draws(static_cast<std::uint64_t>(seed));
    const AwkwardPlatform platform = awkward_platform(draws, true);
    Options options = drawn_cell(draws, platform);
    const bool jitter = draws.one_in(4);
    if (jitter)
      options["jitter"] = "0.3";
    std::string about = std::to_string(seed) + ":";
    for (const auto& [name, value] : options)
      about += " " + name + "=" + value;
    const Simulated run = simulated(options);
    EXPECT_FALSE(run.below_its_bound()) << about << run.figures.warnings.back().text;
    // If a short window ends within an iteration or a round, its bytes are known only roughly.
    if (run.trace.in_step && options.at("schedule") != "local-sgd") {
      const Window& window = run.trace.window;
      for (const LinkUse& link : run.trace.links) {
        const double bytes = link.fatpipe ? link.measured_flow_bytes : link.measured_bytes;
        EXPECT_LE(link.bandwidth.part_used(bytes, window.from_s, window.to_s),
                  link.fatpipe ? HUGE_VAL : 1.05)  // its flows may overlap
            << about << " " << link.name;
      }
    }
    ++looked_at;
    // With jitter some iterations are shorter than the mean; with neighbours bounds are of long
    // runs.
    if (jitter || Registered<Schedule>::find(options.at("schedule")).neighbours != nullptr)
      continue;
    const double bound_s = predicted(options).bound_s;
    EXPECT_GE(run.figures.run_iteration_s, bound_s * (1 - 1e-6)) << about;
    near += run.figures.run_iteration_s < 2 * bound_s ? 1 : 0;
  }
  EXPECT_EQ(looked_at, count);
  EXPECT_GT(near, count / 10);  // the bound is not trivially low
}

// One exchange that all workers begin together, in steps.
TEST(Law25, ClosedFormsAreWhatStepsTake) {
  const int count = cells(60);
  for (int seed = 0; seed < count; ++seed) {
    Draws draws(1'000'000 + static_cast<std::uint64_t>(seed));
    const AwkwardPlatform platform = awkward_platform(draws, false);
    const std::string exchange = draws.of(exchanges_for("none"));
    const std::uint64_t parameters = draws.of<std::uint64_t>({250, 250'000, 5'000'000});
    const Options options{{"platform", platform.path},
                          {"model", model_of({parameters})},
                          {"throughput", "1e5"},
                          {"exchange", exchange},
                          {"fidelity", "step"},
                          {"iterations", "1"},
                          {"warmup", "0"}};
    const Predicted closed = predicted(options);
    EXPECT_FALSE(closed.about);
    const double ratio = closed.exchange_s / (simulated(options).trace.end_s - 1e-4);
    EXPECT_NEAR(ratio, 1, 0.05) << seed << " " << exchange << " " << parameters;
  }
}

}  // namespace
}  // namespace syncline
