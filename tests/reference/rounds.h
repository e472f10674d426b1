// What one rank does in one exchange, round by round, and how ranks that do so become happenings.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tests/reference/facts.h"
#include "tests/reference/network.h"

namespace syncline::reference {

// It sends all of these at once. The next begins when they are injected, and when one message of
// each of the others has arrived. A message sets out when both of its ranks have come to it (a
// rendezvous), unless the receiver has room for it before: in a ring, whose ranks have met.
struct Round {
  std::vector<std::pair<int, double>> sends;  // to whom, and bytes
  std::vector<int> receives;                  // from whom
  bool has_room = false;
};

struct Meeting {  // goes on when all of these have come
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

  // When this rank has done all this, if it begins then. Messages between two ranks are taken in
  // the order in which they are sent, in each `channel` by itself.
  Happenings::Id play(const Parts& parts, int rank, int channel, Happenings::Id begin);
  // Injected; and when it arrives.
  std::pair<Happenings::Id, Happenings::Id> send(int from, int to, double bytes,
                                                 Happenings::Id begin);

 private:
  struct Box {
    std::vector<Happenings::Id> awaited;  // when the receiver has come to the n-th
    std::vector<Happenings::Id> arrivals;
    std::size_t sent = 0;
    std::size_t taken = 0;
  };
  struct Met {
    std::vector<Happenings::Id> meetings;
    std::map<int, std::size_t> been;  // of each rank
  };
  Happenings::Id nth(std::vector<Happenings::Id>& ids, std::size_t n);

  Happenings& happenings_;
  const Facts& facts_;
  std::map<std::tuple<int, int, int>, Box> boxes_;
  std::map<std::pair<int, std::vector<int>>, Met> met_;
};

}  // namespace syncline::reference
