#include "tests/laws/replay.h"

#include <map>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {}  // namespace

void replay_averages(ReplayRules& rules) {
  std::map<int, bool> together;  // by iteration that is done: whether all stepped together
  for (const Row& row : rules.trace.rows)
    if (row.verb == "step")
      together[row.iteration] = together[row.iteration] || row.version >= 0;
  const bool alone = rules.scenario.schedule->name == "local-sgd";
  const std::string& exchange = rules.scenario.exchange->name;
  const bool merges_lists = exchange == "gtopk" || exchange == "oktopk";
  const int workers = rules.trace.workers;
  std::vector<Floats> own(index(workers), rules.parameters);
  std::vector<Floats> own_velocity(index(workers), rules.velocity);
  Floats outer(rules.size);
  const Elements everything{0, rules.size};
  for (const auto& [iteration, all] : together) {
    const double rate_now = rules.rate(std::int64_t{iteration} * workers);
    const bool weighed = rules.learning.rate_in_residual && !alone;
    std::vector<Floats> said;
    for (int worker = 0; worker < workers; ++worker) {
      said.push_back(
          rules.gradient(worker, iteration, own[index(worker)], weighed ? rate_now / workers : 1));
      if (alone) {
        rules.step(own[index(worker)], own_velocity[index(worker)], everything, said.back(), 1,
                   rate_now);
        for (std::size_t i = 0; i < rules.size; ++i)
          said.back()[i] = rules.parameters[i] - own[index(worker)][i];
      }
    }
    if (!all)
      continue;
    Floats sum(rules.size);
    for (std::size_t b = 0; b < rules.buckets.size(); ++b) {
      const Elements& span = rules.buckets[b];
      std::vector<Floats> sent;
      for (int worker = 0; worker < workers; ++worker) {
        const float* values = said[index(worker)].data() + span.begin;
        sent.push_back(workers == 1 ? Floats(values, values + (span.end - span.begin))
                                    : rules.seen({worker, 0, static_cast<int>(b), 0}, span,
                                                 iteration, values));
      }
      if (merges_lists && workers > 1)
        sent = {merged_lists(rules, static_cast<int>(b), sent)};
      for (const Floats& of_one : sent)
        for (std::size_t i = span.begin; i < span.end; ++i)
          sum[i] += of_one[i - span.begin];
    }
    if (alone) {
      const auto rate = static_cast<float>(rules.number("outer-learning-rate"));
      const auto momentum = static_cast<float>(rules.number("outer-momentum"));
      for (std::size_t i = 0; i < rules.size; ++i) {
        const float change = sum[i] / static_cast<float>(workers);
        outer[i] = momentum * outer[i] + change;
        rules.parameters[i] -= rate * (change + momentum * outer[i]);
      }
    } else {
      rules.step(rules.parameters, rules.velocity, everything, sum, workers, rate_now / workers,
                 weighed);
    }
    own.assign(index(workers), rules.parameters);
  }
}

Replayed replayed(const Options& options, const Trace& trace) {
  ReplayRules rules(options, trace);
  if (rules.scenario.schedule->server == nullptr)
    replay_averages(rules);
  else if (rules.scenario.schedule->aggregator == nullptr)
    replay_servers(rules);
  else
    replay_sums(rules);
  return rules.replayed();
}

}  // namespace syncline
