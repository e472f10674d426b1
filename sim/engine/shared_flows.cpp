#include "sim/engine/shared_flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <simgrid/s4u.hpp>
#include <utility>

#include "sim/catalogue/network.h"
#include "sim/plan.h"

namespace syncline {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

bool SharedFlows::move_messages_of(const Setup& setup) {
  const std::shared_ptr<const Platform>& platform = setup.traffic.cluster.platform;
  const bool bandwidths_change = platform != nullptr && platform->bandwidths_change;
  return setup.scenario.network->latency_after_flow &&
         (!setup.traffic.every_step || bandwidths_change);
}

void SharedFlows::begin(int from, int to, double bytes, std::function<void()> ended) {
  if (stopped_)
    return;
  const std::uint64_t pair =
      (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint64_t>(to);
  auto route = route_of_.find(pair);
  if (route == route_of_.end())  // only a route that exists is kept
    route = route_of_.emplace(pair, routes_.between(from, to)).first;
  starts_.push_back({&route->second, bytes, std::move(ended)});
  wake_at(simgrid::s4u::Engine::get_clock());
}

void SharedFlows::stop() {
  stopped_ = true;
  if (timer_ != nullptr)
    std::exchange(timer_, nullptr)->remove();
}

void SharedFlows::wake_at(double at_s) {
  if (timer_ != nullptr) {
    if (timer_->get_date() <= at_s)
      return;
    timer_->remove();
  }
  timer_ = simgrid::kernel::timer::Timer::set(at_s, [this] {
    timer_ = nullptr;
    go_on();
  });
}

void SharedFlows::begin(Start start) {
  if (start.bytes == 0) {
    start.ended();
    return;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<int>(ended_.size()));
    ended_.emplace_back();
  }
  ended_[index(free_.back())] = std::move(start.ended);
  shares_.add(*start.route, start.bytes, free_.back());
  free_.pop_back();
}

double SharedFlows::follow_profiles(double now_s) {
  for (; links_seen_ < routes_.links().size(); ++links_seen_)
    if (!routes_.links()[links_seen_].bandwidth.is_constant())
      changing_.emplace_back(static_cast<int>(links_seen_), 0);
  double next_s = never;
  for (auto& [link, changes_s] : changing_) {
    const Bandwidth& bandwidth = routes_.link(link).bandwidth;
    if (changes_s <= now_s) {
      shares_.set_bandwidth(link, bandwidth.Bps_at(now_s));
      changes_s = bandwidth.next_change_s(now_s);
    }
    next_s = std::min(next_s, changes_s);
  }
  return next_s;
}

void SharedFlows::go_on() {
  const double now_s = simgrid::s4u::Engine::get_clock();
  for (const int flow : shares_.pass(now_s - shared_s_)) {
    free_.push_back(flow);
    std::exchange(ended_[index(flow)], {})();
  }
  shared_s_ = now_s;
  for (Start& start : std::exchange(starts_, {}))
    begin(std::move(start));
  const double changes_s = follow_profiles(now_s);
  const double next_s = std::min(changes_s, now_s + shares_.next_end_s());
  if (!shares_.is_idle())  // at least the next number after now: time must advance
    wake_at(std::max(next_s, std::nextafter(now_s, never)));
}

}  // namespace syncline
