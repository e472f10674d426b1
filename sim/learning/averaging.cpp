// Learning among workers that average with each other.
#include <algorithm>
#include <functional>
#include <iterator>

#include "sim/learning/learner.h"

namespace syncline {
double Learner::rate_in(int iteration) const {
  const double samples =
      static_cast<double>(iteration) * workers_ * setup_.scenario.learned_samples();
  return rate_.at(samples, samples);
}

void Learner::step_alone(int worker, int iteration) {
  if (has_neighbours()) {
    const std::vector<float>& gradient = gradients_[index(worker)].read();
    // Where workers wait for each other, the rate does not depend on who is first.
    const bool in_step = setup_.scenario.schedule->waits(setup_.scenario.schedule_settings) !=
                         Schedule::Waiting::for_nobody;
    alone_[index(worker)].apply({0, gradient.size()}, gradient, 1,
                                in_step ? rate_in(iteration) : rate(0));
    return;
  }
  if (alone_.empty()) {
    alone_.assign(replicas_.size(), optimizer_);
    alone_until_.assign(replicas_.size(), stepped_);
  }
  const std::size_t replica = index(replica_of_[index(worker)]);
  if (alone_until_[replica] > iteration)
    return;
  const std::vector<int>& members = replicas_[replica];
  Optimizer& alone = alone_[replica];
  std::vector<float> gradient(objective_.parameters());
  for (int& next = alone_until_[replica]; next <= iteration; ++next) {
    if (members.size() == 1) {
      compute(worker, next, alone.parameters(), 1, gradient);
      alone.apply({0, gradient.size()}, gradient, 1, rate_in(next));
      continue;
    }
    std::vector<float> sum(gradient.size());
    for (const int member : members) {
      compute(member, next, alone.parameters(), 1, gradient);
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += at_precision(gradient[i]);
    }
    const auto count = static_cast<double>(members.size());
    alone.apply({0, sum.size()}, sum, count, rate_in(next) / count);
  }
  if (!differences_.empty())
    for (const auto& [bucket, difference] : std::exchange(differences_[index(worker)], {}))
      alone.add(ranges_.of(bucket), *difference, -1);
}

std::vector<std::vector<float>> Learner::contributions(int iteration) {
  std::vector<std::vector<float>> all(index(workers_), std::vector<float>(objective_.parameters()));
  const double weight = learning_.rate_in_residual ? rate_in(iteration) / workers_ : 1;
  for (int worker = 0; worker < workers_; ++worker)
    if (alone_.empty()) {
      compute(worker, iteration, averages_[iteration].parameters, weight, all[index(worker)]);
    } else {
      step_alone(worker, iteration);
      const std::size_t replica = index(replica_of_[index(worker)]);
      std::ranges::transform(optimizer_.parameters(), alone_[replica].parameters(),
                             all[index(worker)].begin(), std::minus<>());
    }
  for (const Optimizer& alone : alone_)
    averages_[iteration].alone.push_back(alone.parameters());
  return all;
}

const Learner::Average& Learner::average(int iteration) {
  Average& average = averages_[iteration];
  if (!average.sum.empty())
    return average;
  if (average.parameters.empty())
    average.parameters = optimizer_.parameters();
  const std::vector<std::vector<float>> gradients = contributions(iteration);
  std::vector<float>& all = average.sum;
  all.assign(objective_.parameters(), 0);
  average.scales.resize(index(ranges_.buckets()));
  for (int b = 0; b < ranges_.buckets(); ++b) {
    const bool alone = workers_ == 1;  // then nothing is sent
    for (const Range& range : alone ? std::vector{ranges_.of(b)} : ranges_.plain(b))
      for (std::size_t i = range.begin; i < range.end; ++i)
        for (const std::vector<float>& gradient : gradients)
          all[i] += alone ? gradient[i] : at_precision(gradient[i]);
    const std::vector<Range>& compressed = ranges_.compressed(b);
    const std::size_t count = values_in(compressed);
    if (count == 0 || alone)
      continue;
    std::vector<std::vector<float>> together(gradients.size());
    std::vector<std::span<const float>> spans;
    for (std::size_t worker = 0; worker < gradients.size(); ++worker) {
      for (const Range& range : compressed)
        std::ranges::copy(
            std::span<const float>(gradients[worker]).subspan(range.begin, range.size()),
            std::back_inserter(together[worker]));
      spans.emplace_back(together[worker]);
    }
    std::vector<std::size_t> bytes, sum_bytes;
    const Values sum =
        combine(*setup_.scenario.exchange, topology_, setup_.scenario.exchange_settings,
                coder_.contributions(b, iteration, spans, bytes, &sum_bytes));
    auto next = sum.begin();
    for (const Range& range : compressed)
      for (std::size_t i = range.begin; i < range.end; ++i)
        all[i] = *next++;
    if (coder_.expected(count, iteration).exact)
      continue;
    const auto scales = [&](const std::vector<std::size_t>& sizes) {
      std::vector<double> found;
      for (const std::size_t size : sizes)
        found.push_back(size == Coder::no_message ? 1 : scale_of(size, count, iteration));
      return found;
    };
    average.scales[index(b)].of_gradients = scales(bytes);
    if (std::ranges::any_of(sum_bytes, [](std::size_t size) { return size != Coder::no_message; }))
      average.scales[index(b)].of_sums = scales(sum_bytes);
  }
  return average;
}

const Learner::Scales& Learner::message_scales(int bucket, int iteration) {
  return average(iteration).scales[index(bucket)];
}

void Learner::start_average(int worker, int iteration) {
  OfWorker& own = of_worker_[index(worker)];
  if (own.started == iteration)
    return;  // for another bucket
  own.started = iteration;
  ++own.unfinished;
  average(iteration);
}

int Learner::step(int worker) {
  OfWorker& own = of_worker_[index(worker)];
  for (const auto& [iteration, average] : averages_)
    if (iteration >= stepped_ && iteration <= own.finished && !average.sum.empty()) {
      apply({0, average.sum.size()}, average.sum, workers_, rate_in(iteration) / workers_);
      stepped_ = iteration + 1;
    }
  averages_.erase(averages_.begin(), averages_.lower_bound(stepped_ - 1));
  return workers_ * std::exchange(own.arrived, 0);
}

int Learner::step_together(int worker, int iteration, double rate, double momentum,
                           std::optional<double> mixing) {
  OfWorker& own = of_worker_[index(worker)];
  own.arrived = 0;
  if (own.finished < stepped_)
    return gradients_together_;
  for (int other = 0; other < workers_; ++other)
    step_alone(other, iteration);
  const Average& change = average(own.finished);
  gradients_together_ = workers_ * (own.finished + 1 - stepped_);
  stepped_ = own.finished + 1;
  const auto outer_rate = static_cast<float>(rate);
  const auto outer_momentum = static_cast<float>(momentum);
  outer_velocity_.resize(change.sum.size());
  std::vector<float> parameters = optimizer_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float mean = change.sum[i] / static_cast<float>(workers_);
    outer_velocity_[i] = outer_momentum * outer_velocity_[i] + mean;
    parameters[i] -= outer_rate * (mean + outer_momentum * outer_velocity_[i]);
  }
  optimizer_.set(parameters);
  for (std::size_t replica = 0; replica < alone_.size(); ++replica) {
    const std::vector<float>& own = alone_[replica].parameters();
    std::vector<float> goes_on = parameters;
    for (std::size_t i = 0; i < goes_on.size(); ++i)
      if (mixing)
        goes_on[i] += static_cast<float>(*mixing) * (own[i] - goes_on[i]);
      else
        goes_on[i] += own[i] - change.alone[replica][i];
    alone_[replica].set(goes_on);
  }
  averages_.erase(averages_.begin(), averages_.lower_bound(stepped_ - 1));
  return gradients_together_;
}

}  // namespace syncline
