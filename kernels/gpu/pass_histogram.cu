// The histogram pass alone, measured for comparison with a copy: add, moments, histogram.
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

void run(const DeviceInput& input, std::size_t, const DeviceOutput& output, void* workspace,
         void* stream) {
  selector_in(workspace, input, output, stream).add_sum_and_count(true);
}

const Registered<DeviceBaseline> entry{{.name = "pass-histogram",
                                        .bytes_per_element = 12,
                                        .workspace_bytes = selection_bytes,
                                        .run = run}};

}  // namespace
}  // namespace syncline
