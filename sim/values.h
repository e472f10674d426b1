// The sum of real gradients that an exchange's messages bring to everybody, from the decoded
// messages alone.
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
// order of ranks; where partial sums are sent, in the order in which they meet.
struct Contributions {
  std::size_t elements = 0;
  std::vector<std::span<const float>> gradients;  // by worker, as `precision` sends them
  // Owner of the values behind `gradients`, if they were rounded here.
  std::shared_ptr<const std::vector<Values>> rounded = {};

  // Whether gradients are compressed; otherwise they are added as they are.
  bool compressed = false;
  bool summable = false;   // Compressor::reducible
  std::size_t wanted = 0;  // number of values that a sparse message should have; 0: not fixed

  // Makes a worker's message of these values, which begin at element `first` of the bucket. Values
  // that the message leaves out join the next message of the same worker, elements and `stage`.
  // Stage 0 is the worker's own gradient or its node's sum; other stages are sums of decoded
  // messages.
  std::function<Message(int worker, int stage, std::size_t first, std::span<const float> values)>
      encode;
  // Adds a message that `encode` made with the same arguments.
  std::function<void(int worker, int stage, std::size_t first, const Message&,
                     std::span<float> sum)>
      decode;
  // Makes one message (of stage 0) for each of these workers, adds the messages up and decodes the
  // sum once. Only for messages that can be added.
  std::function<void(const std::vector<int>& workers, std::size_t first,
                     const std::vector<std::span<const float>>& values, std::span<float> sum)>
      add_messages;
  // Notes the size of a merged list that this worker sends on: `values` values of `elements`
  // elements.
  std::function<void(int worker, std::size_t values, std::size_t elements)> sends_list;
  // Adds a value that this worker has sent and the exchange has dropped to the worker's next
  // gradient, if the compressor has error feedback.
  std::function<void(int worker, std::size_t element, float value)> give_back;
};

// The uncompressed sum of elements `first` .. `first` + `count` - 1 of these workers' gradients.
Values dense_sum(const Contributions& contributions, const std::vector<int>& workers,
                 std::size_t first, std::size_t count);

// The sum of all workers' messages, each decoded.
Values sum_of_messages(const Contributions& contributions);

// Adds up each node's gradients uncompressed. Each worker of a node then makes a message of its
// share of that sum. The messages of a share are added up and decoded once if `added`, else each is
// decoded. Everybody has all shares in the end. Nodes must have one size.
Values sum_of_shares(const Topology& topology, const Contributions& contributions, bool added);

// An element of a sparse sum.
struct SparseValue {
  std::uint32_t element = 0;
  float value = 0;
};
using SparseValues = std::vector<SparseValue>;  // ascending elements

// A worker's message of its gradient as everybody decodes it, without zeros.
SparseValues sparse_message(const Contributions& contributions, int worker);
SparseValues sum_of(const SparseValues& a, const SparseValues& b);
// Leaves the `count` values of largest magnitude; of equal ones those of the smallest elements. NaN
// counts as the largest. Returns the values that it removed.
SparseValues keep_largest(SparseValues& values, std::size_t count);

}  // namespace syncline
