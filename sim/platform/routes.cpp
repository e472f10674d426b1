#include "sim/platform/routes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/registry.h"

namespace syncline {

Routes::Routes(const Platform& platform, const std::vector<std::string>& rank_hosts)
    : platform_(&platform) {
  for (const std::string& host : rank_hosts)
    hosts_.push_back(platform.place_of.at(host));
}

Route Routes::between(int from, int to) {
  if (hosts_[index(from)] == hosts_[index(to)])
    return {};
  LinkPath path;
  try {
    path = platform_->path(hosts_[index(from)], hosts_[index(to)]);
  } catch (const std::exception&) {  // some zones of SimGrid report a missing route like this
    path.links.clear();
  }
  if (path.links.empty())
    throw std::runtime_error(fmt::format("platform {}: hosts {} and {} have no route between them",
                                         platform_->name, brief(host(from).name),
                                         brief(host(to).name)));
  Route route{.latency_s = path.latency_s * platform_->latency_factor};
  route.links.reserve(path.links.size());
  double window_bytes = std::numeric_limits<double>::infinity();
  for (const int link : path.links) {
    if (index(link) >= place_in_links_.size())
      place_in_links_.resize(index(link) + 1, -1);
    int& place = place_in_links_[index(link)];
    if (place < 0) {
      place = static_cast<int>(links_.size());
      links_.push_back(platform_->link(link));
      if (links_.back().is_named)
        links_.back().bandwidth = links_.back().bandwidth.times(scale_);
    }
    const PlatformLink& known = links_[index(place)];
    window_bytes = std::min(window_bytes, known.window_bytes);
    if (known.fatpipe)
      route.flow_Bps = std::min(route.flow_Bps, known.bandwidth.mean_Bps());
    (known.fatpipe ? route.fatpipes : route.links).push_back(place);
  }
  if (std::isfinite(window_bytes)) {
    route.window_Bps = window_bytes / (route.latency_s + latency_s(to, from));
    route.flow_Bps = std::min(route.flow_Bps, route.window_Bps);
  }
  return route;
}

void Routes::scale_named(double times) {
  for (PlatformLink& link : links_)
    if (link.is_named)
      link.bandwidth = link.bandwidth.times(times / scale_);
  scale_ = times;
}

void Routes::scale(const std::vector<int>& links, double times) {
  for (const int link : links)
    links_[index(link)].bandwidth = links_[index(link)].bandwidth.times(times);
}

double Routes::width_Bps(int from, int to) {
  const Route route = between(from, to);
  double least_Bps = route.flow_Bps;
  for (const int link : route.links)
    least_Bps = std::min(least_Bps, links_[index(link)].bandwidth.mean_Bps());
  return least_Bps;
}

double Routes::latency_s(int from, int to) {
  if (hosts_[index(from)] == hosts_[index(to)])
    return 0;
  const auto [entry, added] = latencies_.try_emplace(
      static_cast<std::uint64_t>(from) * hosts_.size() + static_cast<std::uint64_t>(to));
  Latency& latency = entry->second;
  if (added) {
    LinkPath path = platform_->path(hosts_[index(from)], hosts_[index(to)]);
    latency.rest_s = path.latency_s;
    for (const int link : path.links)
      latency.rest_s -= platform_->link_latency_s(link);
    latency.links = std::move(path.links);
  }
  double seconds = latency.rest_s;
  for (const int link : latency.links)
    seconds += platform_->link_latency_s(link);
  if (!platform_->latencies_change)
    latency = {.links = {}, .rest_s = seconds};
  return std::max(0.0, seconds) * platform_->latency_factor;
}

}  // namespace syncline
