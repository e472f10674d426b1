// Rates of devices, each with its source. No table for a device whose memory rate nobody measured,
// on it or on a related device: b200.
#include "kernels/calibrate/rates.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"

namespace syncline {
namespace {

// How long the host waits for the device: estimates by those who read the published codes.
constexpr LowToHigh synchronisation_s{10e-6, 15e-6, 20e-6};

// Share of the additions and multiplications that a device could issue. Nothing is contracted, so
// the peak is half of the datasheet's; a kernel also loads what it multiplies, and counts. Reasoned
// (kernels/gpu/README.md).
constexpr LowToHigh share_of_peak{0.3, 0.45, 1};

// How long a block waits for memory that it asked for. Low: 478 cycles of an H100's memory, Luo et
// al. 2024 (arXiv 2402.13499). The other two add what kernels here do before they ask again
// (reasoned).
constexpr LowToHigh wait_s{0.27e-6, 0.4e-6, 0.7e-6};

// All from github.com/te42kyfo/gpu-benches, in GB/s.
const std::string streams =
    "; typical is triad (two reads and a write, as encoding with error feedback does), low and "
    "high are the least and the most of reading, scale and triad";
const std::string chains =
    "; typical is back to back, low is in a CUDA graph, where launches do not wait for the host; "
    "high is above all that was measured";
const std::string launches_elsewhere =
    "not measured on this device: of others, gpu-benches gpu-small-kernels/h200.txt and "
    "h200_graph.txt" +
    chains;

std::string stream_source(const std::string& file) {
  return "gpu-benches gpu-stream/" + file + streams;
}

std::string launch_source(const std::string& device) {
  return "gpu-benches gpu-small-kernels/" + device + ".txt and " + device + "_graph.txt" + chains;
}

std::string cache_source(const std::string& file) {
  return "gpu-benches gpu-l2-cache/" + file;
}

double six_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return std::strtod(text, nullptr);
}

std::string written(const LowToHigh& range, const char* unit) {
  char text[96];
  std::snprintf(text, sizeof text, "%.4g %s, from %.4g to %.4g", range.typical, unit, range.low,
                range.high);
  return text;
}

}  // namespace

const std::vector<DeviceRates>& rated_devices() {
  static const std::vector<DeviceRates> devices = {
      {"h100",
       "NVIDIA H100 SXM, 80 GB HBM3",
       // 3.35e12 x 3534/4800, x 1759/2039, x 1832/2039
       {2.47e12, 2.89e12, 3.01e12},
       "not measured: 3.35e12 nominal times the share that triad reaches elsewhere (gpu-benches "
       "gpu-stream): low H200 3534 of 4800, typical A100 80 GB 1759 of 2039, high H100 PCIe 1832 "
       "of 2039",
       {1.26e-6, 2.43e-6, 3e-6},
       launches_elsewhere,
       67e12,
       25.6e6,
       6.892e12,
       cache_source("h100_pcie.txt, of the PCIe card")},
      {"h100-pcie",
       "NVIDIA H100 PCIe, 80 GB HBM2e",
       {1.704e12, 1.832e12, 1.942e12},
       stream_source("h100_pcie.txt"),
       {1.26e-6, 2.43e-6, 3e-6},
       launches_elsewhere,
       51e12,
       25.6e6,
       6.892e12,
       cache_source("h100_pcie.txt")},
      {"h200",
       "NVIDIA H200 SXM, 141 GB HBM3e",
       {2.756e12, 3.534e12, 3.534e12},
       stream_source("h200.txt"),
       {1.26e-6, 2.43e-6, 3e-6},
       launch_source("h200"),
       67e12,
       40.448e6,
       9.666e12,
       cache_source("h200.txt")},
      {"a100",
       "NVIDIA A100 SXM, 40 GB HBM2",
       {1.36e12, 1.36e12, 1.49e12},
       stream_source("a100_40.txt"),
       {1.34e-6, 2.62e-6, 3e-6},
       launch_source("a100_80"),
       19.5e12,
       25.6e6,
       5.376e12,
       cache_source("a100_80.txt, of the 80 GB card")},
      {"a100-80",
       "NVIDIA A100 SXM, 80 GB HBM2e",
       {1.732e12, 1.759e12, 1.769e12},
       stream_source("a100_80.txt"),
       {1.34e-6, 2.62e-6, 3e-6},
       launch_source("a100_80"),
       19.5e12,
       25.6e6,
       5.376e12,
       cache_source("a100_80.txt")},
      {"v100",
       "NVIDIA V100 SXM2, HBM2",
       {0.802e12, 0.814e12, 0.866e12},
       stream_source("v100.txt, of the PCIe card"),
       {1.26e-6, 2.43e-6, 3e-6},
       launches_elsewhere,
       15.7e12},
      {"l40",
       "NVIDIA L40, 48 GB GDDR6",
       {0.768e12, 0.768e12, 0.844e12},
       stream_source("l40.txt"),
       {0.94e-6, 1.64e-6, 3e-6},
       launch_source("l40"),
       90.5e12},
      {"a40",
       "NVIDIA A40, 48 GB GDDR6",
       {0.652e12, 0.653e12, 0.679e12},
       stream_source("a40.txt"),
       {1.26e-6, 2.43e-6, 3e-6},
       launches_elsewhere,
       37.4e12}};
  return devices;
}

