#include "tests/reference/rounds.h"

#include <algorithm>

namespace syncline::reference {

using Id = Happenings::Id;

void append_ring(Parts& parts, const std::vector<int>& ring, int rank, int steps, double bytes) {
  const auto n = static_cast<int>(ring.size());
  const auto place = static_cast<int>(std::ranges::find(ring, rank) - ring.begin());
  if (steps > 1)
    parts.emplace_back(Meeting{ring});
  for (int step = 0; step < steps; ++step)
    parts.emplace_back(Round{.sends = {{ring[index((place + 1) % n)], bytes}},
                             .receives = {ring[index((place + n - 1) % n)]},
                             .has_room = true});
}

Id Player::nth(std::vector<Id>& ids, std::size_t n) {
  while (ids.size() <= n)
    ids.push_back(happenings_.when_all());
  return ids[n];
}

std::pair<Id, Id> Player::send(int from, int to, double bytes, Id begin) {
  const Way& way = facts_.way(from, to);
  const Id injected = happenings_.flow(begin, way, bytes);
  return {injected, happenings_.delay(injected, way.latency_s)};
}

Id Player::play(const Parts& parts, int rank, int channel, Id begin) {
  Id at = begin;
  for (const Part& part : parts)
    if (const auto* seconds = std::get_if<Seconds>(&part)) {
      at = happenings_.delay(at, seconds->s);
    } else if (const auto* meeting = std::get_if<Meeting>(&part)) {
      Met& met = met_[{channel, meeting->ranks}];
      const Id all = nth(met.meetings, met.been[rank]++);
      happenings_.require(all, at);
      at = all;
    } else {
      const Round& round = std::get<Round>(part);
      std::vector<Id> ends;
      if (!round.sends.empty() && facts_.step_overhead_s > 0)
        at = happenings_.delay(at, facts_.step_overhead_s);
      for (const auto& [to, bytes] : round.sends) {
        Box& box = boxes_[{channel, rank, to}];
        const Id awaited = nth(box.awaited, box.sent);
        const Id out = round.has_room ? at : happenings_.when_all({at, awaited});
        const auto [injected, arrived] = send(rank, to, bytes, out);
        happenings_.require(nth(box.arrivals, box.sent++), arrived);
        ends.push_back(injected);
      }
      for (const int from : round.receives) {
        Box& box = boxes_[{channel, from, rank}];
        happenings_.require(nth(box.awaited, box.taken), at);
        ends.push_back(nth(box.arrivals, box.taken++));
      }
      ends.push_back(at);
      at = happenings_.when_all(ends);
    }
  return at;
}

}  // namespace syncline::reference
