#include "sim/clock/lane.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace syncline {

Lane::Lane(const Topology& topology, Among among) {
  for (int worker = 0; worker < topology.workers(); ++worker)
    group_of_.push_back(topology.group_of(among, worker));
  moving_.resize(index(1 + *std::ranges::max_element(group_of_)));
  free_s_.resize(moving_.size());
  end_s_ = free_s_;
  looked_.resize(moving_.size());
  first_.resize(moving_.size());
  for (std::size_t worker = group_of_.size(); worker-- > 0;)
    first_[group(worker)] = worker;
}

Lane::Times Lane::take(const ExchangeTime& time, const std::vector<double>& ready_s) {
  Times times{.begin_s = free_s_, .end_s = {}, .free_s = {}, .tail_s = {}};
  for (std::size_t worker = 0; worker < group_of_.size(); ++worker)
    times.begin_s[group(worker)] = std::max(times.begin_s[group(worker)], ready_s[worker]);
  const double tail_s = time.shared_fixed_s + time.shared_bytes_s;
  for (std::size_t group = 0; group < free_s_.size(); ++group) {
    times.end_s.push_back(end_of(times.begin_s[group], time.exchange_s(), group));
    free_s_[group] = times.end_s.back() - tail_s;
    moving_[group].emplace_back(times.begin_s[group], free_s_[group]);
    times.free_s.push_back(free_s_[group]);
    times.tail_s.push_back(std::max(free_s_[group], end_s_[group]));
    end_s_[group] = times.end_s[group];
  }
  return times;
}

// The end of moving `seconds` alone, from begin_s on.
double Lane::end_of(double begin_s, double seconds, std::size_t group) {
  if (rate_beside_other_ == 1)
    return begin_s + seconds;
  double moment_s = begin_s;
  for (std::size_t from = looked_[group]; seconds > 0;) {
    const auto [beside, until_s] = other_->moves(first_[group], moment_s, from);
    if (moment_s == begin_s)
      looked_[group] = from;
    const double rate = beside ? rate_beside_other_ : 1;
    if (until_s - moment_s >= seconds / rate)
      return moment_s + seconds / rate;
    seconds -= (until_s - moment_s) * rate;
    moment_s = until_s;
  }
  return moment_s;
}

std::pair<bool, double> Lane::moves(std::size_t worker, double moment_s, std::size_t& from) const {
  const std::vector<std::pair<double, double>>& all = moving_[group(worker)];
  while (from < all.size() && all[from].second <= moment_s)
    ++from;
  if (from == all.size())
    return {false, std::numeric_limits<double>::infinity()};
  const auto& [begin_s, end_s] = all[from];
  return begin_s <= moment_s ? std::pair(true, end_s) : std::pair(false, begin_s);
}

Collective::Collective(Verb of_rows, const Traffic& of, const std::vector<ExchangeTime>& of_buckets,
                       const std::vector<Bucket>& buckets, Lane& stream)
    : verb(of_rows), lane(&stream), traffic(&of), times(&of_buckets) {
  const std::size_t ranks = traffic->cluster.rank_hosts.size();
  for (const Bucket& bucket : buckets) {
    Moves& made = moves.emplace_back(Moves{.sent = std::vector<std::uint64_t>(ranks),
                                           .received = std::vector<std::uint64_t>(ranks)});
    for (int rank = 0; rank < traffic->averaging_ranks(); ++rank)
      for_each_send(bucket, rank, [&](int from, int to, std::uint64_t bytes) {
        made.sent[index(from)] += bytes;
        made.received[index(to)] += bytes;
      });
  }
}

void Collective::for_each_send(const Bucket& bucket, int rank, const Traffic::Moves& sent) const {
  const std::vector<std::string>& hosts = traffic->cluster.rank_hosts;
  traffic->for_each_activity(bucket, {rank},
                             [&](int from, int to, std::uint64_t bytes) {
                               if (hosts[index(from)] != hosts[index(to)])
                                 sent(from, to, bytes);
                             },
                             {});
}

std::pair<double, double> SharedLink::shared_rates() const {
  const auto rate = [](double own, double other) {
    return own > 0 ? std::max(std::min(own, 0.5), 1 - other) / own : 1;
  };
  if (first + second <= 1)
    return {1, 1};
  return {rate(first, second), rate(second, first)};
}

double SharedLink::rate_beside(double own, double other) {
  return own + other <= 1 ? 1 : std::max(0.0, 1 - other) / own;
}

SharedLink shared_link(const Traffic& first, const std::vector<ExchangeTime>& first_times,
                       const Traffic& second, const std::vector<ExchangeTime>& second_times,
                       const std::vector<Bucket>& buckets, Routes& routes) {
  const auto largest = static_cast<std::size_t>(
      std::ranges::max_element(buckets, {}, &Bucket::parameters) - buckets.begin());
  const auto bytes_on_links = [&](const Traffic& traffic) {
    std::map<int, double> bytes_on;
    for (int rank = 0; rank < traffic.averaging_ranks(); ++rank)
      traffic.for_each_activity(buckets[largest], {rank},
                                [&](int from, int to, std::uint64_t bytes) {
                                  for (const int link : routes.between(from, to).links)
                                    bytes_on[link] += static_cast<double>(bytes);
                                },
                                {});
    return bytes_on;
  };
  const auto part = [&](const std::vector<ExchangeTime>& times, int link, double bytes) {
    const double seconds = times[largest].exchange_s();
    return seconds > 0 ? std::min(1.0, bytes / routes.link(link).bandwidth.mean_Bps() / seconds)
                       : 0;
  };
  SharedLink most;
  const std::map<int, double> of_second = bytes_on_links(second);
  for (const auto& [link, bytes] : bytes_on_links(first))
    if (const auto both = of_second.find(link); both != of_second.end())
      if (const SharedLink found{part(first_times, link, bytes),
                                 part(second_times, link, both->second)};
          found.first + found.second > most.first + most.second)
        most = found;
  return most;
}

}  // namespace syncline
