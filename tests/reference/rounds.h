// What one rank does in one exchange, round by round, and how ranks turn that into events.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tests/reference/facts.h"
#include "tests/reference/network.h"

namespace syncline::reference {

// The rank sends all of `sends` at once. The next round begins when they are injected, and when one
// message from each of `receives` has arrived. A message starts when both of its ranks have reached
// it (a rendezvous), unless the receiver already has room for it: in a ring, whose ranks have met.
struct Round {
  std::vector<std::pair<int, double>> sends;  // receiver and bytes
  std::vector<int> receives;                  // senders
  bool has_room = false;
};

struct Meeting {  // passed when all of these have come
  std::vector<int> ranks;
};

struct Seconds {  // of work on messages
  double s = 0;
};

using Part = std::variant<Round, Meeting, Seconds>;
using Parts = std::vector<Part>;

// n - 1 or 2(n - 1) steps of one part round a ring of these ranks.
void append_ring(Parts& parts, const std::vector<int>& ring, int rank, int steps, double bytes);

class Player {
 public:
  Player(Happenings& happenings, const Facts& facts) : happenings_(happenings), facts_(facts) {}

  // The event that this rank has done all parts, if it begins at `begin`. Messages between two
  // ranks are matched in the order of sending, for each `channel` separately.
  Happenings::Id play(const Parts& parts, int rank, int channel, Happenings::Id begin);
  // Returns the events of injection and of arrival.
  std::pair<Happenings::Id, Happenings::Id> send(int from, int to, double bytes,
                                                 Happenings::Id begin);

 private:
  struct Box {
    std::vector<Happenings::Id> awaited;  // when the receiver reaches the n-th message
    std::vector<Happenings::Id> arrivals;
    std::size_t sent = 0;
    std::size_t taken = 0;
  };
  struct Met {
    std::vector<Happenings::Id> meetings;
    std::map<int, std::size_t> been;  // how far each rank has come
  };
  Happenings::Id nth(std::vector<Happenings::Id>& ids, std::size_t n);

  Happenings& happenings_;
  const Facts& facts_;
  std::map<std::tuple<int, int, int>, Box> boxes_;
  std::map<std::pair<int, std::vector<int>>, Met> met_;
};

}  // namespace syncline::reference
