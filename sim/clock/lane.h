// Collectives that run while all workers compute: one after the other, in a stream. Those of two
// streams may need the same links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Parts of a link's bandwidth that two kinds of collectives use, each while the other one does not
// move, on the link that both need most. They slow each other if the link cannot carry both.
struct SharedLink {
  double first = 0, second = 0;

  // The rate at which one of them moves beside the other: as flows that share the link equally, or
  // what is left by a collective that is not slowed.
  std::pair<double, double> shared_rates() const;
  static double rate_beside(double own, double other);
};
// FATPIPE links are not shared.
SharedLink shared_link(const Traffic& first, const std::vector<ExchangeTime>& first_times,
                       const Traffic& second, const std::vector<ExchangeTime>& second_times,
                       const std::vector<Bucket>& buckets, Routes& routes);

// A communication stream of every worker. Groups of workers do not wait for each other.
class Lane {
 public:
  Lane(const Topology& topology, Among among);
  // While collectives move in the other stream, those of this one that come later move at `rate`.
  void move_beside(const Lane& other, double rate) {
    other_ = &other;
    rate_beside_other_ = rate;
  }

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

  // Returns whether this worker's bytes move just after this time, and until when that stays so.
  // Calls for one worker must come in order of time; `from` keeps the position of the search.
  std::pair<bool, double> moves(std::size_t worker, double moment_s, std::size_t& from) const;

 private:
  double end_of(double begin_s, double seconds, std::size_t group);

  std::vector<int> group_of_;                                   // by worker
  std::vector<std::size_t> first_;                              // by group: its first worker
  std::vector<double> free_s_, end_s_;                          // by group
  std::vector<std::vector<std::pair<double, double>>> moving_;  // from and to, in order
  const Lane* other_ = nullptr;
  double rate_beside_other_ = 1;
  std::vector<std::size_t> looked_;  // by group: the position of the search in the other stream
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

}  // namespace syncline
