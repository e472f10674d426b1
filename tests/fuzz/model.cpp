// A model of any format, and its buckets.
#include "sim/setup/model.h"

#include <stdexcept>

#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "model.csv");
  reads(bytes, [&] {
    const Model model = read_model(path);
    require_plain_text(bytes, model.name + model.sample + model.read_as);
    for (const auto& buckets :
         {fused_buckets(model, {}, 4), merged_buckets(model, 4, 0.1, 1e-5, 1e-9, 1e-10)}) {
      std::uint64_t parameters = 0;
      for (const Bucket& bucket : buckets)
        parameters += bucket.parameters;
      if (parameters != model.parameters())
        throw std::logic_error("buckets of " + std::to_string(parameters) + " of " +
                               std::to_string(model.parameters()) + " parameters");
    }
  });
}

const Registered<Reader> entry{{.name = "model", .read = read}};

}  // namespace
}  // namespace syncline
