// Servers that answer every push.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {

using Key = ReplayRules::Key;
using Place = std::tuple<int, int, int>;  // server, bucket, piece

class ServerReplay {
 public:
  explicit ServerReplay(ReplayRules& given) : rules_(given) {}

  void serve() {
    int parts = 0;
    for (int bucket = 0; bucket < static_cast<int>(rules_.buckets.size()); ++bucket)
      for (int server = 0; server < rules_.trace.servers; ++server)
        for (int piece = 0; piece < rules_.pieces(bucket); ++piece, ++parts) {
          const Elements span = rules_.span_of(server, bucket, piece);
          versions_[{server, bucket, piece}] = {Floats(rules_.result.initial.data() + span.begin,
                                                       rules_.result.initial.data() + span.end)};
        }
    rules_.count_applied(rules_.trace.servers * static_cast<int>(rules_.buckets.size()));
    for (const ReadPiece& read : rules_.learned.reads)
      reads_[{read.worker, read.iteration}].push_back(read);
    std::map<Key, int> applied;
    std::int64_t whole = 0;
    for (std::size_t next = 0; next < rules_.learned.applied.size(); ++next) {
      const AppliedPiece& piece = rules_.learned.applied[next];
      const Elements span = rules_.span_of(piece.server, piece.bucket, piece.piece);
      if (piece.together > 1 || rules_.scenario.schedule->name == "backup") {
        if (rules_.scenario.schedule->name == "backup")
          apply_mean(next, span);
        else
          apply_staleness_weighed(next, span, whole);
        for (int i = 0; i < piece.together; ++i, ++next) {
          const AppliedPiece& one = rules_.learned.applied[next];
          whole += ++applied[{one.worker, one.iteration}] == parts ? 1 : 0;
        }
        --next;
        continue;
      }
      const float* sent = sent_values(piece, span);
      auto& versions = versions_[{piece.server, piece.bucket, piece.piece}];
      const std::int64_t staleness =
          static_cast<std::int64_t>(versions.size()) - 1 - read_version(piece);
      const double weight =
          rules_.learning.inverse_staleness
              ? rules_.rate(whole) / static_cast<double>(std::max<std::int64_t>(staleness, 1))
              : rules_.rate(whole) / rules_.trace.workers;
      rules_.step(rules_.parameters, rules_.velocity, span,
                  Floats(sent, sent + (span.end - span.begin)), 1, weight,
                  rules_.learning.rate_in_residual);
      versions.emplace_back(rules_.parameters.data() + span.begin,
                            rules_.parameters.data() + span.end);
      if (rules_.scenario.compressed_pulls)
        answer(piece, span);
      whole += ++applied[{piece.worker, piece.iteration}] == parts ? 1 : 0;
    }
  }

 private:
  // The parameters that a worker computes with: those that have arrived, and its own updates that
  // they lack.
  Floats held(int worker, int iteration) {
    Floats held = rules_.result.initial;
    if (iteration == 0)
      return held;
    for (const ReadPiece& read : reads_.at({worker, iteration})) {
      const Elements span = rules_.span_of(read.server, read.bucket, read.piece);
      const Floats& values = rules_.scenario.compressed_pulls
                                 ? arrived_.at({worker, iteration}).at({read.server, read.bucket})
                                 : versions_[{read.server, read.bucket, read.piece}].at(
                                       static_cast<std::size_t>(read.version));
      const bool came = (read.version > 0 || read.own > 0) && !rules_.scenario.compressed_pulls;
      std::ranges::transform(
          values, held.begin() + static_cast<std::ptrdiff_t>(span.begin),
          [&](float value) { return came ? as_sent(value, rules_.scenario.precision) : value; });
      for (int own = read.own; own < iteration; ++own) {
        const double weight =
            rules_.learning.rate_in_residual
                ? 1
                : rules_.rate(rules_.at_push.at({worker, own, read.bucket})) / rules_.trace.workers;
        const Floats& sent = sent_.at({worker, own}).at(index(read.bucket));
        for (std::size_t i = span.begin; i < span.end; ++i)
          held[i] -=
              static_cast<float>(weight) * sent[i - rules_.buckets[index(read.bucket)].begin];
      }
    }
    return held;
  }

  // The worker's messages of this iteration; makes those of all earlier iterations first.
  const std::vector<Floats>& sent_by(int worker, int iteration) {
    for (int& next = made_[worker]; next <= iteration; ++next) {
      const Floats own =
          rules_.gradient(worker, next, held(worker, next), rules_.forward_weight({worker, next}));
      std::vector<Floats>& sent = sent_[{worker, next}];
      for (std::size_t b = 0; b < rules_.buckets.size(); ++b)
        sent.push_back(rules_.seen({worker, 0, static_cast<int>(b), 0}, rules_.buckets[b], next,
                                   own.data() + rules_.buckets[b].begin));
    }
    return sent_.at({worker, iteration});
  }

