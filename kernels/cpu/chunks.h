// Selection chunk by chunk on a CPU.
#pragma once

#include "kernels/arithmetic/chunks.h"
#include "kernels/arithmetic/lanes.h"
#include "kernels/cpu/tiles.h"

namespace syncline {

// The elements sent of a chunk: places, and the bits of what is there.
struct SentOfChunk {
  std::uint32_t* places = nullptr;
  std::uint32_t* bits = nullptr;
  std::size_t count = 0;

  float value(std::size_t j) const { return std::bit_cast<float>(bits[j]); }
};

// Selects chunks one after the other: a key a little below what the last one needed lists little
// more than what this one sends. Which key that is changes nothing in what is selected.
class ChunkSelector {
 public:
  // The sent.count largest, of equal magnitudes the smallest places, into sent's room.
  void select(const float* u, std::size_t count, const SentOfChunk& sent);

 private:
  std::uint32_t low_key_ = no_key;
  std::uint32_t places_[tile_elements + lane_width], bits_[tile_elements + lane_width];
  std::uint32_t keys_[tile_elements];
};

// Eight chunks' numbers fill whole bytes.
inline constexpr std::size_t chunks_together = 8;

template <class Work>
void for_each_eight(const Chunks& chunks, const Work& work) {
  run_in_parallel((chunks.count() + chunks_together - 1) / chunks_together, [&](std::size_t eight) {
    const std::size_t first = eight * chunks_together;
    work(first, std::min(first + chunks_together, chunks.count()));
  });
}

// What is sent, chunk by chunk, in words of the state's.
struct SentWords {
  std::uint32_t* words;
  const Chunks& chunks;

  SentOfChunk of(std::size_t c) const {
    const std::size_t first = c * chunks.per_chunk;
    return {words + first, words + chunks.sent() + first, chunks.sent_of(c)};
  }
};

// Places ascend inside a chunk, and lie in it.
bool good_places(const Chunks& chunks, const std::byte* indices);

// The bits behind the last of these numbers are zero.
bool good_end(std::size_t count, unsigned bits, const std::byte* numbers);

}  // namespace syncline
