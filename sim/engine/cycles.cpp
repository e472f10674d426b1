#include "sim/engine/cycles.h"

#include <algorithm>
#include <cmath>

#include "sim/engine/run.h"

namespace syncline {
namespace {

// SimGrid ends activities up to 1e-9 s apart together. With this margin, a tensor made at the end
// of a cycle is in time for it.
constexpr double margin_s = 2e-9;

void add(const ServerParts& one, ServerParts& all) {
  all.resize(one.size());
  std::uint64_t before = 0;
  for (std::size_t server = 0; server < one.size(); ++server) {
    all[server].parameters += one[server].parameters;
    all[server].tensors += one[server].tensors;
    all[server].before = std::exchange(before, before + all[server].parameters);
  }
}

}  // namespace

void Cycles::backward_begins() {
  if (++began_ < run_.trace.workers)
    return;
  began_ = 0;
  first_s_ = sg::Engine::get_clock();
}

void Cycles::made(int worker, const Bucket& tensor, int iteration) {
  const std::uint64_t place = made_[worker]++ - gone_;
  if (place == waiting_.size())
    waiting_.push_back({.tensor = &tensor, .iteration = iteration});
  if (++waiting_[place].workers == run_.trace.workers && ready_++ == 0)
    wakeup_.wake();
}

double Cycles::end_of_cycle(double now_s) const {
  const double cycle_s = run_.setup.scenario.fusion.cycle_s;
  return first_s_ + std::max(1.0, std::ceil((now_s - first_s_ - margin_s) / cycle_s)) * cycle_s;
}

void Cycles::run_until_over() {
  for (;;) {
    if (ready_ > 0) {
      sg::this_actor::sleep_until(end_of_cycle(sg::Engine::get_clock()) + margin_s);
      send_what_is_ready();
    } else if (run_.over()) {
      return;
    } else {
      wakeup_.wait();
    }
  }
}

void Cycles::send_what_is_ready() {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::exchange(ready_, 0));
  std::deque<Made> ready(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  gone_ += ready.size();
  // Groups from before the previous iteration are no longer used.
  groups_.erase(groups_.begin(), groups_.lower_bound({ready.front().iteration - 1, 0}));
  while (!ready.empty()) {
    std::deque<Made> group;
    double bytes = 0;
    while (!ready.empty()) {
      const Made& next = ready.front();
      bytes += static_cast<double>(run_.setup.traffic.bytes_of(*next.tensor));
      if (!group.empty() &&
          (bytes > run_.setup.scenario.fusion.bytes || next.iteration != group.back().iteration ||
           next.tensor->index != group.back().tensor->index + 1))
        break;
      group.push_back(next);
      ready.pop_front();
    }
    const Bucket& bucket = group_of(group);
    for (const auto& worker : run_.workers)
      start_group(*worker, bucket, group.front().iteration);
  }
}

const Bucket& Cycles::group_of(const std::deque<Made>& tensors) {
  if (tensors.size() == 1)
    return *tensors.front().tensor;
  const int iteration = tensors.front().iteration;
  Bucket bucket = *tensors.front().tensor;
  Payload payload = *run_.payload(bucket, iteration);
  for (auto made = tensors.begin() + 1; made != tensors.end(); ++made) {
    const Bucket& tensor = *made->tensor;
    payload.add(*run_.payload(tensor, iteration), run_.trace.workers);
    bucket.index = tensor.index;
    bucket.last = tensor.last;
    bucket.parameters += tensor.parameters;
    bucket.small_parameters += tensor.small_parameters;
    bucket.tensors += tensor.tensors;
    add(tensor.parts, bucket.parts);
  }
  payload.parts = bucket.parts;
  const auto group = groups_.emplace(
      std::pair(iteration, bucket.index),
      Group{std::move(bucket), std::make_shared<const Payload>(std::move(payload))});
  return group.first->second.bucket;
}

}  // namespace syncline
