#include <algorithm>

#include "tests/reference/exchanges.h"
#include "tests/reference/iterations.h"
#include "tests/reference/rounds.h"

namespace syncline::reference {
namespace {

using Id = Happenings::Id;

// One worker's actions in order: collectives follow each other on one stream, those between nodes
// on another.
class Sharer {
 public:
  Sharer(Happenings& happenings, Player& player, const Facts& facts, int worker)
      : happenings_(happenings),
        player_(player),
        facts_(facts),
        worker_(worker),
        units_(static_cast<int>(facts.buckets.size())),
        now_(happenings.when_all()),
        inside_(now_),
        between_(now_),
        here_(facts.buckets.size(), now_) {
    if (facts.shards_in_nodes) {
      const std::vector<int>& node = facts.nodes[at(facts.node_of[at(worker)])];
      group_ = node;
      const auto place = std::ranges::find(node, worker) - node.begin();
      for (const std::vector<int>& other : facts.nodes)
        peers_.push_back(other[static_cast<std::size_t>(place)]);
    }
  }

  void iterate() {
    for (int step = 1; step <= facts_.micro_steps; ++step) {
      forward();
      backward(step == facts_.micro_steps || !facts_.scatters_once);
    }
    now_ = happenings_.when_all({now_, inside_, between_});
    now_ = happenings_.delay(now_, facts_.step_s[at(worker_)]);
    if (facts_.shards_parameters)
      return;
    for (int unit = units_ - 1; unit >= 0; --unit)
      gather(unit);
    if (facts_.prefetch == 0)
      now_ = happenings_.when_all({now_, inside_});
  }
  Id end() { return happenings_.when_all({now_, inside_, between_}); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void compute(int unit, double seconds) {
    now_ = happenings_.delay(happenings_.when_all({now_, here_[at(unit)]}), seconds);
  }

  void forward() {
    int unasked = facts_.shards_parameters ? units_ : 0;  // the last bucket holds the first layers
    for (int unit = units_ - 1; unit >= 0; --unit) {
      while (unasked > 0 && unasked >= unit - facts_.prefetch + 1)
        gather(--unasked);
      compute(unit, facts_.unit_forward_s[at(worker_)][at(unit)]);
    }
  }

  void backward(bool scatters) {
    int asked = facts_.shards_parameters ? 1 : units_;
    for (int unit = 0; unit < units_; ++unit) {
      const int ahead = facts_.gathers_late ? unit : unit + facts_.prefetch;
      while (asked < units_ && asked <= ahead)
        gather(asked++);
      compute(unit, facts_.backward_s[at(worker_)][at(unit)]);
      if (facts_.gathers_late && !facts_.scatters_first && asked == unit + 1 && asked < units_)
        gather(asked++);
      if (scatters)
        scatter(unit);
    }
  }

  Id ring(const std::vector<int>& ranks, int rounds, double bytes, int channel, Id begin) {
    Parts parts;
    const int n = static_cast<int>(ranks.size());
    if (n > 1)
      append_ring(parts, ranks, worker_, rounds * (n - 1), bytes / n);
    return player_.play(parts, worker_, channel, begin);
  }

  // One pass round the rings of the group, each of which carries a share.
  Id in_group(double bytes) {
    const Id begin = happenings_.when_all({now_, inside_});
    std::vector<Id> ends;
    if (facts_.shards_in_nodes)
      ends.push_back(ring(group_, 1, bytes, -2, begin));
    for (int channel = 0; !facts_.shards_in_nodes && channel < facts_.channel_count(); ++channel)
      ends.push_back(
          ring(ring_of(facts_, channel), 1, bytes / facts_.channel_count(), -2 - channel, begin));
    return happenings_.when_all(ends);
  }

  void gather(int unit) {
    inside_ = in_group(facts_.buckets[at(unit)].bytes);
    here_[at(unit)] = inside_;
    if (!facts_.overlap)
      now_ = inside_;
  }

  void scatter(int unit) {
    const double bytes = facts_.buckets[at(unit)].bytes;
    inside_ = in_group(bytes);
    if (!peers_.empty())
      between_ = ring(peers_, 2, bytes / static_cast<double>(group_.size()), -1,
                      happenings_.when_all({between_, inside_}));
    if (!facts_.overlap)
      now_ = happenings_.when_all({now_, inside_, between_});
  }

  Happenings& happenings_;
  Player& player_;
  const Facts& facts_;
  int worker_;
  int units_;
  std::vector<int> group_, peers_;  // if shards are within nodes
  Id now_;                          // its computation so far
  Id inside_, between_;             // when the streams are free
  std::vector<Id> here_;            // by unit: arrival of its parameters
};

}  // namespace

double sharding_s(const Facts& facts, int iterations) {
  Happenings happenings(facts.link_Bps);
  Player player(happenings, facts);
  std::vector<Id> ends;
  for (int worker = 0; worker < facts.workers(); ++worker) {
    Sharer sharer(happenings, player, facts, worker);
    for (int iteration = 0; iteration < iterations; ++iteration)
      sharer.iterate();
    ends.push_back(sharer.end());
  }
  happenings.run();
  double end_s = 0;
  for (const Id id : ends)
    end_s = std::max(end_s, happenings.at(id));
  return end_s;
}

}  // namespace syncline::reference
