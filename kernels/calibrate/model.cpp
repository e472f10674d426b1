// Tables for devices that are not at hand: launches, waits, and bytes divided by the rate that
// memory streams. Every table's header has the formula and the provenance `modelled`.
#include <cstdio>
#include <set>

#include "kernels/calibrate/calibrate.h"
#include "kernels/calibrate/rates.h"

namespace syncline {

CostTable modelled(const CalibrateOptions& options) {
  const DeviceRates& device = rated_device(options.model);
  CostTable table;
  // No date and no commit, so that the same program writes the same file; a test checks that.
  table.header = {
      {"device", device.description},
      {"driver", "none"},
      {"toolkit", "none"},
      {"provenance", "modelled"},
      {"model", device.name},
      {"command", options.command + " --out FILE"},
      {"formula",
       "seconds = launches x launch + waits x wait + bytes / stream, or an operation's slots where "
       "these take longer; all from kernels/compressors/<compressor>.cpp (traffic)"}};
  for (const auto& line : device.header())
    table.header.push_back(line);
  table.header.insert(
      table.header.end(),
      {{"bytes",
        "of the distinct 32-byte sectors that each launch reads, and writes, counted in the "
        "kernels on an emulated device; left out: polling, and what caches keep from one launch to "
        "the next"},
       {"encode", "ours, for a gradient of a normal distribution"},
       {"decode", "ours, adds into a sum that is there, so zeroing it is not part"},
       {further_operation,
        "each message that is decoded together with a first one: a sixteenth of what seventeen "
        "take longer than one"},
       {"encode-as-published",
        "the papers' own code with its temporaries: bytes = elements x bytes per element, whatever "
        "the settings"}});
  std::set<std::string> named;
  for (const Cell& cell : cells_of(options)) {
    const Compressor& compressor = *cell.compressor;
    const MemoryTraffic& traffic = compressor.traffic;
    if (!traffic.encode) {
      if (named.insert(compressor.name).second)
        std::fprintf(stderr,
                     "%s has no formulas for what its kernels move (traffic in "
                     "kernels/compressors/%s.cpp): left out\n",
                     compressor.name.c_str(), compressor.name.c_str());
      continue;
    }
    const std::string settings = written_settings(compressor, cell.settings);
    for (const std::size_t elements : options.sizes) {
      const double n = static_cast<double>(elements);
      const double wire = compressor.wire_bytes(cell.settings, elements, Precision::fp32).bytes;
      const auto add = [&](const std::string& operation, double seconds,
                           const Ends& ends = usual_ends) {
        table.rows.push_back({compressor.name, settings, operation, n, seconds, ends.low * seconds,
                              ends.high * seconds, wire, "gauss"});
      };
      add("encode", device.seconds(traffic.encode(cell.settings, elements)));
      const double one_s = device.seconds(traffic.decode(cell.settings, elements, 1));
      add("decode", one_s);
      const double many_s =
          device.seconds(traffic.decode(cell.settings, elements, messages_of_slope));
      add(further_operation, further_s(one_s, many_s), further_ends);
      const MemoryTraffic::Chain& published = traffic.published;
      add("encode-as-published",
          device.seconds(published.kernels, n * published.bytes_per_element, published.syncs));
    }
  }
  return table;
}

}  // namespace syncline
