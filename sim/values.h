// An exchange makes of real gradients the sum that its messages bring to everybody, from the
// decoded messages and from nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

struct Topology;

// One bucket's gradients, and the compressor with its residuals. Sums begin at zero and add in the
// order of ranks; where partial sums are what is sent, in the order in which they meet.
struct Contributions {
  std::size_t elements = 0;
  std::vector<std::span<const float>> gradients;            // by worker, as `precision` sends them
  std::shared_ptr<const std::vector<Values>> rounded = {};  // what they show, if it was made here

  // Whether messages are made at all; otherwise gradients are added as they are.
  bool compressed = false;
  bool summable = false;   // Compressor::reducible
  std::size_t wanted = 0;  // values that a sparse message is meant to have; 0: that is not fixed

  // The message that a worker makes of these values, which begin at element `first` of the bucket.
  // Makes a message. Whatever it leaves out joins what the same worker sends of the same elements
  // and `stage` next time: stage 0 is its own gradient or its node's sum, others are sums of
  // decoded messages.
  std::function<Message(int worker, int stage, std::size_t first, std::span<const float> values)>
      encode;
  // Adds a message that was made like this.
  std::function<void(int worker, int stage, std::size_t first, const Message&,
                     std::span<float> sum)>
      decode;
  // One message (of stage 0) by each of these workers, added up as messages and decoded once; where
  // they can be added.
  std::function<void(const std::vector<int>& workers, std::size_t first,
                     const std::vector<std::span<const float>>& values, std::span<float> sum)>
      add_messages;
  // This worker sends a list on, of what it has merged, that has so many values of so many
  // elements.
  std::function<void(int worker, std::size_t values, std::size_t elements)> sends_list;
  // Lets a value that this worker has sent and the exchange has dropped join its next gradient, if
  // the compressor has error feedback.
  std::function<void(int worker, std::size_t element, float value)> give_back;
};

// Elements `first` .. `first` + `count` - 1 of these workers' gradients, added up as they are.
Values dense_sum(const Contributions& contributions, const std::vector<int>& workers,
                 std::size_t first, std::size_t count);

// This is the sum of all workers' messages of their gradients, each decoded.
Values sum_of_messages(const Contributions& contributions);

// Each node's gradients are added up as they are; each worker of a node makes a message of its
// share of that sum; those of one share are `added` up as messages, or else each is decoded.
// Everybody has all shares in the end. Nodes have one size.
Values sum_of_shares(const Topology& topology, const Contributions& contributions, bool added);

// An element of a sparse sum.
struct SparseValue {
  std::uint32_t element = 0;
  float value = 0;
};
using SparseValues = std::vector<SparseValue>;  // ascending elements

// Everybody sees these of a worker's message of its gradient, without zeros.
SparseValues sparse_message(const Contributions& contributions, int worker);
SparseValues sum_of(const SparseValues& a, const SparseValues& b);
// Leaves the `count` values of largest magnitude; of equal ones those of the smallest elements. NaN
// counts as the largest. Returns the others.
SparseValues keep_largest(SparseValues& values, std::size_t count);

}  // namespace syncline
