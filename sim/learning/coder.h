// Compresses real values for whoever sends something, and remembers what was left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "sim/setup/compression.h"
#include "sim/values.h"

namespace syncline {

// One stream of messages: what it leaves out joins its next message.
struct Sender {
  int rank = 0;   // a worker, a server or a node's aggregator (Cluster's ranks)
  int stage = 0;  // 0: of a gradient; else of partial sums, answers, ...
  int bucket = 0;
  int part = 0;  // of the bucket, where it is sent in parts

  auto operator<=>(const Sender&) const = default;
};

// What the encodings of sparsifiers and quantisers lost, against what the papers say they may lose:
// sums over all encodings of gradients (stage 0) by workers.
struct Losses {
  std::int64_t encodings = 0;
  double left_out = 0;  // sum of |u - sent|^2 / |u|^2 where u is what was encoded, residual included
  double bits = 0;      // sum of message bits per element
};

class Coder {
 public:
  // `compression` must live as long. Where it is off, messages are the values as `precision` sends
  // them.
  Coder(const Compression& compression, Precision precision, std::uint64_t seed);

  bool on() const;
  // The message of these values in this iteration of the sender; its bytes are a real message's.
  Message encode(const Sender& sender, int iteration, std::span<const float> values);
  // Adds a message that this sender made in this iteration. The learned vector never meets a
  // corrupt message, so CorruptMessage is an error of ours.
  void decode(const Sender& sender, int iteration, const Message& message,
              std::span<float> sum) const;
  // encode, then decode into zeros: what everybody sees of it. `bytes` gets the message's size.
  Values sent(const Sender& sender, int iteration, std::span<const float> values,
              std::size_t* bytes = nullptr);
  // What the compressor means a message for so many values to have.
  WireSize expected(std::size_t elements, int iteration) const;

  // Gives back to the sender's next message what an exchange has dropped.
  void give_back(const Sender& sender, std::size_t element, float value, std::size_t elements);

  // A bucket's gradients, by worker, for Exchange::combine. `gradients` must live as long.
  Contributions contributions(int bucket, int iteration,
                              const std::vector<std::span<const float>>& gradients,
                              std::vector<std::size_t>& message_bytes);

  // The sum of everything that has not been sent, of all senders of one bucket: for the law that
  // nothing is lost.
  void add_residuals(int bucket, std::span<float> sum) const;

  const Losses& losses() const { return losses_; }

 private:
  Draw draw_of(const Sender& sender, int iteration) const;

  const Compression& compression_;
  Precision precision_;
  std::uint64_t seed_;
  std::map<Sender, State> states_;
  std::map<Sender, std::vector<float>> given_back_;
  Losses losses_;
};

// The sum over all workers that this exchange gives everybody.
Values combine(const Exchange& exchange, const Topology& topology, const Settings& settings,
               const Contributions& contributions);

}  // namespace syncline
