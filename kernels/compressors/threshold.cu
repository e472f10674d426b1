// The fixed cutoff on a GPU: one pass adds, tests and lists; another writes the list.
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

void encode(const Settings& settings, const Draw&, const Selector& selector) {
  selector.set_low_key(key_from(settings.number("cutoff")));
  selector.add_and_collect(with_feedback(settings));
  selector.write_list();
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("threshold", encode)};

}  // namespace
}  // namespace syncline
