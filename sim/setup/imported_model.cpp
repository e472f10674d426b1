#include "sim/setup/imported_model.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/io/text.h"

namespace syncline {

Model model_of(ImportedIteration iteration, const std::string& path, int value_bytes) {
  if (iteration.gradients.empty())
    throw std::runtime_error(path + ": no gradient that workers add (an all-reduce): allowed is " +
                             "one or more");
  Model model;
  model.name = std::filesystem::path(path).stem().string();
  model.sample = "sample";
  model.read_as = fmt::format("{}; {} bytes per parameter", iteration.read_as, value_bytes);
  if (iteration.rest_ns > 0) {
    iteration.gradients.back().ns += iteration.rest_ns;
    model.read_as += fmt::format("; {} ns of backward after its last gradient count before it",
                                 number_text(iteration.rest_ns));
  }
  bool rounded = false;
  double backward_ns = 0;
  for (auto gradient = iteration.gradients.rbegin(); gradient != iteration.gradients.rend();
       ++gradient) {
    const double values = std::ceil(gradient->bytes / value_bytes);
    rounded = rounded || values * value_bytes != gradient->bytes;
    backward_ns += gradient->ns;
    model.layers.push_back(
        {printable(gradient->name), static_cast<std::uint64_t>(values), gradient->ns});
  }
  if (rounded)
    model.read_as += "; gradients rounded up to whole parameters";
  if (backward_ns <= 0)
    throw std::runtime_error(path + ": its backward pass takes no time: allowed is 1 ns or more");
  model.times = IterationTimes{.forward_s = iteration.forward_ns * 1e-9,
                               .backward_s = backward_ns * 1e-9,
                               .step_s = iteration.step_ns * 1e-9};
  return model;
}

}  // namespace syncline
