// How fast the groups of flows are, and which flows end.
#include <algorithm>
#include <functional>
#include <utility>

#include "sim/plan.h"
#include "sim/traffic/link_shares.h"

namespace syncline {
namespace {

constexpr double shortest_s = 1e-12;  // a flow whose rest takes less has ended
// fastest_Bps_ becomes `faster` times the rate of the fastest flow when that is above it, or below
// it by more than a factor of `slower`.
constexpr double faster = 2;
constexpr double slower = 8;
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

void LinkShares::give_rate(int group, double Bps) {
  Rate& rate = rates_[index(group)];
  rate.Bps = Bps;
  rate.is_known = true;
  for (int i = rate.first_link; i < rate.end_link; ++i) {
    Rest& rest = rests_[index(crossed_[index(i)])];
    rest.Bps = std::max(0.0, rest.Bps - rate.flows * Bps);
    rest.waiting -= rate.flows;
  }
}

void LinkShares::share() {
  for (;;) {
    fill_links();
    double fastest_Bps = 0;
    for (const int group : active_groups_)
      fastest_Bps = std::max(fastest_Bps, rates_[index(group)].Bps);
    if (active_groups_.empty() ||
        (fastest_Bps <= fastest_Bps_ && fastest_Bps * slower >= fastest_Bps_))
      break;
    fastest_Bps_ = faster * fastest_Bps;
    for (Link& link : links_)
      reconsider(link);
  }
  changed_ = false;
}

void LinkShares::fill_links() {
  rests_.resize(links_.size());
  open_ = active_links_;  // those with flows that have no rate
  for (const int link : open_)
    rests_[index(link)] = {.Bps = links_[index(link)].Bps};
  limited_.clear();  // groups whose flows have a limit of their own (Rate::flow_Bps)
  for (const int group : active_groups_) {
    Rate& rate = rates_[index(group)];
    rate.is_known = false;
    for (int i = rate.first_link; i < rate.end_link; ++i)
      rests_[index(crossed_[index(i)])].waiting += rate.flows;
    if (rate.flow_Bps < infinite)
      limited_.push_back(group);
  }
  std::ranges::sort(limited_, std::greater<>(),
                    [&](int group) { return rates_[index(group)].flow_Bps; });
  for (;;) {
    const double least_Bps = find_narrowest();
    while (!limited_.empty() && rates_[index(limited_.back())].is_known)
      limited_.pop_back();
    if (!limited_.empty() && rates_[index(limited_.back())].flow_Bps <= least_Bps) {
      give_rate(limited_.back(), rates_[index(limited_.back())].flow_Bps);
      continue;
    }
    if (narrowest_.empty())
      break;
    for (const int link : narrowest_) {
      updates_ += static_cast<double>(links_[index(link)].groups.size());
      for (const int group : links_[index(link)].groups)
        if (!rates_[index(group)].is_known)
          give_rate(group, least_Bps);
    }
  }
}

double LinkShares::find_narrowest() {
  double least_Bps = infinite;
  narrowest_.clear();
  for (std::size_t i = 0; i < open_.size();) {
    const Rest& rest = rests_[index(open_[i])];
    if (rest.waiting == 0) {
      open_[i] = open_.back();
      open_.pop_back();
      continue;
    }
    const double share_Bps = rest.Bps / rest.waiting;
    if (share_Bps < least_Bps)
      narrowest_.clear();
    if (share_Bps <= least_Bps) {
      least_Bps = share_Bps;
      narrowest_.push_back(open_[i]);
    }
    ++i;
  }
  updates_ += static_cast<double>(open_.size());
  return least_Bps;
}

double LinkShares::next_end_s() {
  if (changed_)
    share();
  double seconds = infinite;
  for (const int number : active_groups_) {
    const Rate& rate = rates_[index(number)];
    const double left = std::max(0.0, rate.next_end - rate.carried);
    if (left < seconds * rate.Bps)
      seconds = left / rate.Bps;
  }
  return seconds;
}

std::vector<int> LinkShares::pass(double seconds) {
  if (changed_)
    share();
  std::vector<std::pair<std::int64_t, int>> over;  // in their order
  for (const int number : active_groups_) {
    Rate& rate = rates_[index(number)];
    rate.carried += rate.Bps * seconds;
    const double reached = rate.carried + shortest_s * rate.Bps;
    if (reached < rate.near_end)
      continue;
    Group& group = groups_[index(number)];
    for (; !group.ends.empty(); pop_end(group)) {
      const End& next = group.ends.front();
      if (has_left(next))
        continue;
      if (reached < next.near_end)
        break;
      over.emplace_back(next.order, next.flow);
    }
  }
  std::ranges::sort(over);
  std::vector<int> numbers;
  for (const auto& [order, flow] : over) {
    numbers.push_back(flows_[index(flow)].number);
    end(flow);
  }
  return numbers;
}

}  // namespace syncline
