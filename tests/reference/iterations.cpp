#include "tests/reference/iterations.h"

#include <algorithm>

#include "tests/reference/exchanges.h"
#include "tests/reference/servers.h"

namespace syncline::reference {
namespace {

using Id = Happenings::Id;
using Ids = std::vector<Id>;

// Each worker has one communication stream, first in, first out, on which channels process a bucket
// side by side; servers have one stream per stage.
class Averages {
 public:
  Averages(Happenings& happenings, const Facts& facts)
      : happenings_(happenings),
        facts_(facts),
        player_(happenings, facts),
        servers_(happenings, player_, facts),
        streams_(index(facts.workers()), happenings.when_all()) {}

  Ids average(const Message& message, const Ids& ready) {
    if (facts_.exchange == "ps")
      return servers_.average(message, ready);
    for (int worker = 0; worker < facts_.workers(); ++worker) {
      const Id begin = happenings_.when_all({streams_[index(worker)], ready[index(worker)]});
      Ids ends;
      for (int channel = 0; channel < facts_.channel_count(); ++channel)
        ends.push_back(player_.play(parts_of(facts_, message, worker, channel), worker,
                                    -1 - channel, begin));  // distinct from those of stages
      streams_[index(worker)] = happenings_.when_all(ends);
    }
    return streams_;
  }

 private:
  Happenings& happenings_;
  const Facts& facts_;
  Player player_;
  Servers servers_;
  Ids streams_;
};

}  // namespace

double averaging_s(const Facts& facts, int iterations) {
  Happenings happenings(facts.link_Bps);
  Averages averages(happenings, facts);
  Ids computed(index(facts.workers()), happenings.when_all());
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    std::vector<Ids> ready(facts.buckets.size());
    for (int worker = 0; worker < facts.workers(); ++worker) {
      Id& at = computed[index(worker)];
      at = happenings.delay(at, facts.forward_s[index(worker)]);
      for (std::size_t bucket = 0; bucket < facts.buckets.size(); ++bucket)
        ready[bucket].push_back(at = happenings.delay(at, facts.backward_s[index(worker)][bucket]));
      at = happenings.delay(at, facts.step_s[index(worker)] * (facts.local_steps > 1 ? 1 : 0));
    }
    if (iteration % facts.local_steps != 0)
      continue;
    std::vector<Ids> ends(index(facts.workers()));
    for (std::size_t bucket = 0; bucket < facts.buckets.size(); ++bucket) {
      const bool at_once = facts.overlap && facts.local_steps == 1;
      const Ids averaged =
          averages.average(facts.buckets[bucket], at_once ? ready[bucket] : computed);
      for (std::size_t worker = 0; worker < ends.size(); ++worker)
        ends[worker].push_back(averaged[worker]);
    }
    for (int worker = 0; worker < facts.workers(); ++worker) {
      ends[index(worker)].push_back(computed[index(worker)]);
      computed[index(worker)] =
          happenings.delay(happenings.when_all(ends[index(worker)]),
                           facts.local_steps > 1 ? 0 : facts.step_s[index(worker)]);
    }
  }
  happenings.run();
  double end_s = 0;
  for (const Id id : computed)
    end_s = std::max(end_s, happenings.at(id));
  return end_s;
}

}  // namespace syncline::reference
