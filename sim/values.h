// What an exchange does with real gradients: the sum that its messages bring to everybody, made
// from the decoded messages and from nothing else.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

// One bucket's gradients, and the compressor with its residuals. All sums add in the order of
// ranks, so that exchanges that compress alike give the same bits.
struct Contributions {
  std::size_t elements = 0;
  std::vector<std::span<const float>> gradients;  // by worker

  // Whether messages are made at all; otherwise gradients are added as they are (in fp16: as fp16
  // sends them).
  bool compressed = false;
  bool summable = false;   // Compressor::reducible
  std::size_t wanted = 0;  // values that a sparse message is meant to have

  // The message of these values, made by a worker. What is left out joins what the same worker
  // sends at the same `stage` next time: 0 is its own gradient, others are partial sums.
  std::function<Message(int worker, int stage, std::span<const float> values)> encode;
  // Adds a message that was made like this.
  std::function<void(int worker, int stage, const Message&, std::span<float> sum)> decode;
  // Messages of all workers, added up as messages and then decoded; where they can be added.
  std::function<void(int stage, const std::vector<std::span<const float>>&, std::span<float> sum)>
      add_messages;
  // What the exchange has dropped from a sum on the way: this worker's next gradient gets it.
  std::function<void(int worker, std::size_t element, float value)> give_back;
};

}  // namespace syncline
