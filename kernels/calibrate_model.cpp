// Tables for devices that are not at hand: traffic floors over bandwidth, plus launch costs. The
// formula stands in the header of every table, and the provenance says `modelled`.
#include "kernels/calibrate.h"

namespace syncline {
namespace {

struct ModelledDevice {
  std::string name, sentence;
  double bytes_per_second = 0;  // what a copy reaches, 88 to 90 % of nominal (kernels.md section 3)
};

const ModelledDevice& device_named(const std::string& name) {
  static const std::vector<ModelledDevice> devices = {
      {"h100", "NVIDIA H100 SXM, 80 GB HBM3", 3.0e12},
      {"a100", "NVIDIA A100 SXM, 80 GB HBM2e", 1.75e12},
      {"v100", "NVIDIA V100 SXM2, HBM2", 0.80e12}};
  for (const ModelledDevice& device : devices)
    if (device.name == name)
      return device;
  throw std::invalid_argument("no modelled device '" + name + "': allowed are h100, a100 or v100");
}

constexpr double launch_seconds = 3e-6;  // one kernel
constexpr double sync_seconds = 15e-6;   // one host synchronisation of a published code

}  // namespace

CostTable modelled(const CalibrateOptions& options) {
  const ModelledDevice& device = device_named(options.model);
  CostTable table;
  char bandwidth[64];
  std::snprintf(bandwidth, sizeof bandwidth, "%.4g bytes/s assumed", device.bytes_per_second);
  table.header = {{"device", device.sentence},
                  {"driver", "none"},
                  {"toolkit", "none"},
                  {"date", today()},
                  {"commit", commit()},
                  {"copy bandwidth", bandwidth},
                  {"provenance", "modelled"},
                  {"formula",
                   "seconds = kernels x 3e-6 + syncs x 15e-6 + elements x bytes per element / copy "
                   "bandwidth; kernels, syncs and bytes from kernels/<compressor>.cpp (traffic)"},
                  {"operations",
                   "encode and decode are kernels of ours at their traffic floor; "
                   "encode-as-published is the papers' own code with its temporaries"}};
  for (const Cell& cell : cells_of(options)) {
    const Compressor& compressor = *cell.compressor;
    const Traffic& traffic = compressor.traffic;
    const std::string settings = written_settings(compressor, cell.settings);
    for (int power = 16; power <= 28; power += 2) {
      const std::size_t elements = std::size_t{1} << power;
      const double n = static_cast<double>(elements);
      const double wire = compressor.wire_bytes(cell.settings, elements, Precision::fp32).bytes;
      const auto add = [&](const std::string& operation, int kernels, int syncs, double bytes) {
        const double seconds =
            kernels * launch_seconds + syncs * sync_seconds + n * bytes / device.bytes_per_second;
        table.rows.push_back(
            {compressor.name, settings, operation, n, seconds, seconds, seconds, wire, "gauss"});
      };
      add("encode", traffic.encode_kernels, 0, traffic.encode_bytes_per_element);
      add("decode", 1, 0, traffic.decode_bytes_per_element);
      add("encode-as-published", traffic.published_kernels, traffic.published_syncs,
          traffic.published_bytes_per_element);
    }
  }
  return table;
}

}  // namespace syncline
