// Compresses real values for their senders, and keeps the values that were left out.
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

// One stream of messages. If the compressor has error feedback, values that a message leaves out
// are added to the stream's next message.
struct Sender {
  int rank = 0;   // a worker, a server or a node's aggregator (Cluster's ranks)
  int stage = 0;  // 0: a gradient; else partial sums, answers, ...: below 16
  int bucket = 0;
  std::size_t first = 0;  // element of the bucket at which its values begin

  auto operator<=>(const Sender&) const = default;
};

class Coder {
 public:
  // In place of the size of a message that was not made: an empty message has no size.
  static constexpr std::size_t no_message = ~std::size_t{0};

  // Refers to `compression`, which must outlive the coder. If compression is off, messages are the
  // values in `precision`. From then on compressors of this process use one thread. `watched`: the
  // rank whose gradients the histograms count.
  Coder(const Compression& compression, Precision precision, std::uint64_t seed, int watched = 0);

  bool on() const { return compression_.on(); }
  // The message of these values in this iteration of the sender; empty for no values.
  Message encode(const Sender& sender, int iteration, std::span<const float> values);
  // Adds a message that this sender made in this iteration. The learner never gets a corrupt
  // message, so CorruptMessage is a bug in this program.
  void decode(const Sender& sender, int iteration, const Message& message,
              std::span<float> sum) const;
  // Encodes, then decodes into zeros: the values that all receivers see. `bytes` gets the message's
  // size.
  Values sent(const Sender& sender, int iteration, std::span<const float> values,
              std::size_t* bytes = nullptr);
  // True if values that a message leaves out are added to the sender's next message (error
  // feedback).
  bool keeps_residuals(int iteration) const;
  // The size that the compressor intends for a message of this number of values.
  WireSize expected(std::size_t elements, int iteration) const;

  // An exchange dropped this part of the values that this sender sent in this iteration. Adds the
  // part to the sender's next message, if the compressor has error feedback.
  void give_back(const Sender& sender, int iteration, std::size_t element, float value);

  // A bucket's gradients, by worker, for combine(). Refers to `gradients`, `message_bytes` and
  // `sum_bytes`, which must outlive the result. While gradients are combined, `message_bytes` gets
  // the size of each worker's message of its gradient, or `no_message`; if the message covers only
  // a share, its size scaled to all elements. `sum_bytes` gets the same for messages of partial
  // sums, if the exchange makes such messages.
  Contributions contributions(int bucket, int iteration,
                              const std::vector<std::span<const float>>& gradients,
                              std::vector<std::size_t>& message_bytes,
                              std::vector<std::size_t>* sum_bytes = nullptr);

  // The state of each sender.
  const std::map<Sender, State>& states() const { return states_; }

  // Measures of the messages of gradients (stage 0), unless they are of no values. The encoded
  // values include the residual, if there is one. Gradients of zeros lose nothing; gradients that
  // are not finite are left out.
  const Measures& measures() const { return measures_; }

 private:
  const Compressor& compressor() const;
  const Settings& settings(int iteration) const;
  Draw draw_of(const Sender& sender, int iteration) const;
  // Calls `work(gradient, state)` with the values in `precision`.
  template <class Work>
  void with_gradient(const Sender& sender, int iteration, std::span<const float> values,
                     const Work& work);
  // Calls `work()` while the state has the memory that all senders' encodings share.
  template <class Work>
  void with_scratch(State& state, const Work& work);
  // Adds up these senders' messages as messages, and decodes the total into `sum`. Returns their
  // sizes.
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
  std::vector<Half> halves_;  // these members only avoid allocations
  Values seen_, whole_;
  Scratch scratch_;
};

// The sum over all workers that all workers have after this exchange.
Values combine(const Exchange& exchange, const Topology& topology, const Settings& settings,
               const Contributions& contributions);

}  // namespace syncline
