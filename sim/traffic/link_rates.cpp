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
// A set may have come apart, and is looked through, once 1 / parts_of_set of its groups have left.
constexpr std::size_t parts_of_set = 4;
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

int LinkShares::new_set() {
  int set = static_cast<int>(sets_.size());
  if (free_sets_.empty()) {
    sets_.emplace_back();
  } else {
    set = free_sets_.back();
    free_sets_.pop_back();
  }
  sets_[index(set)].since_s = now_s_;
  changed_.push_back(set);
  return set;
}

void LinkShares::free_set(int set) {
  sets_[index(set)] = {};
  free_sets_.push_back(set);
}

void LinkShares::change(int set) {
  if (std::exchange(sets_[index(set)].number, 0) != 0)
    changed_.push_back(set);
}

void LinkShares::join(int number, int group) {
  Set& set = sets_[index(number)];
  rates_[index(group)].set = number;
  groups_[index(group)].place = set.groups.size();
  set.groups.push_back(group);
  set.limited += rates_[index(group)].flow_Bps < infinite ? 1 : 0;
}

void LinkShares::join_link(int set, int link) {
  links_[index(link)].place = sets_[index(set)].links.size();
  sets_[index(set)].links.push_back(link);
}

void LinkShares::leave(int group) {
  Rate& rate = rates_[index(group)];
  const int number = std::exchange(rate.set, -1);
  rate.Bps = rate.carried = 0;
  Set& set = sets_[index(number)];
  take_out(set.groups, groups_[index(group)].place,
           [&](int other, std::size_t place) { groups_[index(other)].place = place; });
  set.limited -= rate.flow_Bps < infinite ? 1 : 0;
  ++set.left;
  if (set.groups.empty())
    free_set(number);
}

void LinkShares::carry(Set& set) {
  const double seconds = now_s_ - std::exchange(set.since_s, now_s_);
  for (const int group : set.groups)
    rates_[index(group)].carried += rates_[index(group)].Bps * seconds;
}

int LinkShares::merge(int one, int other) {
  if (one == other)
    return one;
  if (sets_[index(one)].groups.size() < sets_[index(other)].groups.size())
    std::swap(one, other);
  carry(sets_[index(one)]);
  carry(sets_[index(other)]);
  const Set& more = sets_[index(other)];
  for (const int group : more.groups)
    join(one, group);
  for (const int link : more.links)
    join_link(one, link);
  sets_[index(one)].left += more.left;
  free_set(other);
  return one;
}

void LinkShares::split(int number) {
  carry(sets_[index(number)]);
  const std::vector<int> groups = std::move(sets_[index(number)].groups);
  free_set(number);
  for (const int group : groups)
    rates_[index(group)].set = -1;
  for (const int first : groups) {
    if (rates_[index(first)].set >= 0)
      continue;
    const int set = new_set();
    join(set, first);
    for (std::size_t i = 0; i < sets_[index(set)].groups.size(); ++i)
      for (const int link : groups_[index(sets_[index(set)].groups[i])].links) {
        const std::vector<int>& links = sets_[index(set)].links;
        if (links_[index(link)].place < links.size() && links[links_[index(link)].place] == link)
          continue;
        join_link(set, link);
        for (const int other : links_[index(link)].groups)
          if (rates_[index(other)].set < 0)
            join(set, other);
      }
  }
}

void LinkShares::give_rate(Set& set, int group, double Bps, int filled) {
  Rate& rate = rates_[index(group)];
  rate.carried += rate.Bps * (now_s_ - set.since_s);
  rate.Bps = Bps;
  rate.number = set.number;
  set.fastest_Bps = std::max(set.fastest_Bps, Bps);
  const double left = std::max(0.0, rate.next_end - rate.carried);
  if (left < set.next_s * Bps)
    set.next_s = left / Bps;
  for (int i = rate.first_link; i < rate.end_link; ++i) {
    const int link = crossed_[index(i)];
    if (link == filled)
      continue;
    Rest& rest = rests_[index(link)];
    rest.Bps = std::max(0.0, rest.Bps - rate.flows * Bps);
    rest.waiting -= rate.flows;
  }
}

void LinkShares::share() {
  for (;;) {
    while (!changed_.empty()) {
      const int number = changed_.back();
      changed_.pop_back();
      const Set& set = sets_[index(number)];
      if (set.number != 0 || set.groups.empty())
        continue;
      if (parts_of_set * static_cast<std::size_t>(set.left) > set.groups.size())
        split(number);
      else
        fill(number);
    }
    // Looking at all sets each time would take longer than filling one.
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

void LinkShares::fill(int number) {
  Set& set = sets_[index(number)];
  set.number = ++numbers_;
  set.fastest_Bps = 0;
  set.next_s = infinite;
  ++looked_;
  fill_links(set);
  set.since_s = now_s_;
  if (set_ends_.size() > 64 + 4 * sets_.size()) {
    std::erase_if(set_ends_, [&](const SetEnd& end) { return is_over(end); });
    std::ranges::make_heap(set_ends_, std::greater<>());
  }
  set_ends_.push_back({.end_s = now_s_ + set.next_s, .set = number, .number = set.number});
  std::ranges::push_heap(set_ends_, std::greater<>());
  if (set.fastest_Bps > fastest_Bps_)
    expect_fastest(set.fastest_Bps);
}

void LinkShares::fill_links(Set& set) {
  rests_.resize(links_.size());
  open_ = set.links;
  for (const int number : open_) {
    const Link& link = links_[index(number)];
    // All flows of a link that may be full are of groups that know it.
    rests_[index(number)] = {.Bps = link.Bps, .waiting = static_cast<double>(link.flows)};
  }
  limited_.clear();
  for (std::size_t i = 0; limited_.size() < index(set.limited); ++i)
    if (rates_[index(set.groups[i])].flow_Bps < infinite)
      limited_.push_back(set.groups[i]);
  std::ranges::sort(limited_, std::greater<>(),
                    [&](int group) { return rates_[index(group)].flow_Bps; });
  const auto is_known = [&](int group) { return rates_[index(group)].number == set.number; };
  for (;;) {
    const double least_Bps = find_narrowest();
    while (!limited_.empty() && is_known(limited_.back()))
      limited_.pop_back();
    if (!limited_.empty() && rates_[index(limited_.back())].flow_Bps <= least_Bps) {
      give_rate(set, limited_.back(), rates_[index(limited_.back())].flow_Bps, -1);
      continue;
    }
    if (narrowest_.empty())
      break;
    for (const int link : narrowest_) {
      updates_ += static_cast<double>(links_[index(link)].groups.size());
      for (const int group : links_[index(link)].groups)
        if (!is_known(group))
          give_rate(set, group, least_Bps, link);
    }
    for (const int link : narrowest_)
      rests_[index(link)].waiting = 0;
  }
}

double LinkShares::find_narrowest() {
  double least_Bps = infinite;
  std::size_t open = 0;
  // Without a branch on the share, which no processor could predict.
  for (const int link : open_) {
    Rest& rest = rests_[index(link)];
    if (rest.waiting == 0)
      continue;
    open_[open++] = link;
    rest.share_Bps = rest.Bps / rest.waiting;
    least_Bps = std::min(least_Bps, rest.share_Bps);
  }
  open_.resize(open);
  narrowest_.clear();
  for (const int link : open_)
    if (rests_[index(link)].share_Bps == least_Bps)
      narrowest_.push_back(link);
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
    change(set);
    for (const int number : sets_[index(set)].groups) {
      const Rate& rate = rates_[index(number)];
      const double reached = carried_now(number) * (1 + part_rounded) + slack_s * rate.Bps;
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
