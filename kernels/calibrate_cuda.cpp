// Measuring on a GPU: the same table, the same checks; kernels come from the device registry.
#include <algorithm>
#include <cstdio>

#include "kernels/calibrate.h"
#include "kernels/device.h"

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

void check(const DeviceRuntime& runtime, const DeviceCompressor& device, const Cell& cell,
           std::span<const float> gradient, const State& start) {
  State expected_state = start, got_state = start;
  Message expected, got;
  const Draw draw{1, 20, 0};
  cell.compressor->reference.encode(cell.settings, gradient, draw, expected_state, expected);
  runtime.encode(device, cell.settings, gradient, draw, got_state, got);
  if (expected != got || residual(expected_state) != residual(got_state))
    throw std::runtime_error(device.name + " at " + std::to_string(gradient.size()) +
                             " elements on the device differs from its reference: not measured");
}

Timing timing_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  return {at(0.5), at(0.1), at(0.9), at(0.75) - at(0.25) < 0.02 * at(0.5)};
}

void measure(const DeviceRuntime& runtime, const Cell& cell, const std::string& distribution,
             std::size_t elements, double bandwidth, CostTable& table) {
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(cell.compressor->name);
  const std::vector<float> gradient = gradient_of(distribution, elements, 1);
  State start;
  Message message;
  for (std::uint32_t step = 0; step < (distribution == "steady" ? 10u : 1u); ++step)
    cell.compressor->cpu.encode(cell.settings, std::span<const float>(gradient), {1, step, 0},
                                start, message);
  check(runtime, device, cell, gradient, start);
  constexpr int samples = 21;
  for (const bool decode : {false, true}) {
    const Timing timing =
        timing_of(runtime.time(device, cell.settings, gradient, start, samples, decode));
    const Traffic& traffic = cell.compressor->traffic;
    const double n = static_cast<double>(elements);
    const double rate =
        n * (decode ? traffic.decode_bytes_per_element : traffic.encode_bytes_per_element) /
        timing.median;
    table.rows.push_back({device.name, written_settings(*cell.compressor, cell.settings),
                          decode ? "decode" : "encode", n, timing.median, timing.p10, timing.p90,
                          static_cast<double>(message.size()), distribution});
    std::printf("%-12s %-7s %-11s %11.0f %9.3f ms %7.1f Ge/s %7.1f GB/s %4.0f %%%s\n",
                device.name.c_str(), decode ? "decode" : "encode", distribution.c_str(), n,
                timing.median * 1e3, n / timing.median * 1e-9, rate * 1e-9, rate / bandwidth * 100,
                timing.quiet ? "" : "  noisy");
  }
}

}  // namespace

CostTable measured_on_cuda(const CalibrateOptions& options) {
  const DeviceRuntime& runtime = usable_runtime();
  CostTable table;
  table.header = runtime.about();
  const double bandwidth = runtime.copy_bandwidth();
  char text[64];
  std::snprintf(text, sizeof text, "%.4g bytes/s read and written", bandwidth);
  table.header.insert(table.header.end(), {{"date", today()},
                                           {"commit", commit()},
                                           {"copy bandwidth", text},
                                           {"provenance", "measured"},
                                           {"method",
                                            "median of 21 samples; cache written over "
                                            "before each"}});
  for (const Cell& cell : cells_of(options)) {
    if (!Registered<DeviceCompressor>::all().contains(cell.compressor->name)) {
      std::fprintf(stderr, "%s has no CUDA version: not measured\n", cell.compressor->name.c_str());
      continue;
    }
    for (const std::size_t elements : options.sizes)
      for (const std::string& distribution : options.distributions) {
        std::fprintf(stderr, "%s, %s, %zu elements\n", cell.compressor->name.c_str(),
                     distribution.c_str(), elements);
        measure(runtime, cell, distribution, elements, bandwidth, table);
      }
  }
  return table;
}

}  // namespace syncline
