// libFuzzer's entry: cmake -S kernels -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DSYNCLINE_FUZZ=ON
#include "tests/kernels/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  syncline::fuzz_once({data, size});
  return 0;
}
