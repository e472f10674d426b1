// Collectives that run while all workers compute: one after the other, with no other use of the
// links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// A communication stream of every worker. Groups of workers do not wait for each other.
class Lane {
 public:
  Lane(const Topology& topology, Among among);

  // By group: when a collective begins and ends.
  struct Times {
    std::vector<double> begin_s, end_s;
    // free_s: when the next collective may begin. tail_s: when the remaining stages begin.
    std::vector<double> free_s, tail_s;
  };
  // Adds the next collective; `ready_s` says when each worker is ready for it. The collective
  // begins in a group when the group's last worker is ready and the previous collective has ended.
  Times take(const ExchangeTime& time, const std::vector<double>& ready_s);
  std::size_t group(std::size_t worker) const { return index(group_of_[worker]); }

  // Seconds in which bytes move both here and in the other stream, for the group with the most.
  double beside_s(const Lane& other) const;

  // Returns whether this worker's bytes move just after this time, and until when that stays so.
  // Calls for one worker must come in order of time; `from` keeps the position of the search.
  std::pair<bool, double> moves(std::size_t worker, double moment_s, std::size_t& from) const;

 private:
  std::vector<int> group_of_;                                   // by worker
  std::vector<double> free_s_, end_s_;                          // by group
  std::vector<std::vector<std::pair<double, double>>> moving_;  // from and to, in order
};

// One kind of collective: its stream, its times and its messages. Keeps references to the
// constructor's arguments.
struct Collective {
  Collective() = default;
  Collective(Verb of_rows, const Traffic& traffic, const std::vector<ExchangeTime>& of_buckets,
             const std::vector<Bucket>& buckets, Lane& lane);

  // Calls `sent` for the bytes that this rank sends over the network for a bucket, in one call of
  // the verb.
  void for_each_send(const Bucket& bucket, int rank, const Traffic::Moves& sent) const;

  struct Moves {                                // in each call
    std::vector<std::uint64_t> sent, received;  // by rank
    double calls = 0;
  };
  Verb verb = Verb::all_reduce;
  Lane* lane = nullptr;
  const Traffic* traffic = nullptr;
  const std::vector<ExchangeTime>* times = nullptr;  // by bucket
  std::vector<Moves> moves = {};                     // by bucket
};

// Approximate extra seconds of these two kinds of collectives when they share links: the seconds in
// which both move bytes, times the largest fraction of a link's bandwidth that the first uses, over
// the links that the second also crosses. FATPIPE links are not shared.
double seconds_shared(const Collective& one, const Collective& other,
                      const std::vector<Bucket>& buckets, Routes& routes);

}  // namespace syncline
