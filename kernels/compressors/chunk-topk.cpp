// Chunk-wise top-k: the 64 largest magnitudes of each 4096 values, in two bits each, with error
// feedback. SparseLoCo (Sarfi, Therien, Lidin, Belilovsky, arXiv 2508.15706) sends this, and models
// are trained with it over the internet: an index inside a chunk takes 12 bits, so that 64 of 4096
// in 14 bits are a 146th of fp32. Every chunk is selected on its own, without a look at the whole
// tensor. SparseLoCo's residual decays by 0.95 a step (`decay`) in place of an outer momentum.
//
// The two bits are the sign and one of two levels: below the mean of all sent magnitudes, or not. A
// level is sent as the mean of its magnitudes over the tensor. (The paper leaves its quantiser
// open; the four equal bins around the mean in the released code put small values of both signs
// into one bin.) Zeros among the largest, in a chunk with few other values, are sent as the lower
// level; error feedback corrects that in the next step.
//
// Message: the lower and the higher level (fp32), the place in its chunk of each element sent, then
// the code of each. Ties go to the smallest indices.
#include "kernels/compressors/chunk-topk.h"

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/values.h"
#include "kernels/cpu/chunks.h"
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/select.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {

namespace {

LevelSums sums_of(const SentOfChunk& sent, std::uint32_t high_key) {
  LevelSums partial[lanes], total;
  for (std::size_t j = 0; j < sent.count; ++j)
    partial[j % lanes].add(sent.value(j), high_key);
  for (const LevelSums& lane : partial)
    total = total + lane;
  return total;
}

void put_levels(const LevelSums& sums, std::byte* message) {
  put_value(mean_of(sums.low, sums.lows), Precision::fp32, message);
  put_value(mean_of(sums.high, sums.highs), Precision::fp32, message + sizeof(float));
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  const LevelMessage chunks = level_message(settings, gradient.elements());
  State unused;
  State& kept = with_feedback(settings) ? state : unused;
  add_plainly(gradient, with_feedback(settings), kept);
  Values& u = kept.residual;
  std::vector<std::uint32_t> places, bits;
  std::vector<std::size_t> elements;
  std::vector<SentOfChunk> sent;
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const std::span<const float> chunk(u.data() + c * chunks.chunk, chunks.elements_of(c));
    for (const std::uint32_t place : largest_plainly(chunk, chunks.sent_of(c))) {
      places.push_back(place);
      bits.push_back(std::bit_cast<std::uint32_t>(chunk[place]));
      elements.push_back(c * chunks.chunk + place);
    }
  }
  for (std::size_t c = 0; c < chunks.count(); ++c)
    sent.push_back({places.data() + c * chunks.per_chunk, bits.data() + c * chunks.per_chunk,
                    chunks.sent_of(c)});
  const auto sums = [&](std::uint32_t high_key) {
    std::vector<LevelSums> of_chunks;
    for (const SentOfChunk& chunk : sent)
      of_chunks.push_back(sums_of(chunk, high_key));
    return in_order(of_chunks);
  };
  const std::uint32_t high_key = high_key_of(sums(no_key));
  message.assign(chunks.bytes(), std::byte{0});
  put_levels(sums(high_key), message.data());
  const float low = get_float(message.data()), high = get_float(message.data() + 4);
  for (float& value : u)
    value = kept_of(value, 0, decay_of(settings));
  for (std::size_t j = 0; j < elements.size(); ++j) {
    const float value = std::bit_cast<float>(bits[j]);
    const std::uint8_t code = level_code(value, high_key);
    put_number(code, j, level_bits, message.data() + chunks.codes_begin());
    put_number(places[j], j, chunks.index_bits, message.data() + chunks.indices_begin());
    u[elements[j]] = kept_of(value, from_level_code(code, low, high), decay_of(settings));
  }
}

// Adds the residual, selects, and sums the selected magnitudes.
LevelSums add_and_select(const Gradient& gradient, bool feedback, const Chunks& chunks, float* u,
                         const SentWords& sent) {
  std::vector<LevelSums> sums(chunks.count());
  const std::size_t n = gradient.elements();
  run_in_parallel((n + strip_elements - 1) / strip_elements, [&](std::size_t strip) {
    ChunkSelector selector;
    float scratch[strip_elements];
    const std::size_t begin = strip * strip_elements, count = std::min(strip_elements, n - begin);
    const float* values = u + begin;
    if (feedback)
      add_strip(gradient, true, begin, count, u);
    else
      values = gradient.tile(begin, count, scratch);
    for (std::size_t at = 0; at < count; at += chunks.chunk) {
      const std::size_t c = (begin + at) / chunks.chunk;
      selector.select(values + at, chunks.elements_of(c), sent.of(c));
      sums[c] = sums_of(sent.of(c), no_key);
    }
  });
  return in_order(sums);
}

// Writes the places and codes of chunks `first` to `end`, which begin at a whole byte.
void write_chunks(const LevelMessage& chunks, const SentWords& sent, std::size_t first,
                  std::size_t end, std::uint32_t high_key, Message& message) {
  const std::size_t begin = first * chunks.per_chunk;
  const std::size_t count = (end - 1 - first) * chunks.per_chunk + chunks.sent_of(end - 1);
  const SentOfChunk all{sent.words + begin, sent.words + chunks.sent() + begin, count};
  put_numbers(count, chunks.index_bits,
              message.data() + chunks.indices_begin() + begin * chunks.index_bits / 8,
              [&](std::size_t j) { return all.places[j]; });
  put_numbers(count, level_bits, message.data() + chunks.codes_begin() + begin * level_bits / 8,
              [&](std::size_t j) { return level_code(all.value(j), high_key); });
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const LevelMessage chunks = level_message(settings, gradient.elements());
  const bool feedback = with_feedback(settings);
  const float decay = decay_of(settings);
  if (feedback)
    fit(state.residual, gradient.elements());
  float* u = state.residual.data();
  const SentWords sent{state.scratch.words(2 * chunks.sent()), chunks};
  const std::uint32_t high_key = high_key_of(add_and_select(gradient, feedback, chunks, u, sent));
  std::vector<LevelSums> sums(chunks.count());
  run_in_parallel(chunks.count(), [&](std::size_t c) { sums[c] = sums_of(sent.of(c), high_key); });
  message.resize(chunks.bytes());
  put_levels(in_order(sums), message.data());
  const float low = get_float(message.data()), high = get_float(message.data() + 4);
  for_each_eight(chunks, [&](std::size_t first, std::size_t end) {
    write_chunks(chunks, sent, first, end, high_key, message);
    for (std::size_t c = first; feedback && c < end; ++c) {
      float* chunk = u + c * chunks.chunk;
      if (decay != 1)
        for (std::size_t i = 0; i < chunks.elements_of(c); ++i)
          chunk[i] = kept_of(chunk[i], 0, decay);
      const SentOfChunk of_chunk = sent.of(c);
      for (std::size_t j = 0; j < of_chunk.count; ++j) {
        const float value = of_chunk.value(j);
        chunk[of_chunk.places[j]] =
            kept_of(value, from_level_code(level_code(value, high_key), low, high), decay);
      }
    }
  });
}

bool is_level(float level) {
  return !(level < 0);  // NaN is allowed: the gradient had one
}

void check(const LevelMessage& chunks, MessageBytes message) {
  expect_bytes("chunk-topk", message.size(), chunks.bytes());
  const std::byte *indices = message.data() + chunks.indices_begin(),
                  *codes = message.data() + chunks.codes_begin();
  if (!is_level(get_float(message.data())) || !is_level(get_float(message.data() + 4)) ||
      !good_end(chunks.sent(), chunks.index_bits, indices) ||
      !good_end(chunks.sent(), level_bits, codes) || !good_places(chunks, indices))
    throw CorruptMessage(
        "corrupt chunk-topk message: allowed are levels from 0 and places that ascend in a chunk");
}

void add_chunk(const LevelMessage& chunks, std::size_t c, std::span<const std::byte> message,
               std::span<float> sum) {
  const std::byte *indices = message.data() + chunks.indices_begin(),
                  *codes = message.data() + chunks.codes_begin();
  const float low = get_float(message.data()), high = get_float(message.data() + 4);
  for (std::size_t j = c * chunks.per_chunk; j < c * chunks.per_chunk + chunks.sent_of(c); ++j)
    sum[c * chunks.chunk + get_number(indices, j, chunks.index_bits)] +=
        from_level_code(get_number(codes, j, level_bits), low, high);
}

template <auto run>
void decode(const Settings& settings, const Messages& messages, Precision, const Draw&,
            std::span<float> sum) {
  const LevelMessage chunks = level_message(settings, sum.size());
  for (const MessageBytes message : messages)
    check(chunks, message);
  run(chunks.count(), [&](std::size_t c) {
    for (const MessageBytes message : messages)
      add_chunk(chunks, c, message, sum);
  });
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision) {
  return {static_cast<double>(level_message(settings, elements).bytes()), true};
}

Promise promise(const Settings& settings, std::size_t elements, std::size_t) {
  return {.values = static_cast<double>(chunks_of(settings, elements).sent())};
}

// What chunk-topk.cu enqueues. One allocation holds the sums, the key of the high level and the
// list.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const LevelMessage chunks = level_message(settings, elements);
  const std::size_t count = chunks.count(), sent = chunks.sent(), summed = sent > 0 ? count : 0;
  const bool feedback = with_feedback(settings);
  const Amount tensor = sectors(4 * elements), none, bits = sent > 0 ? sectors(4 + 4 * sent) : none,
               list = sent > 0 ? sectors(4 + 8 * sent) : none, sums = sectors(32 * summed),
               groups = sums_of_groups(summed, 32), one = sector_bytes;
  StreamOperations all{{"select_kernel", (feedback ? 2 : 1) * tensor + bits,
                        (feedback ? tensor : none) + list + sums,
                        250 * static_cast<double>(elements), 4}};
  if (summed > 0)
    all.push_back(groups_added(summed, 32));
  all.push_back({"high_key_kernel", groups, one});
  if (summed > 0) {
    all.push_back({"levels_kernel", bits + one, sums});
    all.push_back(groups_added(summed, 32));
  }
  all.push_back({"scale_kernel", groups, one});
  if (summed > 0)
    all.push_back({"write_kernel", one + list,
                   sectors(chunks.bytes()) +
                       (feedback ? scattered(sent, static_cast<double>(elements)) : none),
                   0, 4});
  return all;
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const LevelMessage chunks = level_message(settings, elements);
  const double sent = static_cast<double>(chunks.sent());
  const double each = static_cast<double>(chunks.bytes()) / std::max(sent, 1.0);
  return messages > 1 && sweeps(messages * chunks.sent(), elements)
             ? sparse_sum(sent, elements, each, messages)
             : repeated(sparse_sum(sent, elements, each, 1), messages);
}

const Registered<Compressor> entry{{
    .name = "chunk-topk",
    .sentence = "the largest of each chunk of 4096 elements, in two bits each, with error feedback",
    .help = {.more = "64 of 4096, with 12 bits for a place and 2 for a value: a 146th of fp32. "
                     "Training over the internet sends this once per round of `local-sgd`, with "
                     "decay = 0.95.",
             .paper = "SparseLoCo: Sarfi et al. 2025, arXiv 2508.15706"},
    .options = {number(density_name, "share of the elements of a chunk that is sent", "0.015625", 0,
                       1),
                chunk_option(), decay_option(), feedback_option("on")},
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .promise = promise,
    .reference = {encode_plainly, decode<run_in_order>},
    .cpu = {encode, decode<run_in_parallel>},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 12.5,
                .published = {40, 9, 0}},
}};

}  // namespace
}  // namespace syncline
