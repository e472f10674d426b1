// A cost table, and its answers for every compressor.
#include "kernels/cost_table.h"

#include <cmath>
#include <stdexcept>

#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void ask(const CostTable& table, const Compressor& compressor, const std::string& operation) {
  const Settings settings(compressor.options, {{"density", "0.01"}});
  const double seconds = table.seconds(compressor, settings, operation, 1e6);
  if (!std::isfinite(seconds) || seconds <= 0)
    throw std::logic_error(compressor.name + " takes " + std::to_string(seconds) + " s");
}

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "costs.csv");
  CostTable table;
  if (!reads(bytes, [&] { table = read_cost_table(path); }))
    return;
  for (const auto& entry : Registered<Compressor>::all()) {
    const Compressor& compressor = entry.second;
    for (const char* operation : {"encode", "decode"})
      reads(bytes, [&] { ask(table, compressor, operation); });
    reads(bytes, [&] {
      if (const double lowest = table.lowest_density(compressor); !(lowest >= 0 && lowest <= 1))
        throw std::logic_error("a density of " + std::to_string(lowest));
    });
  }
}

const Registered<Reader> entry{{.name = "cost_table", .read = read}};

}  // namespace
}  // namespace syncline
