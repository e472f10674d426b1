// expected.csv in a folder of `syncline check`: writing what was read, and reading it again, gives
// the same.
#include <stdexcept>

#include "sim/gate/expectation.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "expected.csv");
  ExpectedFile file;
  if (!reads(bytes, [&] { file = read_expected(path); }))
    return;
  const std::string text = expected_text(file);
  const std::string again =
      file_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "expected.csv");
  if (expected_text(read_expected(again)) != text)
    throw std::logic_error("what is written of expected.csv is read as something else");
}

const Registered<Reader> entry{{.name = "expected", .read = read}};

}  // namespace
}  // namespace syncline
