// The JSON of `syncline validate`, as its --baseline reads it.
#include "sim/gate/validation_gate.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "before");
  reads(bytes, [&] { read_baseline(path); });
}

const Registered<Reader> entry{{.name = "baseline", .read = read}};

}  // namespace
}  // namespace syncline
