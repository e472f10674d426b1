// libFuzzer's entry, linked with one reader.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syncline::Registered<syncline::Reader>::all().begin()->second.read({data, size});
  return 0;
}
