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

// Three terms of every device, fitted to the encodings and decodings of an H100 that were measured
// (kernels/profiles/h100.csv). A wait is between 478 cycles of its memory (0.27 us; Luo et al.
// 2024, arXiv 2402.13499) and what a block does before it asks again.
constexpr double wait_s = 0.5e-6;
constexpr double waits_of_chain = 2;  // of its first kernel to read and of its last one to write
constexpr double share_alone = 0.35;  // of a stream, in sectors alone in their line of 128 bytes

// How long the host waits for the device: by those who read the published codes, 10 to 20 us.
constexpr double synchronisation_s = 15e-6;

// A launch in a chain of ours on an H100, and what that is times the H200's 2.43 us between two
// launches of the smallest kernel (github.com/te42kyfo/gpu-benches gpu-small-kernels/h200.txt).
constexpr double h100_launch_s = 3.2e-6, longer = h100_launch_s / 2.43e-6;
const std::string h100_launch = "fitted to the chains that were measured on an H100";

std::string launch_source(const std::string& device, const std::string& between) {
  return "an H100's 3.2e-06 s, fitted to measured chains, times " + between +
         " us of 2.43 between two launches of the smallest kernel (gpu-benches gpu-small-kernels/" +
         device + ".txt, h200.txt)";
}

// From the same gpu-benches.
std::string stream_source(const std::string& file) {
  return "gpu-benches gpu-stream/" + file + ", triad: two reads and a write";
}

std::string copy_source(const std::string& table) {
  return "a copy, measured (kernels/profiles/" + table + ".csv)";
}

double six_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return std::strtod(text, nullptr);
}

std::string written(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

}  // namespace

const std::vector<DeviceRates>& rated_devices() {
  static const std::vector<DeviceRates> devices = {
      {"h100", "NVIDIA H100 SXM, 80 GB HBM3", 3.074e12, copy_source("h100"), h100_launch_s,
       h100_launch, 67e12},
      {"h100-pcie", "NVIDIA H100 PCIe, 80 GB HBM2e", 1.832e12, stream_source("h100_pcie.txt"),
       h100_launch_s, h100_launch, 51e12},
      {"h200", "NVIDIA H200 SXM, 141 GB HBM3e", 4.312e12, copy_source("h200"), h100_launch_s,
       h100_launch, 67e12},
      {"a100", "NVIDIA A100 SXM, 40 GB HBM2", 1.36e12, stream_source("a100_40.txt"),
       longer * 2.62e-6, launch_source("a100_80", "2.62"), 19.5e12, 64},
      {"a100-80", "NVIDIA A100 SXM, 80 GB HBM2e", 1.759e12, stream_source("a100_80.txt"),
       longer * 2.62e-6, launch_source("a100_80", "2.62"), 19.5e12, 64},
      {"v100", "NVIDIA V100 SXM2, HBM2", 0.814e12, stream_source("v100.txt, of the PCIe card"),
       h100_launch_s, h100_launch, 15.7e12, 64},
      {"l40", "NVIDIA L40, 48 GB GDDR6", 0.768e12, stream_source("l40.txt"), longer * 1.64e-6,
       launch_source("l40", "1.64"), 90.5e12},
      {"a40", "NVIDIA A40, 48 GB GDDR6", 0.653e12, stream_source("a40.txt"), h100_launch_s,
       h100_launch, 37.4e12}};
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

double DeviceRates::slots_per_s() const {
  return fp32_peak / 2 * 128 / fp32_lanes;
}

double DeviceRates::seconds(double launches, double bytes, double synchronisations) const {
  return six_digits(launches * launch_s + synchronisations * synchronisation_s +
                    bytes / stream_Bps);
}

double DeviceRates::seconds(const StreamOperations& operations) const {
  if (operations.empty())
    return 0;
  double all_s = waits_of_chain * wait_s;
  for (const StreamOperation& operation : operations) {
    const double alone = operation.read.alone + operation.written.alone;
    const double bytes = std::max(bytes_of({operation}) - alone, 0.0) + alone / share_alone;
    all_s += launch_s + operation.waits * wait_s +
             std::max(bytes / stream_Bps, operation.slots / slots_per_s());
  }
  return six_digits(all_s);
}

std::vector<std::pair<std::string, std::string>> DeviceRates::header() const {
  return {
      {"range", "p10 and p90 are " + written(usual_ends.low) + " and " + written(usual_ends.high) +
                    " times seconds, of decode-further " + written(further_ends.low) + " and " +
                    written(further_ends.high) +
                    ": 19 of 20 encodings and decodings that were measured on an H100 lie between"},
      {"stream", written(stream_Bps) + " bytes/s: " + stream_source},
      {"alone", written(share_alone) +
                    " of that rate where a sector of 32 bytes is the only one of its line of 128: "
                    "fitted to an H100's decoding"},
      {"launch", written(launch_s) + " s: " + launch_source},
      {"wait", written(wait_s) + " s: of a block for memory or at a barrier, " +
                   written(waits_of_chain) +
                   " in each chain and those of each operation; fitted to an H100"},
      {"slots", written(slots_per_s()) +
                    " per second: of 128 lanes of each multiprocessor, by the datasheet's FLOP/s; "
                    "an operation's count where they take longer than its bytes"},
      {"synchronisation", written(synchronisation_s) +
                              " s: of the host, in published code; estimated by who read it, "
                              "nobody's measurement"}};
}

}  // namespace syncline
