#include "sim/traffic/link_shares.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/plan.h"

namespace syncline {
namespace {

constexpr auto no_place = static_cast<std::size_t>(-1);
constexpr double part_lost = 1e-9;  // a flow has ended when this part of it is left

}  // namespace

LinkShares::Link& LinkShares::known_link(int link) {
  if (index(link) >= links_.size())
    links_.resize(index(link) + 1);
  Link& known = links_[index(link)];
  if (known.Bps < 0)
    known.Bps = routes_.link(link).bandwidth.mean_Bps();
  return known;
}

void LinkShares::set_bandwidth(int number, double Bps) {
  const double more_Bps = Bps - std::exchange(known_link(number).Bps, Bps);
  if (more_Bps == 0)
    return;
  for (const int other : links_[index(number)].home_of) {
    Link& link = links_[index(other)];
    if (std::ranges::find(link.homes, number, &Home::link)->flows == 0)
      continue;
    if (number != other)
      link.homes_Bps += more_Bps;
    reconsider(link);
  }
  reconsider(links_[index(number)]);
  for (const int path : links_[index(number)].paths) {
    paths_[index(path)].groups.clear();
    move_to_its_group(path);
  }
  if (!links_[index(number)].groups.empty())
    change(rates_[index(links_[index(number)].groups.front())].set);
}

// The narrowest link of the route, the nearest of those that are; of links as wide as the one in
// this place only those with a lower number count, so that no two bound each other.
int LinkShares::home_on(const std::vector<int>& route, std::size_t place) const {
  const int own = route[place];
  if (std::ranges::count(route, own) > 1)
    return own;  // where its flows have twice their rate
  const auto width = [&](int link) { return routes_.link(link).bandwidth.mean_Bps(); };
  int home = own;
  const auto look_at = [&](std::size_t i) {
    const bool bounds = std::pair(width(route[i]), route[i]) < std::pair(width(own), own);
    if (bounds && (home == own || width(route[i]) < width(home)))
      home = route[i];
  };
  for (std::size_t distance = 1; distance < route.size(); ++distance) {
    if (distance <= place)
      look_at(place - distance);
    if (place + distance < route.size())
      look_at(place + distance);
  }
  return home;
}

int LinkShares::path_of(const Route& route) {
  const auto [known, added] = path_at_.emplace(&route, static_cast<int>(paths_.size()));
  if (!added)
    return known->second;
  Path path{.route = &route};
  for (const int link : route.links)
    known_link(link);
  for (const int link : route.fatpipes)
    known_link(link).paths.push_back(known->second);
  for (std::size_t i = 0; i < route.links.size(); ++i) {
    Link& link = links_[index(route.links[i])];
    link.paths.push_back(known->second);
    const int home = home_on(route.links, i);
    auto place = std::ranges::find(link.homes, home, &Home::link);
    if (place == link.homes.end()) {
      place = link.homes.insert(place, {.link = home});
      links_[index(home)].home_of.push_back(route.links[i]);
    }
    path.homes.push_back(static_cast<std::size_t>(place - link.homes.begin()));
  }
  paths_.push_back(std::move(path));
  return known->second;
}

void LinkShares::reconsider(Link& link) {
  const bool is_bounded = link.unbounded == 0 && link.homes_Bps <= link.Bps;
  // Only a link far from full is left out again, or its flows would move with each that begins.
  const double enough_Bps = link.may_be_full ? link.Bps / 2 : link.Bps;
  const bool may_be_full = !is_bounded && link.flows * fastest_Bps_ > enough_Bps;
  if (std::exchange(link.may_be_full, may_be_full) != may_be_full)
    for (const int path : link.paths)
      move_to_its_group(path);
}

void LinkShares::count(int number, int flows) {
  const Path& path = paths_[index(number)];
  for (std::size_t i = 0; i < path.homes.size(); ++i) {
    Link& link = links_[index(path.route->links[i])];
    Home& home = link.homes[path.homes[i]];
    home.flows += flows;
    if (&links_[index(home.link)] == &link)
      link.unbounded += flows;
    else if (home.flows == std::max(flows, 0))  // the first, or none any more
      link.homes_Bps += flows * links_[index(home.link)].Bps;
    link.flows += flows;
  }
  for (const int link : path.route->links)
    reconsider(links_[index(link)]);
}

double LinkShares::flow_Bps(const Path& path) const {
  double Bps = path.route->window_Bps;
  for (const int link : path.route->fatpipes)
    Bps = std::min(Bps, links_[index(link)].Bps);
  return Bps;
}

int LinkShares::group_of(Path& path) {
  std::uint64_t full = 0;
  const bool is_short = path.route->links.size() <= 64;
  for (std::size_t i = 0; i < path.route->links.size() && is_short; ++i)
    if (links_[index(path.route->links[i])].may_be_full)
      full |= std::uint64_t{1} << i;
  for (const auto& [links, group] : path.groups)
    if (links == full && is_short)
      return group;
  std::vector<int> links;
  const double flow_most_Bps = flow_Bps(path);
  double alone_Bps = flow_most_Bps;
  for (const int link : path.route->links) {
    alone_Bps = std::min(alone_Bps, links_[index(link)].Bps);
    if (links_[index(link)].may_be_full)
      links.push_back(link);
  }
  std::ranges::sort(links);
  const double most_Bps = links.empty() ? alone_Bps : flow_most_Bps;
  const auto [known, added] =
      group_at_.emplace(std::pair(most_Bps, links), static_cast<int>(groups_.size()));
  if (added) {
    groups_.push_back({.links = links, .places = std::vector<std::size_t>(links.size())});
    const auto first = static_cast<int>(crossed_.size());
    crossed_.insert(crossed_.end(), links.begin(), links.end());
    rates_.push_back(
        {.flow_Bps = most_Bps, .first_link = first, .end_link = static_cast<int>(crossed_.size())});
  }
  if (is_short)
    path.groups.emplace_back(full, known->second);
  return known->second;
}

double LinkShares::carried_now(int group) const {
  const Rate& rate = rates_[index(group)];
  return rate.carried + rate.Bps * (now_s_ - sets_[index(rate.set)].since_s);
}

void LinkShares::activate(int group) {
  Group& active = groups_[index(group)];
  int set = -1;
  for (const int number : active.links)
    if (const Link& link = links_[index(number)]; !link.groups.empty()) {
      const int other = rates_[index(link.groups.front())].set;
      set = set < 0 ? other : merge(set, other);
    }
  if (set < 0)
    set = new_set();
  for (std::size_t i = 0; i < active.links.size(); ++i) {
    Link& link = links_[index(active.links[i])];
    if (link.groups.empty())
      join_link(set, active.links[i]);
    active.places[i] = link.groups.size();
    link.groups.push_back(group);
  }
  join(set, group);
}

void LinkShares::deactivate(int group) {
  Group& idle = groups_[index(group)];
  Set& set = sets_[index(rates_[index(group)].set)];
  idle.ends.clear();
  for (std::size_t i = 0; i < idle.links.size(); ++i) {
    Link& link = links_[index(idle.links[i])];
    const std::size_t place_of_idle = std::exchange(idle.places[i], no_place);
    take_out(link.groups, place_of_idle, [&](int other, std::size_t place) {
      Group& moved = groups_[index(other)];
      const auto crossed = std::ranges::lower_bound(moved.links, idle.links[i]);
      std::size_t at = static_cast<std::size_t>(crossed - moved.links.begin());
      while (moved.places[at] != link.groups.size())  // a link that it crosses twice is there twice
        ++at;
      moved.places[at] = place;
    });
    if (link.groups.empty())
      take_out(set.links, link.place,
               [&](int other, std::size_t place) { links_[index(other)].place = place; });
  }
  leave(group);
}

void LinkShares::move_to_its_group(int number) {
  Path& path = paths_[index(number)];
  if (path.flows.empty())
    return;
  const int from = std::exchange(path.group, group_of(path));
  const int to = path.group;
  if (to == from)
    return;
  if (rates_[index(to)].flows == 0)
    activate(to);
  change(rates_[index(to)].set);
  change(rates_[index(from)].set);
  updates_ += static_cast<double>(path.flows.size());
  const double more = carried_now(to) - carried_now(from);
  for (const int flow : path.flows) {
    flows_[index(flow)].end_bytes += more;
    ++flows_[index(flow)].moves;
    push_end(to, flow);
  }
  rates_[index(to)].flows += static_cast<int>(path.flows.size());
  rates_[index(from)].flows -= static_cast<int>(path.flows.size());
  if (rates_[index(from)].flows == 0)
    deactivate(from);
  else
    find_next_end(from);
  find_next_end(to);
}

void LinkShares::push_end(int group, int flow) {
  const Flow& one = flows_[index(flow)];
  std::vector<End>& ends = groups_[index(group)].ends;
  ends.push_back({.end_bytes = one.end_bytes,
                  .near_end = one.end_bytes - part_lost * one.bytes,
                  .order = one.order,
                  .flow = flow,
                  .moves = one.moves});
  std::ranges::push_heap(ends, std::greater<>());
}

void LinkShares::add(const Route& route, double bytes, int number) {
  const int at = path_of(route);
  count(at, 1);
  Path& path = paths_[index(at)];
  if (path.flows.empty())
    path.group = group_of(path);
  if (rates_[index(path.group)].flows++ == 0)
    activate(path.group);
  change(rates_[index(path.group)].set);
  int flow = static_cast<int>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    flow = free_.back();
    free_.pop_back();
  }
  flows_[index(flow)] = {.path = at,
                         .place = path.flows.size(),
                         .bytes = bytes,
                         .end_bytes = carried_now(path.group) + bytes,
                         .number = number,
                         .order = added_++};
  path.flows.push_back(flow);
  push_end(path.group, flow);
  find_next_end(path.group);
}

