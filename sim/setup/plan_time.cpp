#include "sim/setup/plan_time.h"

#include <algorithm>
#include <vector>

#include "sim/setup/followed_plans.h"

namespace syncline {
namespace {

constexpr int most_ranks = 256;        // whose plans are made
constexpr int most_partitions = 64;    // that are followed
constexpr double most_messages = 2e5;  // in memory at a time

struct PlansSize {
  double messages = 0;  // that are followed
  int partitions = 1;
  bool buckets_follow = false;  // a rank may begin one before all others have ended that before it
};

PlansSize size_of(const std::vector<Plan>& plans) {
  PlansSize size;
  const Phase* first = nullptr;
  for (const Plan& plan : plans)
    for (const auto& action : plan)
      if (const Phase* phase = std::get_if<Phase>(&action)) {
        first = first == nullptr ? phase : first;
        size.messages += static_cast<double>(phase->sends.size()) * phase->steps *
                         std::min(phase->stage.partitions, most_partitions);
        size.partitions = std::max(size.partitions, phase->stage.partitions);
      }
  size.buckets_follow = first != nullptr && first->stage.in_flight != 1;
  return size;
}

}  // namespace

std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth) {
  if (traffic.averaging_ranks() > most_ranks)
    return std::nullopt;
  std::vector<Plan> plans;
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank)
    plans.push_back(plan_of(*traffic.exchange, traffic.cluster.topology, traffic.exchange_settings,
                            payload, rank));
  const PlansSize size = size_of(plans);
  if (size.messages > most_messages)
    return std::nullopt;
  bool known = true;
  const auto followed = [&](int buckets, int partitions, bool bytes) {
    const auto seconds = known ? followed_seconds(traffic, routes, plans,
                                                  {.buckets = buckets,
                                                   .partitions = partitions,
                                                   .per_byte = bytes ? 1 / bandwidth : 0})
                               : std::nullopt;
    known = seconds.has_value();
    return seconds.value_or(0);
  };
  // The rest of the partitions follow at the pace of those that are followed.
  const auto all = [&](int buckets, bool bytes) {
    const int first = std::min(size.partitions, most_partitions);
    const double seconds = followed(buckets, first, bytes);
    if (first == size.partitions)
      return seconds;
    const double pace_s = (seconds - followed(buckets, first / 2, bytes)) / (first - first / 2);
    return seconds + (size.partitions - first) * pace_s;
  };
  PlanTime time;
  time.seconds = all(1, true);
  time.fixed_s = std::min(time.seconds, all(1, false));
  time.pace_s = time.seconds;
  time.pace_fixed_s = time.fixed_s;
  if (size.buckets_follow) {
    time.pace_s = std::min(time.seconds, all(2, true) - time.seconds);
    time.pace_fixed_s = std::clamp(all(2, false) - time.fixed_s, 0.0, time.pace_s);
  }
  return known ? std::optional(time) : std::nullopt;
}

}  // namespace syncline
