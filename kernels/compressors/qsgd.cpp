// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic, NeurIPS 2017, arXiv 1610.02132): the gradient is
// cut into buckets, each with a scale; every element is rounded at random to a multiple of scale /
// `levels`, so that its expectation is the element. Defaults are those of the paper's experiments:
// 4 bits, buckets of 512, the largest magnitude as scale, fixed-width codes, no error feedback. The
// theory's variant is norm = two with an Elias code.
//
// Message, fixed width: one scale (fp32) per bucket, then the codes: sign and level. Elias: bucket
// after bucket, each from a byte boundary.
#include <cmath>

#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/normal.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/values.h"
#include "kernels/compressors/qsgd_elias.h"
#include "kernels/cpu/feedback.h"
#include "kernels/elementary.h"
#include "kernels/gpu/selection_traffic.h"
#include "kernels/philox.h"

namespace syncline {

Qsgd qsgd_of(const Settings& settings) {
  Qsgd qsgd;
  qsgd.bits = static_cast<unsigned>(settings.number("bits"));
  qsgd.levels = (1 << (qsgd.bits - 1)) - 1;
  qsgd.bucket = static_cast<std::size_t>(std::stoul(settings.word("quant-bucket")));
  qsgd.max_norm = settings.word("norm") == "max";
  const std::string coding = settings.word("coding");
  qsgd.coding = coding == "fixed"    ? Coding::fixed
                : coding == "sparse" ? Coding::sparse
                                     : Coding::dense;
  return qsgd;
}

void refuse_elias(const Settings& settings) {
  if (const std::string coding = settings.word("coding"); coding != "fixed")
    throw std::invalid_argument("qsgd on a CUDA device: coding = " + coding +
                                ": allowed is fixed, as Elias codes are made on CPUs only");
}

namespace {

// The scale of one bucket: its largest magnitude, or its 2-norm.
float scale_of(const Qsgd& qsgd, const Moments& moments) {
  const float scale = qsgd.max_norm ? std::bit_cast<float>(moments.top)
                                    : static_cast<float>(std::sqrt(moments.squares));
  return scale == scale ? scale : std::numeric_limits<float>::quiet_NaN();  // one NaN for all
}

std::size_t buckets_of(const Qsgd& qsgd, std::size_t elements) {
  return (elements + qsgd.bucket - 1) / qsgd.bucket;
}

float step_of(const Qsgd& qsgd, float scale) {
  return scale / static_cast<float>(qsgd.levels);
}

float decoded(const Qsgd& qsgd, std::uint8_t code, float step) {
  return from_level(code & (qsgd.sign_bit() - 1), (code & qsgd.sign_bit()) != 0, step);
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  const Qsgd qsgd = qsgd_of(settings);
  const std::size_t n = gradient.elements(), buckets = buckets_of(qsgd, n);
  State unused;
  State& kept = with_feedback(settings) ? state : unused;
  add_plainly(gradient, with_feedback(settings), kept);
  message.clear();
  if (qsgd.coding == Coding::fixed)
    message.assign(4 * buckets + packed_bytes(n, qsgd.bits), std::byte{0});
  BitWriter bits(message);
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::size_t begin = bucket * qsgd.bucket, count = std::min(qsgd.bucket, n - begin);
    float* u = kept.residual.data() + begin;
    const float scale = scale_of(qsgd, tile_moments_plainly(u, count));
    const float inverse = inverse_unit(scale, qsgd.levels);
    std::vector<std::uint8_t> codes(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t sign = u[i] < 0 ? qsgd.sign_bit() : 0;
      codes[i] = static_cast<std::uint8_t>(
          sign | level_of(u[i], inverse, qsgd.levels, random16(draw, begin + i)));
      u[i] = left_behind(u[i], decoded(qsgd, codes[i], step_of(qsgd, scale)));
      if (qsgd.coding == Coding::fixed)
        put_number(codes[i], begin + i, qsgd.bits, message.data() + 4 * buckets);
    }
    if (qsgd.coding == Coding::fixed)
      put_value(scale, Precision::fp32, message.data() + 4 * bucket);
    else
      put_bucket(qsgd, scale, codes.data(), count, bits);
  }
}

// Codes of one bucket, which begins at `at` of its tile; `random` are the random words of that
// tile. Writes the new residual to `rest` unless it is null.
void quantise_bucket(const Qsgd& qsgd, float scale, const std::uint32_t* random, std::size_t at,
                     std::size_t count, const float* u, std::uint8_t* codes, float* rest) {
  const float inverse = inverse_unit(scale, qsgd.levels), step = step_of(qsgd, scale);
  const std::size_t whole = count - count % lane_width;
  const Floats zero = {};
  const std::int32_t sign_bit = static_cast<std::int32_t>(qsgd.sign_bit());
  for (std::size_t i = 0; i < whole; i += lane_width) {
    const Floats v = load(u + i);
    const Masks negative = v < zero,
                level = level_of(v, inverse, qsgd.levels, sixteen_random16_in(random, at + i));
    narrow(level | (negative & sign_bit), codes + i);
    if (rest != nullptr) {
      const Floats sent = from_level(level, negative, step);
      store(keys_of(sent) < infinite_key ? v - sent : zero, rest + i);
    }
  }
  for (std::size_t i = whole; i < count; ++i) {
    const float v = u[i];
    codes[i] =
        static_cast<std::uint8_t>(level_of(v, inverse, qsgd.levels, random16_in(random, at + i)) |
                                  (v < 0 ? qsgd.sign_bit() : 0u));
    if (rest != nullptr)
      rest[i] = left_behind(v, decoded(qsgd, codes[i], step));
  }
}

// Scales and codes of one tile, which holds whole buckets: bucket sizes divide a tile.
void quantise_tile(const Qsgd& qsgd, const Draw& draw, std::size_t begin, std::size_t count,
                   const float* u, float* scales, std::uint8_t* codes, float* rest) {
  std::uint32_t random[tile_elements / 2];
  random_words_of_tile(draw, begin, count, u, random);
  for (std::size_t at = 0; at < count; at += qsgd.bucket) {
    const std::size_t size = std::min(qsgd.bucket, count - at);
    const float scale = scale_of(
        qsgd, qsgd.max_norm ? Moments{.top = tile_top(u + at, size)} : tile_moments(u + at, size));
    scales[at / qsgd.bucket] = scale;
    quantise_bucket(qsgd, scale, random, at, size, u + at, codes + at,
                    rest == nullptr ? nullptr : rest + at);
  }
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const Qsgd qsgd = qsgd_of(settings);
  const std::size_t n = gradient.elements(), buckets = buckets_of(qsgd, n);
  const bool feedback = with_feedback(settings), fixed = qsgd.coding == Coding::fixed;
  if (feedback)
    fit(state.residual, n);
  if (fixed)
    message.resize(4 * buckets + packed_bytes(n, qsgd.bits));
  std::vector<Message> coded(fixed ? 0 : tiles_of(n));
  for_each_tile(n, [&](std::size_t t, std::size_t begin, std::size_t count) {
    float scratch[tile_elements], scales[tile_elements / 16];
    std::uint8_t codes[tile_elements];
    if (feedback)
      add_strip(gradient, true, begin, count, state.residual.data());
    float* rest = feedback ? state.residual.data() + begin : nullptr;
    const float* u = feedback ? rest : gradient.tile(begin, count, scratch);
    quantise_tile(qsgd, draw, begin, count, u, scales, codes, rest);
    const std::size_t here = buckets_of(qsgd, count);
    if (fixed) {
      std::memcpy(message.data() + begin / qsgd.bucket * 4, scales, 4 * here);
      pack(codes, count, qsgd.bits, message.data() + 4 * buckets + begin / 8 * qsgd.bits);
      return;
    }
    BitWriter bits(coded[t]);
    for (std::size_t b = 0; b < here; ++b)
      put_bucket(qsgd, scales[b], codes + b * qsgd.bucket,
                 std::min(qsgd.bucket, count - b * qsgd.bucket), bits);
  });
  if (fixed)
    return;
  message.clear();
  for (const Message& part : coded)
    message.insert(message.end(), part.begin(), part.end());
}

// Decoded Elias codes: they have no fixed places, so they are read in order, into scales and one
// code per byte.
struct Codes {
  std::vector<float> scales;
  std::vector<std::uint8_t> codes;
};

Codes read_elias(const Qsgd& qsgd, std::span<const std::byte> message, std::size_t elements) {
  Codes read{std::vector<float>(buckets_of(qsgd, elements)), std::vector<std::uint8_t>(elements)};
  BitReader bits(message);
  for (std::size_t b = 0; b < read.scales.size(); ++b)
    read.scales[b] = get_bucket(qsgd, std::min(qsgd.bucket, elements - b * qsgd.bucket), bits,
                                read.codes.data() + b * qsgd.bucket);
  if (!bits.at_end())
    throw CorruptMessage("corrupt qsgd message: bytes after the last bucket");
  return read;
}

std::vector<float> read_scales(const Qsgd& qsgd, std::span<const std::byte> message,
                               std::size_t elements) {
  std::vector<float> scales(buckets_of(qsgd, elements));
  expect_bytes("qsgd", message.size(), 4 * scales.size() + packed_bytes(elements, qsgd.bits));
  for (std::size_t b = 0; b < scales.size(); ++b) {
    scales[b] = get_float(message.data() + 4 * b);
    if (scales[b] < 0)
      throw CorruptMessage("corrupt qsgd message: a scale below zero");
  }
  return scales;
}

void decode_plainly(const Settings& settings, std::span<const std::byte> message, Precision,
                    const Draw&, std::span<float> sum) {
  const Qsgd qsgd = qsgd_of(settings);
  const std::size_t n = sum.size();
  Codes read;
  if (qsgd.coding == Coding::fixed) {
    read.scales = read_scales(qsgd, message, n);
    for (std::size_t i = 0; i < n; ++i)
      read.codes.push_back(static_cast<std::uint8_t>(
          get_number(message.data() + 4 * read.scales.size(), i, qsgd.bits)));
  } else {
    read = read_elias(qsgd, message, n);
  }
  for (std::size_t i = 0; i < n; ++i)
    sum[i] += decoded(qsgd, read.codes[i], step_of(qsgd, read.scales[i / qsgd.bucket]));
}

// Adds the codes that one message has for a tile.
void add_codes(const Qsgd& qsgd, const std::vector<float>& scales, const std::uint8_t* codes,
               std::size_t begin, std::size_t count, std::span<float> sum) {
  const std::int32_t sign_bit = static_cast<std::int32_t>(qsgd.sign_bit());
  for (std::size_t at = 0; at < count; at += qsgd.bucket) {
    const float step = step_of(qsgd, scales[(begin + at) / qsgd.bucket]);
    const std::size_t end = std::min(at + qsgd.bucket, count);
    std::size_t i = at;
    for (; i + lane_width <= end; i += lane_width) {
      const Masks code = widened(codes + i), level = code & (sign_bit - 1);
      float* to = sum.data() + begin + i;
      store(load(to) + from_level(level, (code & sign_bit) != 0, step), to);
    }
    for (; i < end; ++i)
      sum[begin + i] += decoded(qsgd, codes[i], step);
  }
}

void decode(const Settings& settings, const Messages& messages, Precision, const Draw&,
            std::span<float> sum) {
  const Qsgd qsgd = qsgd_of(settings);
  const std::size_t n = sum.size();
  const bool fixed = qsgd.coding == Coding::fixed;
  std::vector<Codes> read;
  for (const MessageBytes message : messages)
    read.push_back(fixed ? Codes{read_scales(qsgd, message, n), {}} : read_elias(qsgd, message, n));
  for_each_tile(n, [&](std::size_t, std::size_t begin, std::size_t count) {
    std::uint8_t unpacked[tile_elements];
    for (std::size_t m = 0; m < messages.size(); ++m) {
      if (fixed)
        unpack(messages[m].data() + 4 * read[m].scales.size() + begin / 8 * qsgd.bits, count,
               qsgd.bits, unpacked);
      add_codes(qsgd, read[m].scales, fixed ? unpacked : read[m].codes.data() + begin, begin, count,
                sum);
    }
  });
}

// Fixed width: exact. Elias: the size for Gaussian gradients, found by encoding one tile of them.
WireSize bytes(const Settings& settings, std::size_t elements, Precision) {
  const Qsgd qsgd = qsgd_of(settings);
  if (qsgd.coding == Coding::fixed)
    return {static_cast<double>(4 * buckets_of(qsgd, elements) + packed_bytes(elements, qsgd.bits)),
            true};
  std::vector<float> sample(tile_elements);
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = static_cast<float>(normal_quantile((uniform(Draw{}, i) + 0x1p-25)));
  State state;
  Message message;
  encode(settings, std::span<const float>(sample), Draw{}, state, message);
  return {static_cast<double>(message.size() * elements) / static_cast<double>(sample.size()),
          false};
}

// The paper's mean code length of a bucket, with its o(1) terms as 0: Theorem 3.2, whose proof is
// for few levels, and Lemma A.6 for the dense regime.
std::optional<double> code_bits(const Qsgd& qsgd, double n) {
  const double s = qsgd.levels, root = std::sqrt(n);
  const auto log2 = [](double x) { return steady_log(x) / log_of_two; };
  if (qsgd.coding == Coding::dense)
    return 32 + ((log2(1 + (s * s + std::min(n, s * root)) / n) + 1) / 2 + 2) * n;
  if (qsgd.coding == Coding::fixed || s * s + root > n / 2)
    return {};
  const double levels = s * (s + root);  // upper bound of the mean number of non-zeros
  return 32 + (3 + 1.5 * log2(2 * (s * s + n) / levels)) * levels;
}

// Lemma 3.1, for the largest bucket. It also holds for a scale below the 2-norm, such as the
// largest magnitude. More levels are then not zero, so codes may be longer than the bound.
Promise promise(const Settings& settings, std::size_t elements, std::size_t /*sent*/) {
  const Qsgd qsgd = qsgd_of(settings);
  const double n = static_cast<double>(std::min(qsgd.bucket, elements)), s = qsgd.levels;
  Promise promise{.left_out = std::min(n / (s * s), std::sqrt(n) / s)};
  if (const auto bits = code_bits(qsgd, n); bits && !qsgd.max_norm)
    promise.bits = *bits * static_cast<double>(buckets_of(qsgd, elements));
  return promise;
}

constexpr double adding_slots = 20;

// What qsgd.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  refuse_elias(settings);
  const Qsgd qsgd = qsgd_of(settings);
  const Amount tensor = sectors(4 * elements),
               fixed = sectors(4 * buckets_of(qsgd, elements) + packed_bytes(elements, qsgd.bits));
  const bool feedback = with_feedback(settings);
  // The kernels of other widths and buckets have twice the instructions, counted in the code.
  const bool fast = std::has_single_bit(qsgd.bits) && qsgd.bucket == 512;
  return {{"quantise_kernel", (feedback ? 2 : 1) * tensor, fixed + (feedback ? tensor : Amount()),
           (fast ? 68 : 136) * static_cast<double>(elements), 2}};
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  refuse_elias(settings);
  const Qsgd qsgd = qsgd_of(settings);
  return dense_sum(4 * buckets_of(qsgd, elements) + packed_bytes(elements, qsgd.bits), elements,
                   messages, adding_slots);
}

const Registered<Compressor> entry{{
    .name = "qsgd",
    .sentence = "stochastic rounding to a few levels of each bucket's scale, unbiased",
    .help = {.more = "Four bits make a message an eighth of fp32, with more variance in each step.",
             .paper = "Alistarh et al., NeurIPS 2017"},
    .options = {whole_number("bits", "bits per element with its sign: 2^(bits-1) - 1 levels", "4",
                             2, 8),
                choice("quant-bucket", "elements that share one scale", "512",
                       {"16", "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192"}),
                choice("norm", "a bucket's scale: its largest magnitude (max) or its 2-norm (two)",
                       "max", {"max", "two"}),
                choice("coding", "fixed width, or an Elias code for sparse or for dense levels",
                       "fixed", {"fixed", "sparse", "dense"}),
                feedback_option("off")},
    .unbiased = true,
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .promise = promise,
    .reference = {encode_plainly, one_by_one<decode_plainly>},
    .cpu = {encode, decode},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 4.51,
                .published = {25, 5, 0}},
}};

}  // namespace
}  // namespace syncline
