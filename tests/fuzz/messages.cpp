// The bytes of a message, and of a gradient, for every compressor.
#include "tests/fuzz/reader.h"
#include "tests/kernels/fuzz.h"

namespace syncline {
namespace {

const Registered<Reader> entry{{.name = "messages", .read = fuzz_once}};

}  // namespace
}  // namespace syncline
