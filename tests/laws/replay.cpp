#include "tests/laws/replay.h"

#include <map>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {

// The sum of what all workers decode from each worker's messages.
Floats sum_of(ReplayRules& rules, int iteration, const std::vector<Floats>& said) {
  const std::string& exchange = rules.scenario.exchange->name;
  const bool merges_lists = exchange == "gtopk" || exchange == "oktopk";
  const int workers = rules.trace.workers;
  Floats sum(rules.size);
  for (std::size_t b = 0; b < rules.buckets.size(); ++b) {
    const Elements& span = rules.buckets[b];
    std::vector<Floats> sent;
    for (int worker = 0; worker < workers; ++worker) {
      const float* values = said[index(worker)].data() + span.begin;
      sent.push_back(
          workers == 1 ? Floats(values, values + (span.end - span.begin))
                       : rules.seen({worker, 0, static_cast<int>(b), 0}, span, iteration, values));
    }
    if (merges_lists && workers > 1)
      sent = {merged_lists(rules, static_cast<int>(b), sent)};
    for (const Floats& of_one : sent)
      for (std::size_t i = span.begin; i < span.end; ++i)
        sum[i] += of_one[i - span.begin];
  }
  return sum;
}

// For each completed iteration: whether all workers stepped together in it; key -1: after the last
// one.
std::map<int, bool> steps_of(const Trace& trace) {
  std::map<int, bool> together;
  for (const Row& row : trace.rows)
    if (row.verb == Verb::step)
      together[row.iteration] = together[row.iteration] || row.version >= 0;
  return together;
}

// A worker, or a node, that steps alone.
struct Replica {
  std::vector<int> workers;
  Floats parameters, velocity;
  Floats at_start;  // when the average in flight began
};

std::vector<Replica> replicas_of(const ReplayRules& rules) {
  const bool nodes = rules.scenario.schedule_settings.word("replica") == "node";
  std::map<int, std::vector<int>> workers;
  for (int worker = 0; worker < rules.trace.workers; ++worker)
    workers[nodes ? rules.trace.node_of[index(worker)] : worker].push_back(worker);
  std::vector<Replica> all;
  for (const auto& [number, of_one] : workers)
    all.push_back({.workers = of_one,
                   .parameters = rules.parameters,
                   .velocity = rules.velocity,
                   .at_start = rules.parameters});
  return all;
}

void step_alone(const ReplayRules& rules, Replica& replica, int iteration) {
  Floats sum(rules.size);
  for (const int worker : replica.workers) {
    const Floats gradient = rules.gradient(worker, iteration, replica.parameters, 1);
    for (std::size_t i = 0; i < rules.size; ++i)
      sum[i] += replica.workers.size() == 1 ? gradient[i]
                                            : as_sent(gradient[i], rules.scenario.precision);
  }
  const auto count = static_cast<double>(replica.workers.size());
  rules.step(replica.parameters, replica.velocity, {0, rules.size}, sum, count,
             rules.rate(std::int64_t{iteration} * rules.trace.workers) / count);
}

}  // namespace

void replay_rounds(ReplayRules& rules) {
  std::vector<Replica> replicas = replicas_of(rules);
  const auto steps = static_cast<int>(rules.number("local-steps"));
  const auto rate = static_cast<float>(rules.number("outer-learning-rate"));
  const auto momentum = static_cast<float>(rules.number("outer-momentum"));
  const double own = rules.number("average-mixing");
  Floats outer(rules.size);
  Floats sum;
  const auto step_together = [&] {
    for (std::size_t i = 0; i < rules.size; ++i) {
      const float change = sum[i] / static_cast<float>(rules.trace.workers);
      outer[i] = momentum * outer[i] + change;
      float& all = rules.parameters[i];
      all -= rate * (change + momentum * outer[i]);
      for (Replica& replica : replicas) {
        float& one = replica.parameters[i];
        one = own <= 1 ? all + static_cast<float>(own) * (one - all)
                       : all + (one - replica.at_start[i]);
      }
    }
  };
  std::map<int, bool> iterations = steps_of(rules.trace);
  const bool ends_together = iterations.erase(-1) > 0;
  for (const auto& [iteration, together] : iterations) {
    std::vector<Floats> changes(index(rules.trace.workers), Floats(rules.size));
    for (Replica& replica : replicas) {
      step_alone(rules, replica, iteration);
      for (const int worker : replica.workers)
        for (std::size_t i = 0; i < rules.size; ++i)
          changes[index(worker)][i] = rules.parameters[i] - replica.parameters[i];
    }
    if ((iteration + 1) % steps == 0) {
      sum = sum_of(rules, iteration, changes);
      for (Replica& replica : replicas)
        replica.at_start = replica.parameters;
    }
    if (together)
      step_together();
  }
  if (ends_together)
    step_together();
}

void replay_averages(ReplayRules& rules) {
  const int workers = rules.trace.workers;
  const bool weighed = rules.learning.rate_in_residual;
  for (const auto& [iteration, together] : steps_of(rules.trace)) {
    const double rate_now = rules.rate(std::int64_t{iteration} * workers);
    std::vector<Floats> said;
    for (int worker = 0; worker < workers; ++worker)
      said.push_back(
          rules.gradient(worker, iteration, rules.parameters, weighed ? rate_now / workers : 1));
    rules.step(rules.parameters, rules.velocity, {0, rules.size}, sum_of(rules, iteration, said),
               workers, rate_now / workers, weighed);
  }
}

Replayed replayed(const Options& options, const Trace& trace) {
  ReplayRules rules(options, trace);
  if (rules.scenario.schedule->server == nullptr)
    rules.scenario.schedule->round == nullptr ? replay_averages(rules) : replay_rounds(rules);
  else if (rules.scenario.schedule->own_parameters)
    replay_elastic(rules);
  else if (rules.scenario.schedule->aggregator == nullptr)
    replay_servers(rules);
  else
    replay_sums(rules);
  return rules.replayed();
}

}  // namespace syncline
