// A platform file, before SimGrid reads it.
#include "sim/platform/platform_file.h"
#include "tests/fuzz/law.h"
#include "tests/unit/checked_platform.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "platform.xml");
  reads(bytes, [&] {
    for (const std::string& warning : check_platform(path).warnings)
      require_our_words(bytes, warning);
  });
}

const Registered<Reader> entry{{.name = "platform", .read = read}};

}  // namespace
}  // namespace syncline
