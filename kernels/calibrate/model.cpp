// Tables for devices that are not at hand: bytes over rates that others measured, plus launches.
// The formula stands in the header of every table, and the provenance says `modelled`.
#include <algorithm>

#include "kernels/arithmetic/feedback.h"
#include "kernels/calibrate/calibrate.h"
#include "kernels/calibrate/rates.h"

namespace syncline {
namespace {

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

}  // namespace

double encode_bytes(const Cell& cell, std::size_t elements) {
  const Compressor& compressor = *cell.compressor;
  const Settings usual(compressor.options, {{density_name, "0.01"}});  // those of `traffic`
  return static_cast<double>(elements) * (compressor.traffic.encode.bytes_per_element +
                                          feedback_bytes(compressor, cell.settings)) +
         wire_bytes(compressor, cell.settings, elements) - wire_bytes(compressor, usual, elements);
}

double decode_bytes(const Cell& cell, std::size_t elements) {
  const Compressor& compressor = *cell.compressor;
  const MemoryTraffic& traffic = compressor.traffic;
  const double message = wire_bytes(compressor, cell.settings, elements);
  const double selected = message / (compressor.sparse ? 8 : 4);  // shared draws send no indices
  double scattered = selected * traffic.sum_bytes_per_selected;
  if (compressor.sparse)  // indices ascend, so a sector that holds several is moved once
    scattered = std::min(scattered, 8.0 * static_cast<double>(elements));
  return message + scattered + static_cast<double>(elements) * traffic.sum_bytes_per_element;
}

CostTable modelled(const CalibrateOptions& options) {
  const DeviceRates& device = rated_device(options.model);
  CostTable table;
  // No date and no commit: the same program writes the same file, which a test checks.
  table.header = {
      {"device", device.description},
      {"driver", "none"},
      {"toolkit", "none"},
      {"provenance", "modelled"},
      {"model", device.name},
      {"command", options.command + " --out FILE"},
      {"formula",
       "seconds = launches x launch + syncs x synchronisation + bytes / stream; launches, syncs "
       "and bytes from kernels/compressors/<compressor>.cpp (traffic)"}};
  for (const auto& line : device.header())
    table.header.push_back(line);
  table.header.insert(
      table.header.end(),
      {{"encode",
        "kernels of ours at their traffic floor: bytes = elements x bytes per element, which is at "
        "density 0.01 and the other settings' defaults, + what the message is longer than at "
        "those"},
       {"decode",
        "one kernel, adds into a sum that is there, so zeroing it is not part: sparse: bytes = 72 "
        "per selected element (8 message + a 32-byte sector read and written; randomk, which sends "
        "no indices: 68), where indices ascend (all but randomk) no more than the message + 8 per "
        "element; dense: bytes = 8 per element + message"},
       {"encode-as-published",
        "the papers' own code with its temporaries: bytes = elements x bytes per element, whatever "
        "the settings"}});
  for (const Cell& cell : cells_of(options)) {
    const Compressor& compressor = *cell.compressor;
    const MemoryTraffic& traffic = compressor.traffic;
    const std::string settings = written_settings(compressor, cell.settings);
    for (const std::size_t elements : options.sizes) {
      const double n = static_cast<double>(elements);
      const double wire = wire_bytes(compressor, cell.settings, elements);
      const auto add = [&](const std::string& operation, int launches, int syncs, double bytes) {
        const LowToHigh seconds = device.seconds(launches, bytes, syncs);
        table.rows.push_back({compressor.name, settings, operation, n, seconds.typical, seconds.low,
                              seconds.high, wire, "gauss"});
      };
      add("encode", traffic.encode.kernels, 0, encode_bytes(cell, elements));
      add("decode", 1, 0, decode_bytes(cell, elements));
      add("encode-as-published", traffic.published.kernels, traffic.published.syncs,
          n * traffic.published.bytes_per_element);
    }
  }
  return table;
}

}  // namespace syncline
