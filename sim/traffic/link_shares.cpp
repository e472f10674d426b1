#include "sim/traffic/link_shares.h"

#include <algorithm>
#include <limits>

#include "sim/plan.h"

namespace syncline {
namespace {

constexpr double part_lost = 1e-9;
constexpr double shortest_s = 1e-12;  // a flow with less time left has ended
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

void LinkShares::add(const Route& route, double bytes, const Owner& owner) {
  flows_.push_back({.route = &route, .bytes = bytes, .left = bytes, .owner = owner});
  changed_ = true;
}

void LinkShares::fix(Flow& flow, double rate) {
  flow.rate = rate;
  flow.fixed = true;
  for (const int link : flow.route->links) {
    Link& crossed = links_[index(link)];
    crossed.left_Bps = std::max(0.0, crossed.left_Bps - rate);
    --crossed.flows;
  }
}

void LinkShares::share() {
  links_.resize(routes_.links().size());
  used_.clear();
  for (Flow& flow : flows_) {
    flow.fixed = false;
    for (const int link : flow.route->links) {
      Link& crossed = links_[index(link)];
      if (crossed.flows++ == 0) {
        used_.push_back(link);
        crossed.left_Bps = routes_.link(link).bandwidth.mean_Bps();
      }
    }
  }
  std::size_t fixed = 0;
  while (fixed < flows_.size()) {
    double least_Bps = infinite;
    for (const int link : used_)
      if (const Link& crossed = links_[index(link)]; crossed.flows > 0)
        least_Bps = std::min(least_Bps, crossed.left_Bps / crossed.flows);
    for (const Flow& flow : flows_)
      if (!flow.fixed)
        least_Bps = std::min(least_Bps, flow.route->flow_Bps);
    // Finds all flows whose way is that narrow before changing the bandwidth that is left.
    const double limit_Bps = least_Bps * (1 + part_lost);
    std::vector<Flow*> now;
    for (Flow& flow : flows_)
      if (!flow.fixed && (flow.route->flow_Bps <= limit_Bps ||
                          std::ranges::any_of(flow.route->links, [&](int link) {
                            return links_[index(link)].left_Bps <=
                                   limit_Bps * links_[index(link)].flows;
                          })))
        now.push_back(&flow);
    for (Flow* flow : now)
      fix(*flow, least_Bps);
    fixed += now.size();
    updates_ += static_cast<double>(used_.size() + flows_.size());
  }
  changed_ = false;
}

double LinkShares::next_end_s() {
  if (changed_)
    share();
  double seconds = infinite;
  for (const Flow& flow : flows_)
    seconds = std::min(seconds, flow.left / flow.rate);
  return seconds;
}

std::vector<LinkShares::Owner> LinkShares::pass(double seconds) {
  updates_ += static_cast<double>(flows_.size());
  std::vector<Owner> ended;
  for (Flow& flow : flows_)
    flow.left -= flow.rate * seconds;
  const auto is_over = [](const Flow& flow) {
    return flow.left <= std::max(part_lost * flow.bytes, shortest_s * flow.rate);
  };
  for (const Flow& flow : flows_)
    if (is_over(flow))
      ended.push_back(flow.owner);
  if (!ended.empty()) {
    std::erase_if(flows_, is_over);
    changed_ = true;
  }
  return ended;
}

}  // namespace syncline
