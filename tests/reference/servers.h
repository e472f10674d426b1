// Averaging through servers: partitions that pass through stages, each first in, first out (Li et
// al., OSDI 2014; BytePS, Jiang et al., OSDI 2020).
#pragma once

#include "tests/reference/rounds.h"

namespace syncline::reference {

// The number of pieces into which a bucket is cut.
int partitions_of(const Facts& facts, const Message& message);

class Servers {
 public:
  Servers(Happenings& happenings, Player& player, const Facts& facts);

  // `ready`: when each worker has the bucket's gradient. Returns when each has the average.
  std::vector<Happenings::Id> average(const Message& message,
                                      const std::vector<Happenings::Id>& ready);

 private:
  enum Stage { sum_in_node, push, pull, spread_in_node, stages };
  using Ids = std::vector<Happenings::Id>;

  // When this rank may begin a stage of a partition that arrives at `come`.
  Happenings::Id after_earlier(int rank, Stage stage, Happenings::Id come);
  Happenings::Id in_node(int rank, Stage stage, double bytes, Happenings::Id come);
  // One rank sends to all ranks of the other side; adds to their arrivals. Returns when everything
  // is injected.
  Happenings::Id send_all(int from, Happenings::Id begin, int first, std::vector<Ids>& arrivals,
                          const std::function<double(int to)>& bytes);
  void pass_servers(double bytes, Ids& done);

  Happenings& happenings_;
  Player& player_;
  const Facts& facts_;
  std::vector<Ids> earlier_;  // by rank and stage: end of the partition before
};

}  // namespace syncline::reference
