// What is under way beside the computation of all workers together, where nothing else shares the
// links: collectives, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// A communication stream of every worker. Groups do not wait for each other.
class Lane {
 public:
  Lane(const Topology& topology, Among among);

  // When a collective begins and ends, by group.
  struct Times {
    std::vector<double> begin_s, end_s;
    std::vector<double> free_s, tail_s;  // when the next may begin; and where what is left begins
  };
  // The next collective, for which each worker is ready then: it begins when the last one of its
  // group is, and the one before has ended.
  Times take(const ExchangeTime& time, const std::vector<double>& ready_s);
  std::size_t group(std::size_t worker) const { return index(group_of_[worker]); }

  // Seconds in which bytes move here and in the other stream, of the group that has most.
  double beside_s(const Lane& other) const;

  // Whether this worker's bytes move just after this moment, and until when that stays so. Moments
  // of one worker come in order: `from` is where to look on.
  std::pair<bool, double> moves(std::size_t worker, double moment_s, std::size_t& from) const;

 private:
  std::vector<int> group_of_;                                   // by worker
  std::vector<double> free_s_, end_s_;                          // by group
  std::vector<std::vector<std::pair<double, double>>> moving_;  // from and to, in order
};

// One kind of collective: in which stream it is, what it takes, and what moves. All that it is made
// of must live as long.
struct Collective {
  Collective() = default;
  Collective(Verb of_rows, const Traffic& traffic, const std::vector<ExchangeTime>& of_buckets,
             const std::vector<Bucket>& buckets, Lane& lane);

  // Calls `sent` for what this rank sends on the network for a bucket, in each call of the verb.
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

// About how much longer these kinds of collectives take together than alone: the seconds in which
// both move bytes, times the most of a link's bandwidth that the first uses then, of the links that
// the second crosses too. FATPIPE links are not shared.
double seconds_shared(const Collective& one, const Collective& other,
                      const std::vector<Bucket>& buckets, Routes& routes);

}  // namespace syncline