std::vector<std::string> rated_names() {
  std::vector<std::string> names;
  for (const DeviceRates& device : rated_devices())
    names.push_back(device.name);
  return names;
}

const DeviceRates& rated_device(const std::string& name) {
  for (const DeviceRates& device : rated_devices())
    if (device.name == name)
      return device;
  throw std::invalid_argument("no modelled device '" + brief(name) + "': allowed are " +
                              listed(rated_names()));
}

LowToHigh DeviceRates::seconds(double launches, double bytes, double synchronisations) const {
  const auto all_s = [&](double launch, double synchronisation, double rate_Bps) {
    return six_digits(launches * launch + synchronisations * synchronisation + bytes / rate_Bps);
  };
  return {all_s(launch_s.low, synchronisation_s.low, fastest_Bps(bytes)),
          all_s(launch_s.typical, synchronisation_s.typical, stream_Bps.typical),
          all_s(launch_s.high, synchronisation_s.high, stream_Bps.low)};
}

LowToHigh DeviceRates::seconds(const StreamOperations& operations) const {
  const double bytes = bytes_of(operations);
  const LowToHigh moved = seconds(static_cast<double>(operations.size()), bytes, 0);
  const auto longer_s = [&](double rate_Bps, double share, double each_wait_s) {
    double longer = 0;
    for (const StreamOperation& operation : operations)
      longer += std::max(std::max(operation.instructions / (share * fp32_peak / 2),
                                  operation.waits * each_wait_s) -
                             bytes_of({operation}) / rate_Bps,
                         0.0);
    return longer;
  };
  return {six_digits(moved.low + longer_s(fastest_Bps(bytes), share_of_peak.high, wait_s.low)),
          six_digits(moved.typical +
                     longer_s(stream_Bps.typical, share_of_peak.typical, wait_s.typical)),
          six_digits(moved.high + longer_s(stream_Bps.low, share_of_peak.low, wait_s.high))};
}

std::vector<std::pair<std::string, std::string>> DeviceRates::header() const {
  char cache[96] = "its rate is not measured, so nothing comes from there";
  if (cache_bytes > 0)
    std::snprintf(cache, sizeof cache, "%.4g bytes/s for operations that move up to %.4g bytes, ",
                  cache_Bps, cache_bytes);
  return {
      {"range",
       "seconds has the typical figures below, p10 the fast and p90 the slow ends of all: no "
       "spread of measurements. What kernels lose beside bytes, launches and waiting (serial "
       "parts, "
       "polling, divisions) is in none of them"},
      {"stream", written(stream_Bps, "bytes/s") + ": " + stream_source},
      {"launch", written(launch_s, "s") + ": " + launch_source},
      {"synchronisation", written(synchronisation_s, "s") +
                              ": of the host, in published code; estimated by who read it, "
                              "nobody's measurement"},
      {"arithmetic",
       written({share_of_peak.low * fp32_peak / 2, share_of_peak.typical * fp32_peak / 2,
                share_of_peak.high * fp32_peak / 2},
               "FLOP/s") +
           ": half of the datasheet's peak, as nothing is contracted, times a share by reasoning; "
           "counts where it takes longer than an operation's bytes: dct-topk's transforms, and the "
           "decoding of several messages at once"},
      {"wait", written(wait_s, "s") +
                   ": of a block that decodes several messages, between one and the next; low: 478 "
                   "cycles of an H100's memory (arXiv 2402.13499), the others by reasoning; counts "
                   "where it takes longer than an operation's bytes"},
      {"L2", cache + (cache_bytes > 0 ? "in p10 alone: " + cache_source +
                                            ", reading; a bucket that backward has just made may "
                                            "be there, one that is read cold is not"
                                      : "")}};
}

}  // namespace syncline
