// Measuring on a GPU: the same table, the same checks; kernels come from the device registry.
#include <cstdio>

#include "kernels/arithmetic/keys.h"
#include "kernels/calibrate/calibrate.h"
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

// On large tensors the reference takes minutes, in which a GPU would only wait.
constexpr std::size_t large = std::size_t{1} << 24;

// The bytes of the message. They must equal the reference's, or, on a large tensor, those of the
// CPU version, which tests compare with the reference.
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

struct Run {  // one table in the making
  const DeviceRuntime& runtime;
  double bandwidth = 0;
  int noisy = 0;
  CostTable table = {};

  void add(const std::string& name, const std::string& settings, const char* operation,
           std::size_t elements, double bytes_moved, double wire_bytes,
           const std::string& distribution, const Timing& timing) {
    const double n = static_cast<double>(elements), rate = bytes_moved / timing.median;
    noisy += timing.quiet ? 0 : 1;
    table.rows.push_back({name, settings, operation, n, timing.median, timing.p10, timing.p90,
                          wire_bytes, distribution});
    std::printf("%-22s %-19s %-11s %11.0f %9.3f ms %7.1f Ge/s %7.1f GB/s %4.0f %%%s\n",
                name.c_str(), operation, distribution.c_str(), n, timing.median * 1e3,
                n / timing.median * 1e-9, rate * 1e-9, rate / bandwidth * 100,
                timing.quiet ? "" : "  noisy");
  }
};

constexpr double patience_seconds = 5, small_spread = 0.02;

void measure(const Cell& cell, const std::string& distribution, std::size_t elements, Run& run) {
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(cell.compressor->name);
  const Values gradient = gradient_of(distribution, elements, 1);
  const State start = starting_state(cell, distribution, elements);
  const double bytes = check(run.runtime, device, cell, gradient, start);
  for (const bool decode : {false, true}) {
    const Timing timing =
        timed_samples(run.runtime.sampler(device, cell.settings, gradient, start, decode),
                      patience_seconds, small_spread);
    const MemoryTraffic& traffic = cell.compressor->traffic;
    const auto& enqueued = decode ? traffic.decode : traffic.encode;
    const double moved = enqueued ? bytes_of(enqueued(cell.settings, elements)) : 0.0;
    run.add(device.name, written_settings(*cell.compressor, cell.settings),
            decode ? "decode" : "encode", elements, moved, bytes, distribution, timing);
  }
}

// A baseline is told this of its settings: how many elements the cell sends, or its rank.
std::size_t size_of(const Cell& cell, std::size_t elements) {
  if (has_density(*cell.compressor))
    return wanted(density_of(cell.settings), elements);
  return declares(cell.compressor->options, "rank")
             ? static_cast<std::size_t>(cell.settings.number("rank"))
             : 0;
}

const std::string published = "published-";

// The published code of this compressor, where there is a chain of its operations.
void measure_as_published(const Cell& cell, std::size_t elements, Run& run) {
  const Compressor& compressor = *cell.compressor;
  const auto found = Registered<DeviceBaseline>::all().find(published + compressor.name);
  if (found == Registered<DeviceBaseline>::all().end())
    return;
  const Values gradient = gradient_of("gauss", elements, 1);
  run.add(
      compressor.name, written_settings(compressor, cell.settings), "encode-as-published", elements,
      static_cast<double>(elements) * found->second.bytes_per_element,
      compressor.wire_bytes(cell.settings, elements, Precision::fp32).bytes, "gauss",
      timed_samples(run.runtime.baseline_sampler(found->second, gradient, size_of(cell, elements)),
                    patience_seconds, small_spread));
}

// A user would pick these without us.
void measure_baselines(std::size_t elements, const std::string& density, Run& run) {
  const Values gradient = gradient_of("gauss", elements, 1);
  const std::size_t k = wanted(std::stod(density), elements);
  for (const auto& [name, baseline] : Registered<DeviceBaseline>::all()) {
    if (name.starts_with(published))
      continue;
    std::fprintf(stderr, "%s, %zu elements\n", name.c_str(), elements);
    run.add(name, "density=" + density, "encode", elements,
            static_cast<double>(elements) * baseline.bytes_per_element, 8 * static_cast<double>(k),
            "gauss",
            timed_samples(run.runtime.baseline_sampler(baseline, gradient, k), patience_seconds,
                          small_spread));
  }
}

}  // namespace

CostTable measured_on_cuda(const CalibrateOptions& options) {
  const DeviceRuntime& runtime = usable_runtime();
  Run run{runtime, runtime.copy_bandwidth()};
  for (const std::size_t elements : options.sizes) {
    for (const Cell& cell : cells_of(options)) {
      const std::string& name = cell.compressor->name;
      if (!Registered<DeviceCompressor>::all().contains(name)) {
        std::fprintf(stderr, "%s has no CUDA version: not measured\n", name.c_str());
        continue;
      }
      for (const std::string& distribution : options.distributions) {
        std::fprintf(stderr, "%s, %s, %zu elements\n", name.c_str(), distribution.c_str(),
                     elements);
        measure(cell, distribution, elements, run);
      }
      if (options.baselines)
        measure_as_published(cell, elements, run);
    }
    if (options.baselines)
      measure_baselines(elements, options.densities.back(), run);
  }
  run.table.header = runtime.about();
  finish_header(run.bandwidth, "cache written over", run.noisy, "2 %", run.table);
  return run.table;
}

}  // namespace syncline
