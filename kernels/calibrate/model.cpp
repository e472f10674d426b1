// Tables for devices that are not at hand: traffic floors over bandwidth, plus launch costs. The
// formula stands in the header of every table, and the provenance says `modelled`.
#include <algorithm>

#include "kernels/arithmetic/feedback.h"
#include "kernels/calibrate/calibrate.h"

namespace syncline {
namespace {

struct ModelledDevice {
  std::string name, sentence;
  double bytes_per_second = 0;  // what a copy reaches, some 88 % of nominal (README.md)
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

double wire_bytes(const Compressor& compressor, const Settings& settings, std::size_t elements) {
  return compressor.wire_bytes(settings, elements, Precision::fp32).bytes;
}

// Error feedback adds this to the bytes per element of `traffic` where its setting is not the
// default: switched on, the residual is read and written; switched off, it is no longer read.
double feedback_bytes(const Compressor& compressor, const Settings& settings) {
  const OwnOption* option = option_named(compressor.options, feedback_name);
  if (option == nullptr || settings.word(feedback_name) == option->fallback)
    return 0;
  return option->fallback == "off" ? 8 : -4;
}

double floor_bytes(const Cell& cell, std::size_t elements) {
  const Compressor& compressor = *cell.compressor;
  const Settings usual(compressor.options, {{density_name, "0.01"}});  // those of the floor
  return static_cast<double>(elements) * (compressor.traffic.floor.bytes_per_element +
                                          feedback_bytes(compressor, cell.settings)) +
         wire_bytes(compressor, cell.settings, elements) - wire_bytes(compressor, usual, elements);
}

double summed_bytes(const Cell& cell, std::size_t elements) {
  const Compressor& compressor = *cell.compressor;
  const MemoryTraffic& traffic = compressor.traffic;
  const double message = wire_bytes(compressor, cell.settings, elements);
  const double selected = message / (compressor.sparse ? 8 : 4);  // shared draws send no indices
  double scattered = selected * traffic.sum_bytes_per_selected;
  if (compressor.sparse)  // indices ascend, so a sector that holds several is moved once
    scattered = std::min(scattered, 8.0 * static_cast<double>(elements));
  return message + scattered + static_cast<double>(elements) * traffic.sum_bytes_per_element;
}

// Kernels that share these bytes.
StreamOperations kernels_moving(int kernels, double bytes) {
  StreamOperations operations(static_cast<std::size_t>(kernels));
  operations.front().read = bytes;
  return operations;
}

double seconds_of(const StreamOperations& operations, int syncs, const ModelledDevice& device) {
  double seconds = syncs * sync_seconds;
  for (const StreamOperation& operation : operations)
    seconds +=
        launch_seconds + (operation.read.mean + operation.written.mean) / device.bytes_per_second;
  return seconds;
}

}  // namespace

StreamOperations encode_operations(const Cell& cell, std::size_t elements) {
  const MemoryTraffic& traffic = cell.compressor->traffic;
  return traffic.encode ? traffic.encode(cell.settings, elements)
                        : kernels_moving(traffic.floor.kernels, floor_bytes(cell, elements));
}

StreamOperations decode_operations(const Cell& cell, std::size_t elements) {
  const MemoryTraffic& traffic = cell.compressor->traffic;
  return traffic.decode ? traffic.decode(cell.settings, elements)
                        : kernels_moving(1, summed_bytes(cell, elements));
}

CostTable modelled(const CalibrateOptions& options) {
  const ModelledDevice& device = device_named(options.model);
  CostTable table;
  char bandwidth[64];
  std::snprintf(bandwidth, sizeof bandwidth, "%.4g bytes/s assumed", device.bytes_per_second);
  // No date and no commit: the same program writes the same file, which a test checks.
  table.header = {
      {"device", device.sentence},
      {"driver", "none"},
      {"toolkit", "none"},
      {"copy bandwidth", bandwidth},
      {"provenance", "modelled"},
      {"model", device.name},
      {"command", options.command + " --out FILE"},
      {"formula",
       "seconds = kernels x 3e-6 + syncs x 15e-6 + bytes / copy bandwidth; kernels, syncs and "
       "bytes from kernels/compressors/<compressor>.cpp (traffic)"},
      {"encode",
       "kernels of ours at their traffic floor: bytes = elements x bytes per element, which is at "
       "density 0.01 and the other settings' defaults, + what the message is longer than at those"},
      {"decode",
       "one kernel, adds into a sum that is there, so zeroing it is not part: sparse: bytes = 72 "
       "per selected element (8 message + a 32-byte sector read and written; randomk, which sends "
       "no indices: 68), where indices ascend (all but randomk) no more than the message + 8 per "
       "element; dense: bytes = 8 per element + message"},
      {"encode-as-published",
       "the papers' own code with its temporaries: bytes = elements x bytes per element, whatever "
       "the settings"}};
  for (const Cell& cell : cells_of(options)) {
    const Compressor& compressor = *cell.compressor;
    const MemoryTraffic& traffic = compressor.traffic;
    const std::string settings = written_settings(compressor, cell.settings);
    for (const std::size_t elements : options.sizes) {
      const double n = static_cast<double>(elements);
      const double wire = wire_bytes(compressor, cell.settings, elements);
      const auto add = [&](const std::string& operation, const StreamOperations& operations,
                           int syncs) {
        const double seconds = seconds_of(operations, syncs, device);
        table.rows.push_back(
            {compressor.name, settings, operation, n, seconds, seconds, seconds, wire, "gauss"});
      };
      add("encode", encode_operations(cell, elements), 0);
      add("decode", decode_operations(cell, elements), 0);
      add("encode-as-published",
          kernels_moving(traffic.published.kernels, n * traffic.published.bytes_per_element),
          traffic.published.syncs);
    }
  }
  return table;
}

}  // namespace syncline
