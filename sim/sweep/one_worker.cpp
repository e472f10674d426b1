#include "sim/sweep/one_worker.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>

#include "kernels/io/text.h"
#include "sim/catalogue/refuse.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/simulation.h"
#include "sim/report/report.h"
#include "sim/setup/setup.h"
#include "sim/sweep/process.h"

namespace syncline {
namespace {

constexpr double exact = 1e-11;    // accuracy, as a part of the iteration
constexpr double shortest = 1e-9;  // computation, as a part of the iteration
constexpr int most_runs = 100;

Scenario of_one_worker(Scenario scenario) {
  scenario.throughput_is_of_schedule = false;
  scenario.workers = 1;
  scenario.placement = Placement::packed;  // on the first host
  scenario.accumulation = 1;
  scenario.servers = scenario.throughput_servers.value_or(scenario.servers);
  scenario.jitter = 0;
  scenario.server_jitter = 0;
  scenario.repeats = 1;
  scenario.learning = {};
  return scenario;
}

void require_fastest(const Cluster& cluster) {
  const auto fastest = std::ranges::max_element(cluster.worker_hosts, {}, &HostFacts::speed_flops);
  if (cluster.workers.front().speed_flops < fastest->speed_flops)
    refuse(
        "throughput-of = schedule: host {} of worker 0 is slower than {}, the fastest, whose rate "
        "throughput is; allowed are platforms whose first worker host is the fastest",
        cluster.workers.front().name, fastest->name);
}

// Seconds of an iteration whose computation takes `compute_s`.
double iteration_s(Scenario scenario, const PlatformFile& platform, double compute_s) {
  scenario.throughput = scenario.batch / compute_s;
  const std::string rate = run_child([&] {
    Setup setup = prepare(scenario, platform);
    choose_fidelity(setup);
    require_fastest(setup.traffic.cluster);
    return fmt::format("{:.17g}",
                       figures_of(simulate(setup), scenario.batch).throughput_samples_per_s);
  });
  return scenario.batch / number_in<double>(rate).value();
}

}  // namespace

Scenario with_computation_alone(const Scenario& scenario, const PlatformFile& platform) {
  if (!scenario.throughput_is_of_schedule)
    return scenario;
  const Scenario one = of_one_worker(scenario);
  const double measured_s = scenario.batch / *scenario.throughput;
  // The longer it computes, the longer an iteration takes. Solved by false position, in the
  // Illinois variant: the error at an end that stays is halved.
  double low_s = shortest * measured_s;
  double high_s = measured_s;
  double low = iteration_s(one, platform, low_s) - measured_s;
  double high = iteration_s(one, platform, high_s) - measured_s;
  if (low > 0)
    refuse(
        "throughput = {:g} with throughput-of = schedule: without any computation one worker and "
        "its servers do {:g} samples/s; allowed are smaller rates",
        *scenario.throughput, scenario.batch / (low + measured_s));
  double compute_s = high_s;
  int side = 0;
  for (int run = 0; run < most_runs && high > exact * measured_s; ++run) {
    compute_s = low == 0 ? low_s : (low_s * high - high_s * low) / (high - low);
    const double over = iteration_s(one, platform, compute_s) - measured_s;
    if (std::abs(over) <= exact * measured_s)
      break;
    if (over > 0) {
      high_s = compute_s;
      high = over;
      low /= side > 0 ? 2 : 1;
      side = 1;
    } else {
      low_s = compute_s;
      low = over;
      high /= side < 0 ? 2 : 1;
      side = -1;
    }
  }
  Scenario alone = scenario;
  alone.throughput = scenario.batch / compute_s;
  return alone;
}

}  // namespace syncline
