// Multinomial logistic regression: the smallest classifier.
#include "sim/minibatch.h"

namespace syncline {
namespace {

Objective softmax(const Settings& settings, const Data& data, std::uint64_t) {
  return objective_of(
      linear_classifier(data.train.features, static_cast<std::size_t>(data.classes)), data,
      cross_entropy, settings.number("l2"));
}

const Registered<Problem> entry{{
    .name = "softmax",
    .sentence = "multinomial logistic regression of all classes",
    .help = {.more = "Convex; learns nine in ten digits within seconds.", .paper = ""},
    .options = {l2_option("0",
                          "half of this, times the sum of squares of all parameters, "
                          "is added to the loss")},
    .defaults = {{"learning-rate", "1"}, {"momentum", "0"}, {"weight-decay", "0"}},
    .objective = softmax,
}};

}  // namespace
}  // namespace syncline
