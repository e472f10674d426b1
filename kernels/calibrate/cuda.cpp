// Measures on a GPU: the same table and the same checks; kernels come from the device registry.
#include <algorithm>
#include <cstdio>

#include "kernels/arithmetic/keys.h"
#include "kernels/calibrate/growing_table.h"
#include "kernels/gpu/device.h"

namespace syncline {
namespace {

const DeviceRuntime& usable_runtime() {
  if (Registered<DeviceRuntime>::all().empty())
    throw std::invalid_argument(
        "--device cuda: this build has no CUDA kernels (no nvcc at configure time): allowed is "
        "cpu");
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  const std::string absence = runtime.absence();
  if (!absence.empty())
    throw std::invalid_argument("--device cuda: " + absence + ": allowed here is cpu");
  return runtime;
}

// Above this size results are compared with the CPU version: the reference takes seconds to
// minutes, in which the GPU would only wait.
constexpr std::size_t large = std::size_t{1} << 22;

// Returns the bytes of the message, which must equal those of the reference or, on a large tensor,
// of the CPU version, which tests compare with the reference.
double check(const DeviceRuntime& runtime, const DeviceCompressor& device, const Cell& cell,
             std::span<const float> gradient, const State& start) {
  State expected_state = start, got_state = start;
  Message expected, got;
  const Draw draw{1, 20, 0};
  const Codec& codec = gradient.size() > large ? cell.compressor->cpu : cell.compressor->reference;
  codec.encode(cell.settings, gradient, draw, expected_state, expected);
  runtime.encode(device, cell.settings, gradient, draw, got_state, got);
  if (expected != got || !same_residual(expected_state, got_state))
    throw std::runtime_error(device.name + " at " + std::to_string(gradient.size()) +
                             " elements on the device differs from the CPU: not measured");
  return static_cast<double>(got.size());
}

constexpr double patience_seconds = 5, small_spread = 0.02, warm_seconds = 1;

// Times on a device at its working clocks: the device works for a second before the first timing,
// and before each other one for as long as it was idle while the CPU made and checked data.
class WarmTimer {
 public:
  explicit WarmTimer(const DeviceRuntime& runtime)
      : runtime_(runtime), idle_MHz_(runtime.clock_MHz()) {
    runtime_.work_for(warm_seconds);
  }

  Timing timed(const std::function<double()>& sample) {
    runtime_.work_for(std::min(seconds_since(busy_until_), warm_seconds));
    const Timing timing = timed_samples(sample, patience_seconds, small_spread);
    clocks_MHz_.push_back(runtime_.clock_MHz());
    busy_until_ = Clock::now();
    return timing;
  }

  HeaderLines notes() const {
    if (clocks_MHz_.empty())
      return {};
    std::vector<double> sorted = clocks_MHz_;
    std::ranges::sort(sorted);
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.0f to %.0f MHz after each timing, median %.0f, %zu timings; %.0f MHz before "
                  "the device was warmed up",
                  sorted.front(), sorted.back(), sorted[sorted.size() / 2], sorted.size(),
                  idle_MHz_);
    return {{clocks_key, text}};
  }

 private:
  const DeviceRuntime& runtime_;
  double idle_MHz_ = 0;
  std::vector<double> clocks_MHz_ = {};
  Clock::time_point busy_until_ = Clock::now();
};

struct CudaRun {  // one table being made
  const DeviceRuntime& runtime;
  WarmTimer& timer;
  GrowingTable& table;
};

void measure(const Cell& cell, const std::string& distribution, std::size_t elements,
             const CudaRun& run) {
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(cell.compressor->name);
  const Values gradient = gradient_of(distribution, elements, 1);
  const State start = starting_state(cell, distribution, elements);
  const double bytes = check(run.runtime, device, cell, gradient, start);
  const MemoryTraffic& traffic = cell.compressor->traffic;
  const auto time_of = [&](std::size_t decoded_messages) {
    return run.timer.timed(
        run.runtime.sampler(device, cell.settings, gradient, start, decoded_messages));
  };
  const auto decoding_moves = [&](std::size_t messages) {
    return traffic.decode ? bytes_of(traffic.decode(cell.settings, elements, messages)) : 0.0;
  };
  const auto add = [&](const std::string& operation, double moved, const Timing& timing) {
    run.table.add(device.name, written_settings(*cell.compressor, cell.settings), operation,
                  elements, moved, bytes, distribution, timing);
  };
  add("encode", traffic.encode ? bytes_of(traffic.encode(cell.settings, elements)) : 0.0,
      time_of(0));
  const Timing one = time_of(1);
  add("decode", decoding_moves(1), one);
  add(further_operation,
      (decoding_moves(messages_of_slope) - decoding_moves(1)) / (messages_of_slope - 1),
      further_message(one, time_of(messages_of_slope)));
}

// Measures what a user would run without this project.
void measure_baseline(const DeviceBaseline& baseline, std::size_t elements,
                      const std::string& density, const CudaRun& run) {
  const Values gradient = gradient_of("gauss", elements, 1);
  const std::size_t k = wanted(std::stod(density), elements);
  run.table.add(baseline.name, "density=" + density, "encode", elements,
                static_cast<double>(elements) * baseline.bytes_per_element,
                8 * static_cast<double>(k), "gauss",
                run.timer.timed(run.runtime.baseline_sampler(baseline, gradient, k)));
}

std::vector<Measurement> measurements_of(const CalibrateOptions& options, const CudaRun& run) {
  std::vector<Measurement> all;
  for (const std::size_t elements : options.sizes) {
    const double n = static_cast<double>(elements);
    for (const Cell& cell : cells_of(options)) {
      const std::string& name = cell.compressor->name;
      if (!Registered<DeviceCompressor>::all().contains(name))
        continue;
      for (const std::string& distribution : options.distributions)
        all.push_back({name, distribution, elements, rows_of(cell, elements, distribution),
                       [=, &run] { measure(cell, distribution, elements, run); }});
    }
    const std::string& density = options.densities.back();
    for (const auto& [name, baseline] : Registered<DeviceBaseline>::all())
      if (const DeviceBaseline* one = &baseline; options.baselines)
        all.push_back({one->name,
                       "gauss",
                       elements,
                       {{one->name, "density=" + density, "encode", n, "gauss"}},
                       [=, &run] { measure_baseline(*one, elements, density, run); }});
  }
  return all;
}

}  // namespace

int measure_on_cuda(const CalibrateOptions& options) {
  const DeviceRuntime& runtime = usable_runtime();
  for (const std::string& name : options.compressors)
    if (!Registered<DeviceCompressor>::all().contains(name))
      std::fprintf(stderr, "%s has no CUDA version: not measured\n", name.c_str());
  for (const Cell& cell : cells_of(options)) {
    const auto found = Registered<DeviceCompressor>::all().find(cell.compressor->name);
    if (found != Registered<DeviceCompressor>::all().end() && found->second.check)
      found->second.check(cell.settings);
  }
  GrowingTable table(options, runtime.about());
  WarmTimer timer(runtime);
  const CudaRun run{runtime, timer, table};
  return table.measure(measurements_of(options, run),
                       {.copy_bandwidth = runtime.copy_bandwidth(),
                        .cold_cache = "chains enqueued before they begin, four times the L2 read",
                        .small_spread = "2 %",
                        .notes = [&] { return timer.notes(); },
                        .lost = runtime.absence});
}

}  // namespace syncline
