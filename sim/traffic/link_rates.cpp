// How fast the groups of flows are, and which flows end.
#include <algorithm>
#include <functional>
#include <utility>

#include "sim/plan.h"
#include "sim/traffic/link_shares.h"

namespace syncline {
namespace {

constexpr double shortest_s = 1e-12;    // a flow whose rest takes less has ended
constexpr double part_rounded = 1e-15;  // of times and bytes: sums of doubles are not nearer
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
    while (!changed_.empty()) {
      const int group = changed_.back();
      changed_.pop_back();
      if (rates_[index(group)].set < 0 && rates_[index(group)].flows > 0)
        make_set(group);
    }
    // Looking at all sets each time would take longer than making one.
    const std::size_t sets = sets_.size() - free_sets_.size();
    if (sets == 0 || static_cast<std::size_t>(looked_) < sets)
      return;
    looked_ = 0;
    double fastest_Bps = 0;
    for (const Set& set : sets_)
      fastest_Bps = std::max(fastest_Bps, set.fastest_Bps);
    if (fastest_Bps * slower >= fastest_Bps_)
      return;
    expect_fastest(fastest_Bps);
  }
}

bool LinkShares::is_over(const SetEnd& end) const {
  return sets_[index(end.set)].number != end.number;
}

void LinkShares::expect_fastest(double Bps) {
  fastest_Bps_ = faster * Bps;
  for (Link& link : links_)
    reconsider(link);
}

void LinkShares::make_set(int group) {
  int at = static_cast<int>(sets_.size());
  if (free_sets_.empty()) {
    sets_.emplace_back();
  } else {
    at = free_sets_.back();
    free_sets_.pop_back();
  }
  Set set{.since_s = now_s_, .number = ++sets_made_};
  ++looked_;
  open_.clear();
  const auto join = [&](int other) {
    if (std::exchange(rates_[index(other)].set, at) != at)
      set.groups.push_back(other);
  };
  join(group);
  for (std::size_t i = 0; i < set.groups.size(); ++i)
    for (const int number : groups_[index(set.groups[i])].links) {
      Link& link = links_[index(number)];
      if (std::exchange(link.looked_at, set.number) == set.number)
        continue;
      open_.push_back(number);
      for (const int other : link.groups)
        join(other);
    }
  fill_links(set.groups);
  double seconds = infinite;
  for (const int number : set.groups) {
    const Rate& rate = rates_[index(number)];
    set.fastest_Bps = std::max(set.fastest_Bps, rate.Bps);
    const double left = std::max(0.0, rate.next_end - rate.carried);
    if (left < seconds * rate.Bps)
      seconds = left / rate.Bps;
  }
  const double fastest_Bps = set.fastest_Bps;
  if (set_ends_.size() > 64 + 4 * sets_.size()) {
    std::erase_if(set_ends_, [&](const SetEnd& end) { return is_over(end); });
    std::ranges::make_heap(set_ends_, std::greater<>());
  }
  set_ends_.push_back({.end_s = now_s_ + seconds, .set = at, .number = set.number});
  std::ranges::push_heap(set_ends_, std::greater<>());
  sets_[index(at)] = std::move(set);
  if (fastest_Bps > fastest_Bps_)
    expect_fastest(fastest_Bps);
}

void LinkShares::fill_links(const std::vector<int>& groups) {
  rests_.resize(links_.size());
  for (const int link : open_)
    rests_[index(link)] = {.Bps = links_[index(link)].Bps};
  limited_.clear();  // groups whose flows have a limit of their own (Rate::flow_Bps)
  for (const int group : groups) {
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

void LinkShares::drop_what_is_over() {
  while (!set_ends_.empty() && is_over(set_ends_.front())) {
    std::ranges::pop_heap(set_ends_, std::greater<>());
    set_ends_.pop_back();
  }
}

double LinkShares::next_end_s() {
  share();
  drop_what_is_over();
  return set_ends_.empty() ? infinite : std::max(0.0, set_ends_.front().end_s - now_s_);
}

std::vector<int> LinkShares::pass(double seconds) {
  share();
  now_s_ += seconds;
  const double slack_s = std::max(shortest_s, part_rounded * now_s_);
  std::vector<std::pair<std::int64_t, int>> over;  // in their order
  for (drop_what_is_over(); !set_ends_.empty() && set_ends_.front().end_s <= now_s_ + slack_s;
       drop_what_is_over()) {
    const int set = set_ends_.front().set;
    const std::vector<int> groups = sets_[index(set)].groups;
    dissolve(set);
    for (const int number : groups) {
      const Rate& rate = rates_[index(number)];
      const double reached = rate.carried * (1 + part_rounded) + slack_s * rate.Bps;
      if (reached < rate.near_end)
        continue;
      Group& group = groups_[index(number)];
      for (; !group.ends.empty(); pop_end(group)) {
        const End& end = group.ends.front();
        if (has_left(end))
          continue;
        if (reached < end.near_end)
          break;
        over.emplace_back(end.order, end.flow);
      }
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
