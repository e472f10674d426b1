// The measurements of a validation folder.
#include "sim/gate/validation_gate.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string shared = "platform = two-hosts\nmodel = resnet20\nthroughput = 100\n";
  file_of({reinterpret_cast<const std::uint8_t*>(shared.data()), shared.size()}, "scenario.cfg");
  const std::string path = file_of(bytes, "measured.csv");
  reads(bytes, [&] {
    for (const ValidationRow& row : read_validation_folder(path.substr(0, path.rfind('/'))).rows)
      require_plain_text(bytes, row.label);
  });
}

const Registered<Reader> entry{{.name = "validation", .read = read}};

}  // namespace
}  // namespace syncline