  const float* sent_values(const AppliedPiece& piece, const Elements& span) {
    return sent_by(piece.worker, piece.iteration).at(index(piece.bucket)).data() +
           (span.begin - rules_.buckets[index(piece.bucket)].begin);
  }

  // One step with the mean of these gradients, at the learning rate for a mean over all workers.
  void apply_mean(std::size_t first, const Elements& span) {
    const AppliedPiece& piece = rules_.learned.applied[first];
    Floats sum(span.end - span.begin);
    for (int i = 0; i < piece.together; ++i) {
      const AppliedPiece& one = rules_.learned.applied[first + index(i)];
      EXPECT_EQ(std::tie(one.server, one.bucket, one.piece, one.together),
                std::tie(piece.server, piece.bucket, piece.piece, piece.together));
      const float* sent = sent_values(one, span);
      for (std::size_t element = 0; element < sum.size(); ++element)
        sum[element] += sent[element];
    }
    const auto workers = static_cast<double>(rules_.trace.workers);
    for (float& value : sum)
      value *= static_cast<float>(workers / piece.together);
    auto& versions = versions_[{piece.server, piece.bucket, piece.piece}];
    // The learning-rate schedule counts updates as if each had all workers' gradients.
    const auto updates = static_cast<std::int64_t>(versions.size()) - 1;
    rules_.step(rules_.parameters, rules_.velocity, span, sum, workers,
                rules_.rate(updates * rules_.trace.workers) / workers,
                rules_.learning.rate_in_residual);
    versions.emplace_back(rules_.parameters.data() + span.begin,
                          rules_.parameters.data() + span.end);
  }

  // One step with the mean of these gradients, each divided by its staleness, at the learning rate;
  // or, with staleness-rate = workers, with their sum at the rate of one worker's gradient.
  void apply_staleness_weighed(std::size_t first, const Elements& span, std::int64_t whole) {
    const AppliedPiece& piece = rules_.learned.applied[first];
    auto& versions = versions_[{piece.server, piece.bucket, piece.piece}];
    const auto count = static_cast<double>(piece.together);
    std::vector<double> staleness;
    double shares = 0;
    for (std::size_t i = 0; i < index(piece.together); ++i) {
      const auto late = static_cast<std::int64_t>(versions.size()) - 1 -
                        read_version(rules_.learned.applied[first + i]);
      staleness.push_back(rules_.learning.inverse_staleness
                              ? static_cast<double>(std::max<std::int64_t>(late, 1))
                              : 1);
      shares += 1 / staleness.back();
    }
    const double mean = count / shares;
    Floats sum(span.end - span.begin);
    for (std::size_t i = 0; i < staleness.size(); ++i) {
      const AppliedPiece& one = rules_.learned.applied[first + i];
      EXPECT_EQ(std::tie(one.server, one.bucket, one.piece, one.together),
                std::tie(piece.server, piece.bucket, piece.piece, piece.together));
      const float* sent = sent_values(one, span);
      for (std::size_t element = 0; element < sum.size(); ++element)
        sum[element] += static_cast<float>(mean / staleness[i]) * sent[element];
    }
    const double rate = rules_.rate(whole);
    rules_.step(
        rules_.parameters, rules_.velocity, span, sum, count,
        rules_.learning.inverse_staleness ? rate / mean / count : rate / rules_.trace.workers,
        rules_.learning.rate_in_residual);
    versions.emplace_back(rules_.parameters.data() + span.begin,
                          rules_.parameters.data() + span.end);
  }

  // The version of the parameters that the gradient was computed with, its worker's own updates
  // included.
  std::int64_t read_version(const AppliedPiece& piece) const {
    if (piece.iteration == 0)
      return 0;
    for (const ReadPiece& read : reads_.at({piece.worker, piece.iteration}))
      if (read.server == piece.server && read.bucket == piece.bucket && read.piece == piece.piece)
        return read.version + piece.iteration - read.own;
    throw std::logic_error("a gradient's parameters were never read");
  }

  // ASP answers at once, and a worker continues when all answers have arrived. An answer is the
  // change of the parameters since the last one.
  void answer(const AppliedPiece& piece, const Elements& span) {
    const int nodes = 1 + *std::ranges::max_element(rules_.trace.node_of);
    const int stream = rules_.trace.workers + rules_.trace.servers + nodes +
                       piece.server * rules_.trace.workers + piece.worker;
    arrived_[{piece.worker, piece.iteration + 1}][{piece.server, piece.bucket}] =
        rules_.answer({stream, 1, piece.bucket, 0}, span, piece.iteration);
  }

  ReplayRules& rules_;
  std::map<Place, std::vector<Floats>> versions_;
  std::map<Key, std::vector<ReadPiece>> reads_;
  std::map<Key, std::vector<Floats>> sent_;  // by bucket
  std::map<int, int> made_;                  // by worker: number of iterations in sent_
  std::map<Key, std::map<std::pair<int, int>, Floats>> arrived_;
};

}  // namespace

void replay_servers(ReplayRules& rules) {
  ServerReplay(rules).serve();
}

}  // namespace syncline
