// The rules of learning in a second implementation, for replays (tests/laws/replay.h): how
// gradients are computed, what is sent of them, and how they change parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/learning/sampler.h"
#include "tests/laws/replay.h"

namespace syncline {

using Floats = std::vector<float>;

// A range of the learned vector.
struct Elements {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Elements part(const Elements& all, int parts, int first, int last);

// The compressor, with what it has left out of each stream of messages.
class ReplayedMessages {
 public:
  using Stream = std::tuple<int, int, int, std::size_t>;  // rank, stage, bucket, first element

  explicit ReplayedMessages(const Scenario& scenario) : scenario_(scenario) {}

  // Returns the decoded message of the stream for these values.
  Floats sent(const Stream& stream, int iteration, const Floats& values);
  Floats left(const Stream& stream, std::size_t size) const;
  // Returns a value that was not applied to the residual.
  void put_back(const Stream& stream, std::size_t element, float value) {
    left_.at(stream)[element] += value;
  }

 private:
  Floats largest(Floats& left, const Floats& values) const;
  Floats decoded(const Stream& stream, int iteration, const Floats& values);

  const Scenario& scenario_;
  std::map<Stream, Floats> left_;
  std::map<Stream, State> states_;
};

struct ReplayRules {
  ReplayRules(const Options& options, const Trace& trace);

  using Key = std::tuple<int, int>;  // worker, iteration

  int pieces(int bucket) const;
  Elements span_of(int server, int bucket, int piece) const;
  // The learning rate after `applied` gradients have been applied.
  double rate(std::int64_t applied) const;
  // The clipped gradient times `weight`.
  Floats gradient(int worker, int iteration, const Floats& at, double weight) const;
  // What all workers decode for the values of this span (which begin at `values`).
  Floats seen(const ReplayedMessages::Stream& stream, const Elements& span, int iteration,
              const float* values);
  // With pull = compressed: sends the change of this span's parameters since the last answer.
  // Returns what the receiver then has.
  const Floats& answer(const ReplayedMessages::Stream& stream, const Elements& span, int iteration);
  // PyTorch's SGD, where `weight` is the learning rate of one gradient.
  void step(Floats& parameters, Floats& velocity, const Elements& span, const Floats& sum,
            double gradients, double weight, bool weighed = false) const;
  // Counts the gradients that had been applied completely (by `parts` rows of `apply` each) when a
  // worker began an iteration and when it sent a bucket; rows of the trace are in the order of
  // events.
  void count_applied(int parts);
  // The weight of a gradient before it is compressed.
  double forward_weight(const Key& key) const;
  double number(const char* name) const { return scenario.schedule_settings.number(name); }
  Replayed replayed();

  const Trace& trace;
  const Learned& learned;
  const Scenario scenario;
  const Learning& learning;
  const Data data;
  const Objective objective;
  const Sampler sampler;
  ReplayedMessages messages;
  std::size_t size;
  Floats parameters;
  Floats velocity;
  std::vector<Elements> buckets;
  std::vector<int> partitions;  // by bucket
  std::map<std::tuple<int, int, int>, std::int64_t> at_push;
  std::map<Key, std::int64_t> at_forward;
  std::vector<bool> plain;  // by element: not compressed
  Replayed result;

 private:
  void cut();

  std::map<ReplayedMessages::Stream, Elements> streams;
  // For compressed answers: the parameters at the last answer, and the sum of what has been sent.
  std::map<ReplayedMessages::Stream, Floats> known;
  std::map<ReplayedMessages::Stream, Floats> has;
};

// What exchanges that merge lists make of all workers' messages of a bucket: values by worker, zero
// where nothing was sent. Everything in the bucket must be compressed.
Floats merged_lists(ReplayRules& rules, int bucket, const std::vector<Floats>& sent);

// Replays for the kinds of schedules.
void replay_averages(ReplayRules& rules);
void replay_rounds(ReplayRules& rules);
void replay_servers(ReplayRules& rules);
void replay_elastic(ReplayRules& rules);
void replay_sums(ReplayRules& rules);

}  // namespace syncline
