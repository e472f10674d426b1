// Elastic averaging (Zhang, Choromanska, LeCun 2015): workers with parameters of their own, and a
// centre on servers.
#include <map>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {

class ElasticReplay {
 public:
  explicit ElasticReplay(ReplayRules& rules)
      : rules_(rules),
        period_(static_cast<int>(rules.number("period"))),
        moving_(static_cast<float>(rules.number("moving-rate") <= 1 ? rules.number("moving-rate")
                                                                    : 0.9 / rules.trace.workers)),
        workers_(index(rules.trace.workers), {rules.parameters, rules.velocity, 0, {}}) {
    rules_.result.moved.resize(rules_.size);
    for (int bucket = 0; bucket < static_cast<int>(rules_.buckets.size()); ++bucket)
      for (int server = 0; server < rules_.trace.servers; ++server)
        for (int piece = 0; piece < rules_.pieces(bucket); ++piece) {
          const Elements span = rules_.span_of(server, bucket, piece);
          centre_[{server, bucket, piece}] = {
              Floats(rules_.parameters.data() + span.begin, rules_.parameters.data() + span.end)};
        }
    for (const ReadPiece& read : rules_.learned.reads)
      reads_[{read.worker, read.iteration - 1}].push_back(read);
  }

  void replay() {
    for (const AppliedPiece& one : rules_.learned.applied) {
      const Elements span = rules_.span_of(one.server, one.bucket, one.piece);
      const Floats& difference = difference_of(one.worker, one.iteration);
      std::vector<Floats>& versions = centre_[{one.server, one.bucket, one.piece}];
      Floats next = versions.back();
      for (std::size_t i = span.begin; i < span.end; ++i) {
        next[i - span.begin] += difference[i];
        rules_.parameters[i] = next[i - span.begin];
      }
      versions.push_back(std::move(next));
    }
    std::map<int, int> steps;  // by worker
    for (const Row& row : rules_.trace.rows)
      if (row.verb == Verb::step)
        ++steps[row.rank];
    for (const auto& [worker, count] : steps)
      advance(worker, count);
    for (const Worker& worker : workers_)
      rules_.result.own.push_back(worker.parameters);
  }

 private:
  struct Worker {
    Floats parameters, velocity;
    int steps;
    std::map<int, Floats> differences;  // by iteration
  };

  // Takes all steps before this iteration's.
  void advance(int number, int iteration) {
    Worker& worker = workers_[index(number)];
    for (; worker.steps < iteration; ++worker.steps) {
      const Floats difference =
          worker.steps % period_ == 0 ? difference_of(number, worker.steps) : Floats(rules_.size);
      const Floats before = worker.parameters;
      rules_.step(worker.parameters, worker.velocity, {0, rules_.size},
                  rules_.gradient(number, worker.steps, before, 1), 1,
                  rules_.rate(std::int64_t{worker.steps} * rules_.trace.workers));
      for (std::size_t i = 0; i < rules_.size; ++i) {
        rules_.result.moved[i] += static_cast<double>(worker.parameters[i]) - before[i];
        worker.parameters[i] -= difference[i];
      }
    }
  }

  const Floats& difference_of(int number, int iteration) {
    advance(number, iteration);
    Worker& worker = workers_[index(number)];
    const auto [known, added] = worker.differences.emplace(iteration, Floats(rules_.size));
    if (!added)
      return known->second;
    for (const ReadPiece& read : reads_.at({number, iteration})) {
      const Elements span = rules_.span_of(read.server, read.bucket, read.piece);
      const Floats& centre = centre_.at({read.server, read.bucket, read.piece})
                                 .at(index(static_cast<int>(read.version)));
      for (std::size_t i = span.begin; i < span.end; ++i)
        known->second[i] =
            as_sent(moving_ * (worker.parameters[i] -
                               as_sent(centre[i - span.begin], rules_.scenario.precision)),
                    rules_.scenario.precision);
    }
    return known->second;
  }

  ReplayRules& rules_;
  int period_;
  float moving_;
  std::vector<Worker> workers_;
  std::map<std::tuple<int, int, int>, std::vector<Floats>> centre_;  // by version
  std::map<ReplayRules::Key, std::vector<ReadPiece>> reads_;
};

}  // namespace

void replay_elastic(ReplayRules& rules) {
  ElasticReplay(rules).replay();
}

}  // namespace syncline