void LinkShares::end(int number) {
  const Flow flow = flows_[index(number)];
  flows_[index(number)].order = -1;
  free_.push_back(number);
  Path& path = paths_[index(flow.path)];
  change(rates_[index(path.group)].set);
  take_out(path.flows, flow.place,
           [&](int other, std::size_t place) { flows_[index(other)].place = place; });
  if (--rates_[index(path.group)].flows == 0)
    deactivate(path.group);
  else
    find_next_end(path.group);
  count(flow.path, -1);
}

void LinkShares::pop_end(Group& group) {
  std::ranges::pop_heap(group.ends, std::greater<>());
  group.ends.pop_back();
}

bool LinkShares::has_left(const End& end) const {
  const Flow& flow = flows_[index(end.flow)];
  return flow.order != end.order || flow.moves != end.moves;
}

void LinkShares::find_next_end(int number) {
  Group& group = groups_[index(number)];
  while (!group.ends.empty() && has_left(group.ends.front()))
    pop_end(group);
  if (group.ends.empty()) {  // its flows are just ending
    rates_[index(number)].next_end = rates_[index(number)].near_end =
        std::numeric_limits<double>::infinity();
    return;
  }
  rates_[index(number)].next_end = group.ends.front().end_bytes;
  rates_[index(number)].near_end = group.ends.front().near_end;
}

}  // namespace syncline
