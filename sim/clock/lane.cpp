#include "sim/clock/lane.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace syncline {

Lane::Lane(const Topology& topology, Among among) {
  for (int worker = 0; worker < topology.workers(); ++worker)
    group_of_.push_back(topology.group_of(among, worker));
  moving_.resize(index(1 + *std::ranges::max_element(group_of_)));
  free_s_.resize(moving_.size());
  end_s_ = free_s_;
}

Lane::Times Lane::take(const ExchangeTime& time, const std::vector<double>& ready_s) {
  Times times{.begin_s = free_s_, .end_s = {}, .free_s = {}, .tail_s = {}};
  for (std::size_t worker = 0; worker < group_of_.size(); ++worker)
    times.begin_s[group(worker)] = std::max(times.begin_s[group(worker)], ready_s[worker]);
  const double tail_s = time.shared_fixed_s + time.shared_bytes_s;
  for (std::size_t group = 0; group < free_s_.size(); ++group) {
    times.end_s.push_back(times.begin_s[group] + time.exchange_s());
    free_s_[group] = times.end_s.back() - tail_s;
    moving_[group].emplace_back(times.begin_s[group], free_s_[group]);
    times.free_s.push_back(free_s_[group]);
    times.tail_s.push_back(std::max(free_s_[group], end_s_[group]));
    end_s_[group] = times.end_s[group];
  }
  return times;
}

double Lane::beside_s(const Lane& other) const {
  double most_s = 0;
  std::vector<bool> seen(moving_.size());
  for (std::size_t worker = 0; worker < group_of_.size(); ++worker) {
    if (seen[group(worker)])
      continue;
    seen[group(worker)] = true;
    double seconds = 0;
    std::size_t from = 0;
    for (const auto& [begin_s, end_s] : moving_[group(worker)])
      for (double moment_s = begin_s; moment_s < end_s;) {
        const auto [both, until_s] = other.moves(worker, moment_s, from);
        seconds += both ? std::min(until_s, end_s) - moment_s : 0;
        moment_s = std::min(until_s, end_s);
      }
    most_s = std::max(most_s, seconds);
  }
  return most_s;
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

double seconds_shared(const Collective& one, const Collective& other,
                      const std::vector<Bucket>& buckets, Routes& routes) {
  const double both_s = other.lane->beside_s(*one.lane);
  if (both_s == 0)
    return 0;
  const auto for_each_link = [&](const Collective& collective, const auto& with) {
    for (std::size_t bucket = 0; bucket < collective.moves.size(); ++bucket)
      for (int rank = 0; rank < collective.traffic->averaging_ranks(); ++rank)
        collective.for_each_send(buckets[bucket], rank, [&](int from, int to, std::uint64_t bytes) {
          for (const int link : routes.between(from, to).links)
            with(link, bucket, static_cast<double>(bytes));
        });
  };
  std::set<int> crossed;
  for_each_link(other, [&](int link, std::size_t, double) { crossed.insert(link); });
  std::map<std::pair<std::size_t, int>, double> bytes_on;  // by bucket and link
  for_each_link(one, [&](int link, std::size_t bucket, double bytes) {
    if (crossed.contains(link))
      bytes_on[{bucket, link}] += bytes;
  });
  double most = 0;
  for (const auto& [where, bytes] : bytes_on)
    most = std::max(most, bytes / (*one.times)[where.first].exchange_s() /
                              routes.link(where.second).bandwidth.mean_Bps());
  return both_s * most;
}

}  // namespace syncline
