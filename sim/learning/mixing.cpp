// Learning among workers that send each other their parameters.
#include "sim/learning/learner.h"

namespace syncline {

SharedValues Learner::copy_of(int worker) const {
  auto copy = std::make_shared<std::vector<float>>(alone_[index(worker)].parameters());
  round(*copy);
  return copy;
}

void Learner::mix(int worker, double each, const std::vector<SharedValues>& copies) {
  std::vector<float> mixed = alone_[index(worker)].parameters();
  const double own = 1 - each * static_cast<double>(copies.size());
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    double sum = own * mixed[i];
    for (const SharedValues& copy : copies)
      sum += each * (*copy)[i];
    mixed[i] = static_cast<float>(sum);
  }
  alone_[index(worker)].set(mixed);
}

std::vector<float> Learner::mean_of_workers() const {
  std::vector<float> mean(objective_.parameters());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (const Optimizer& worker : alone_)
      sum += worker.parameters()[i];
    mean[i] = static_cast<float>(sum / workers_);
  }
  return mean;
}

}  // namespace syncline
