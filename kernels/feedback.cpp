#include "kernels/feedback.h"

namespace syncline {

void fit(std::vector<float>& memory, std::size_t elements) {
  if (memory.empty())
    memory.resize(elements);
  if (memory.size() != elements)
    throw std::invalid_argument("a tensor of " + std::to_string(memory.size()) +
                                " elements was encoded before, and now " +
                                std::to_string(elements) + ": allowed is the same number");
}

void add_plainly(const Gradient& gradient, bool feedback, State& state) {
  fit(state.residual, gradient.elements());
  for (std::size_t i = 0; i < gradient.elements(); ++i)
    state.residual[i] = feedback ? gradient.at(i) + state.residual[i] : gradient.at(i);
}

std::vector<float> residual(const State& state) {
  std::vector<float> values = state.residual;
  if (state.sent_if_positive != 0 || state.sent_if_negative != 0)
    for (float& value : values)
      value -= value >= 0 ? state.sent_if_positive : state.sent_if_negative;
  return values;
}

}  // namespace syncline
