// Exact top-k on a GPU: the algorithm of topk.cpp. One pass over the tensor (12 bytes per element)
// adds the residual and lists what reaches the sample's bound; everything after works on that list.
// Zeros are never listed: if fewer than k values are not zero, the first zeros are written
// separately.
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

void encode(const Settings& settings, const Draw& draw, const Selector& selector) {
  const std::size_t k = wanted(density_of(settings), selector.input.elements);
  const bool feedback = with_feedback(settings);
  if (k == 0) {  // the gradient must still enter the residual
    selector.set_low_key(no_key);
    selector.add_and_collect(feedback);
    selector.write_list();
    return;
  }
  selector.sample_low_key(feedback, k, draw);
  selector.add_and_collect(feedback);
  selector.ensure_collected(k);
  selector.write_largest(k);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("topk", encode)};

}  // namespace
}  // namespace syncline
