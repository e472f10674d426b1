// Compresses real values for whoever sends something, and remembers what was left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/learning/measures.h"
#include "sim/traffic/compression.h"
#include "sim/values.h"

namespace syncline {

// One stream of messages: what it leaves out joins its next message.
struct Sender {
  int rank = 0;   // a worker, a server or a node's aggregator (Cluster's ranks)
  int stage = 0;  // 0: of a gradient; else of partial sums, answers, ...: below 16
  int bucket = 0;
  std::size_t first = 0;  // element of the bucket at which its values begin

  auto operator<=>(const Sender&) const = default;
};

class Coder {
 public:
  // Instead of the size of a message that is not made: an empty message has none.
  static constexpr std::size_t no_message = ~std::size_t{0};

  // `compression` must live as long. Where it is off, messages are the values as `precision` sends
  // them. From then on compressors of this process use one thread. `watched`: the rank of whose
  // gradients histograms are taken.
  Coder(const Compression& compression, Precision precision, std::uint64_t seed, int watched = 0);

  bool on() const { return compression_.on(); }
  // The message of these values in this iteration of the sender; empty for no values.
  Message encode(const Sender& sender, int iteration, std::span<const float> values);
  // Adds a message that this sender made in this iteration. The learned vector never meets a
  // corrupt message, so CorruptMessage is an error of ours.
  void decode(const Sender& sender, int iteration, const Message& message,
              std::span<float> sum) const;
  // encode, then decode into zeros: what everybody sees of it. `bytes` gets the message's size.
  Values sent(const Sender& sender, int iteration, std::span<const float> values,
              std::size_t* bytes = nullptr);
  // Whether what a message leaves out joins the sender's next one (error feedback).
  bool keeps_residuals(int iteration) const;
  // The compressor means a message for so many values to have this size.
  WireSize expected(std::size_t elements, int iteration) const;

  // An exchange dropped this of the values that this sender sent in this iteration: it joins its
  // next message, if the compressor has error feedback.
  void give_back(const Sender& sender, int iteration, std::size_t element, float value);

  // A bucket's gradients, by worker, for combine(). `gradients` and `message_bytes` must live as
  // long. `message_bytes` gets the size of each worker's message of its gradient while they are
  // combined, or `no_message`. Where a worker's message is of a share only, it is the size that
  // one of all elements would have had. `sum_bytes` gets the same of the messages of what workers
  // have added up, where the exchange makes some.
  Contributions contributions(int bucket, int iteration,
                              const std::vector<std::span<const float>>& gradients,
                              std::vector<std::size_t>& message_bytes,
                              std::vector<std::size_t>* sum_bytes = nullptr);

  // What each sender remembers.
  const std::map<Sender, State>& states() const { return states_; }

  // These are of the messages of gradients (stage 0) that are not empty. What was encoded includes
  // the residual where one is kept. Gradients that are all zero lose nothing; those that are not
  // finite are left out.
  const Measures& measures() const { return measures_; }

 private:
  const Compressor& compressor() const;
  const Settings& settings(int iteration) const;
  Draw draw_of(const Sender& sender, int iteration) const;
  // Calls `work(gradient, state)` with the values as `precision` has them.
  template <class Work>
  void with_gradient(const Sender& sender, int iteration, std::span<const float> values,
                     const Work& work);
  // Messages of these senders, added up as messages, are decoded into the sum. Their sizes.
  std::vector<std::size_t> add_messages(const std::vector<Sender>& senders, int iteration,
                                        const std::vector<std::span<const float>>& values,
                                        std::span<float> sum);
  void note(const Sender& sender, int iteration, std::span<const float> values,
            const Message& message);

  const Compression& compression_;
  Precision precision_;
  std::uint64_t seed_;
  std::map<Sender, State> states_;
  Measures measures_;
  std::vector<Half> halves_;  // these are kept only to spare the allocation
  Values seen_, whole_;
  Scratch scratch_;
};

// The sum over all workers that this exchange gives everybody.
Values combine(const Exchange& exchange, const Topology& topology, const Settings& settings,
               const Contributions& contributions);

}  // namespace syncline
