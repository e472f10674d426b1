#include "kernels/sparse.h"

#include <atomic>
#include <cstring>

#include "kernels/values.h"

namespace syncline {
namespace {

std::uint32_t get_index(const std::byte* message, std::size_t i) {
  std::uint32_t index = 0;
  std::memcpy(&index, message + 4 * i, sizeof index);
  return index;
}

}  // namespace

Picks room_for_picks(std::size_t elements, Scratch& scratch) {
  if (elements > 0xffffffffu)
    throw std::invalid_argument("a tensor of " + std::to_string(elements) +
                                " elements: allowed are up to 4294967295, indices have 32 bits");
  return {scratch.words(elements), std::vector<std::uint32_t>(tiles_of(elements))};
}

void raise(std::span<const float> u, std::uint32_t threshold, Picks& picks) {
  run_in_parallel(picks.counts.size(), [&](std::size_t t) {
    std::uint32_t kept = 0;
    const std::span<std::uint32_t> indices = picks.tile(t);
    for (const std::uint32_t index : indices) {
      indices[kept] = index;
      kept += magnitude_key(u[index]) >= threshold ? 1u : 0u;
    }
    picks.counts[t] = kept;
  });
}

void write_sparse(const Picks& picks, Precision precision, std::vector<float>& u,
                  Message& message) {
  const std::size_t total = picks.total(), width = value_bytes(precision);
  message.resize(total * (4 + width));
  std::vector<std::size_t> first(picks.counts.size() + 1);
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    first[t + 1] = first[t] + picks.counts[t];
  run_in_parallel(picks.counts.size(), [&](std::size_t t) {
    if (picks.counts[t] == 0)
      return;
    const std::span<const std::uint32_t> indices = picks.tile(t);
    std::memcpy(message.data() + 4 * first[t], indices.data(), 4 * indices.size());
    std::byte* values = message.data() + 4 * total + width * first[t];
    for (std::size_t i = 0; i < indices.size(); ++i) {
      put_value(u[indices[i]], precision, values + width * i);
      u[indices[i]] = sent_off(u[indices[i]], precision);
    }
  });
}

void write_sparse_plainly(const std::vector<std::uint32_t>& chosen, Precision precision,
                          std::vector<float>& u, Message& message) {
  const std::size_t width = value_bytes(precision);
  message.assign(chosen.size() * (4 + width), std::byte{0});
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::memcpy(message.data() + 4 * i, &chosen[i], 4);
    put_value(u[chosen[i]], precision, message.data() + 4 * chosen.size() + width * i);
    u[chosen[i]] = sent_off(u[chosen[i]], precision);
  }
}

void decode_sparse(const Settings&, std::span<const std::byte> message, Precision precision,
                   const Draw&, std::span<float> sum) {
  const std::size_t width = value_bytes(precision), total = message.size() / (4 + width);
  if (message.size() % (4 + width) != 0)
    throw CorruptMessage("corrupt sparse message: " + std::to_string(message.size()) +
                         " bytes, allowed are multiples of " + std::to_string(4 + width));
  // Ascending indices are distinct, so tiles of the list write to different elements.
  std::atomic<bool> ascending{true};
  for_each_tile(total, [&](std::size_t, std::size_t begin, std::size_t count) {
    bool good = true;
    for (std::size_t i = begin; i < begin + count; ++i)
      good = good && (i == 0 || get_index(message.data(), i - 1) < get_index(message.data(), i));
    if (!good)
      ascending = false;
  });
  if (!ascending || (total > 0 && get_index(message.data(), total - 1) >= sum.size()))
    throw CorruptMessage("corrupt sparse message: allowed are ascending indices below " +
                         std::to_string(sum.size()));
  for_each_tile(total, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      sum[get_index(message.data(), i)] +=
          get_value(message.data() + 4 * total + width * i, precision);
  });
}

}  // namespace syncline
