// A table of devices.
#include "sim/catalogue/devices.h"

#include <stdexcept>

#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "devices.csv");
  reads(bytes, [&] {
    for (const Device& device : read_devices(path)) {
      require_plain_text(bytes, device.name + device.price_date + device.price_source);
      for (const auto& peak : device.peak_flops)
        if (!(peak.second > 0 && device.memory_bytes > 0 && device.memory_Bps > 0))
          throw std::logic_error("a device without a size");
    }
  });
}

const Registered<Reader> entry{{.name = "devices", .read = read}};

}  // namespace
}  // namespace syncline
