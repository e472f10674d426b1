#include "kernels/cpu/chunks.h"

#include <atomic>

#include "kernels/cpu/select.h"

namespace syncline {
namespace {

// The lower edge of the histogram bin that holds the k-th largest.
std::uint32_t edge_below(const float* u, std::size_t count, std::size_t k) {
  std::uint32_t counts[bins] = {};
  for (std::size_t i = 0; i < count; ++i)
    ++counts[bin_of(magnitude_key(u[i]))];
  std::size_t bin = bins;
  for (std::size_t above = 0; above < k; above += counts[bin])
    --bin;
  return first_key(static_cast<std::uint32_t>(bin));
}

bool good_places(const Chunks& chunks, std::size_t c, const std::byte* indices) {
  std::size_t next = 0;
  bool good = true;
  for (std::size_t j = 0; j < chunks.sent_of(c); ++j) {
    const std::size_t place = get_number(indices, c * chunks.per_chunk + j, chunks.index_bits);
    good = good && place >= next && place < chunks.elements_of(c);
    next = place + 1;
  }
  return good;
}

}  // namespace

void ChunkSelector::select(const float* u, std::size_t count, const SentOfChunk& sent) {
  if (sent.count == 0)
    return;
  std::size_t found = list_reaching(low_key_, u, count, 0, places_, bits_);
  if (found < sent.count || found > sent.count + count / 16)
    found = list_reaching(edge_below(u, count, sent.count), u, count, 0, places_, bits_);
  for (std::size_t j = 0; j < found; ++j)
    keys_[j] = key_of_bits(bits_[j]);
  std::nth_element(keys_, keys_ + sent.count - 1, keys_ + found, std::greater<>());
  const std::uint32_t cut = keys_[sent.count - 1];
  // Of the keys equal to the cut, the first `ties` are sent.
  std::size_t ties = sent.count, at = 0;
  for (std::size_t j = 0; j < sent.count; ++j)
    ties -= keys_[j] > cut ? 1 : 0;
  for (std::size_t j = 0; j < found && at < sent.count; ++j) {
    const std::uint32_t key = key_of_bits(bits_[j]);
    const bool tie = key == cut && ties > 0;
    ties -= tie ? 1 : 0;
    sent.places[at] = places_[j];
    sent.bits[at] = bits_[j];
    at += key > cut || tie ? 1 : 0;
  }
  constexpr std::uint32_t margin = first_key(1);  // an eighth of an octave
  low_key_ = cut > margin ? cut - margin : 0;
}

bool good_places(const Chunks& chunks, const std::byte* indices) {
  std::atomic<bool> good = true;
  for_each_eight(chunks, [&](std::size_t first, std::size_t end) {
    for (std::size_t c = first; c < end; ++c)
      if (!good_places(chunks, c, indices))
        good = false;
  });
  return good;
}

bool good_end(std::size_t count, unsigned bits, const std::byte* numbers) {
  const std::size_t used = count * bits % 8;
  return used == 0 || std::to_integer<unsigned>(numbers[count * bits / 8]) >> used == 0;
}

}  // namespace syncline
