// The rules of learning, written a second time for replays (tests/laws/replay.h): what gradients
// are, what is sent of them, and what they do to parameters.
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

// Of the learned vector.
struct Elements {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Elements part(const Elements& all, int parts, int first, int last);

// What compresses, with what it has left out of each stream of messages.
class ReplayedMessages {
 public:
  using Stream = std::tuple<int, int, int, std::size_t>;  // rank, stage, bucket, first element

  explicit ReplayedMessages(const Scenario& scenario) : scenario_(scenario) {}

  // What is decoded of the stream's message of these values.
  Floats sent(const Stream& stream, int iteration, const Floats& values);
  Floats left(const Stream& stream, std::size_t size) const;
  // Was not applied, after all.
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
  // The learning rate after so many gradients have been applied.
  double rate(std::int64_t applied) const;
  // Clipped, and times `weight`.
  Floats gradient(int worker, int iteration, const Floats& at, double weight) const;
  // What everybody sees of the values of this span (which begin at `values`).
  Floats seen(const ReplayedMessages::Stream& stream, const Elements& span, int iteration,
              const float* values);
  // With pull = compressed: what the parameters of this span have changed by since the last answer
  // is sent. Returns what the receiver then has.
  const Floats& answer(const ReplayedMessages::Stream& stream, const Elements& span, int iteration);
  // PyTorch's SGD, where `weight` is the learning rate of one of these gradients.
  void step(Floats& parameters, Floats& velocity, const Elements& span, const Floats& sum,
            double gradients, double weight, bool weighed = false) const;
  // How many gradients had been applied in whole (by so many `apply` rows) when a worker began an
  // iteration, and when it sent a bucket: rows of the trace are in the order in which things
  // happened.
  void count_applied(int parts);
  // Of a gradient before it is compressed.
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
  // Of answers: the parameters that the next change counts from, and what has been sent of them.
  std::map<ReplayedMessages::Stream, Floats> known;
  std::map<ReplayedMessages::Stream, Floats> has;
};

// What exchanges that merge lists of values make of all workers' messages of a bucket: values by
// worker, zero where nothing was sent. Nothing else is in the bucket.
Floats merged_lists(ReplayRules& rules, int bucket, const std::vector<Floats>& sent);

// The four ways in which gradients meet.
void replay_averages(ReplayRules& rules);
void replay_rounds(ReplayRules& rules);
void replay_servers(ReplayRules& rules);
void replay_sums(ReplayRules& rules);

}  // namespace syncline
