#include "sim/traffic/at_once.h"

#include <deque>
#include <variant>

#include "sim/traffic/followed_streams.h"
#include "sim/traffic/link_shares.h"

namespace syncline {

std::optional<double> seconds_at_once(const Traffic& traffic, Routes& routes,
                                      const Payload& payload, double bandwidth) {
  if (traffic.averaging_ranks() > followed::most_ranks)
    return std::nullopt;
  std::deque<Route> ways;  // stay where they are
  LinkShares shares(routes);
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank)
    for (const auto& action : traffic.plan_of(payload, rank))
      if (const Phase* phase = std::get_if<Phase>(&action))
        for (const Transfer& send : phase->sends) {
          ways.push_back(routes.between(rank, send.peer));
          if (send.bytes > 0 && !ways.back().links.empty())
            shares.add(ways.back(), static_cast<double>(send.bytes) / bandwidth,
                       static_cast<int>(ways.size()));
        }
  double seconds = 0;
  while (!shares.is_idle()) {
    const double next_s = shares.next_end_s();
    shares.pass(next_s);
    seconds += next_s;
  }
  return seconds;
}

}  // namespace syncline
