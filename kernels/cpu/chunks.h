// Selection chunk by chunk on a CPU.
#pragma once

#include "kernels/arithmetic/chunks.h"
#include "kernels/arithmetic/lanes.h"
#include "kernels/cpu/tiles.h"

namespace syncline {

// What a chunk sends: places, and the bits of the values there.
struct SentOfChunk {
  std::uint32_t* places = nullptr;
  std::uint32_t* bits = nullptr;
  std::size_t count = 0;

  float value(std::size_t j) const { return std::bit_cast<float>(bits[j]); }
};

// Selects chunks one after the other, starting from a key slightly below the last chunk's cut,
// which lists few elements more than are sent. The starting key does not change the selection.
class ChunkSelector {
 public:
  // Writes the sent.count largest to `sent`, in order of places; ties go to the smallest places.
  void select(const float* u, std::size_t count, const SentOfChunk& sent);

 private:
  std::uint32_t low_key_ = no_key;
  std::uint32_t places_[tile_elements + lane_width], bits_[tile_elements + lane_width];
  std::uint32_t keys_[tile_elements];
};

// The numbers of eight chunks fill whole bytes.
inline constexpr std::size_t chunks_together = 8;

template <class Work>
void for_each_eight(const Chunks& chunks, const Work& work) {
  run_in_parallel((chunks.count() + chunks_together - 1) / chunks_together, [&](std::size_t eight) {
    const std::size_t first = eight * chunks_together;
    work(first, std::min(first + chunks_together, chunks.count()));
  });
}

// What the chunks send, one after the other, in the state's scratch memory.
struct SentWords {
  std::uint32_t* words;
  const Chunks& chunks;

  SentOfChunk of(std::size_t c) const {
    const std::size_t first = c * chunks.per_chunk;
    return {words + first, words + chunks.sent() + first, chunks.sent_of(c)};
  }
};

// Whether the places ascend within each chunk and lie in it.
bool good_places(const Chunks& chunks, const std::byte* indices);

// Whether the unused bits after these numbers are zero.
bool good_end(std::size_t count, unsigned bits, const std::byte* numbers);

}  // namespace syncline
