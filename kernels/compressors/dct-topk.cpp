// Top-k of cosine transforms: each chunk of 4096 values, as 64 rows of 64, goes through an
// orthonormal DCT-II of rows and columns; its 32 coefficients of largest magnitude are sent,
// transformed back, and subtracted from the residual. DeMo (Peng, Quesnelle, Kingma, arXiv
// 2411.19870) sends this. The transform preserves lengths, so these coefficients carry as much of a
// chunk's energy as 32 coefficients can.
//
// DeMo's optimizer is not part of this: its momentum is this residual (`decay` = 0.999, the
// gradient times the learning rate added), and a step follows the sign of the sum of what all
// workers sent. Its code cuts a matrix into blocks of 64 rows and columns, or of a divisor, and a
// vector into pieces of 64. Tensors have no shape here: a chunk is 4096 neighbours, and elements
// after the last whole chunk are sent untransformed, as their largest values. Its code sends a
// place in 64 bits; here it takes 12.
//
// Message: the values in the gradient's precision, then the place of each in its chunk. Ties go to
// the smallest places. A chunk with a non-finite value sends non-finite values for the whole chunk;
// one whose sums exceed the largest float sends infinity.
#include "kernels/compressors/dct-topk.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/arithmetic/feedback.h"
#include "kernels/cpu/chunks.h"
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/select.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {

// Computes one quarter of a wave in double; the other quarters mirror it.
Cosines cosines_of(unsigned side) {
  Cosines cosines{};
  for (unsigned m = 0; m < 4 * side; ++m) {
    const unsigned half = m <= 2 * side ? m : 4 * side - m;
    const unsigned quarter = half <= side ? half : 2 * side - half;
    const double cosine = std::sqrt(2.0 / side) * std::cos(std::numbers::pi * quarter / (2 * side));
    cosines.at[m] = static_cast<float>(half <= side ? cosine : -cosine);
  }
  return cosines;
}

namespace {

using Matrix = std::vector<float>;  // square, row by row

Matrix product_plainly(const Matrix& a, const Matrix& b, unsigned side) {
  Matrix product(a.size());
  for (unsigned row = 0; row < side; ++row)
    for (unsigned column = 0; column < side; ++column)
      for (unsigned i = 0; i < side; ++i)
        product[row * side + column] += a[row * side + i] * b[i * side + column];
  return product;
}

// The basis B and its transpose.
struct Bases {
  Matrix basis, transposed;

  explicit Bases(unsigned side) : basis(side * side), transposed(side * side) {
    const Cosines cosines = cosines_of(side);
    for (unsigned q = 0; q < side; ++q)
      for (unsigned j = 0; j < side; ++j)
        basis[q * side + j] = transposed[j * side + q] = basis_of(cosines.at, side, q, j);
  }
};

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  const Precision precision = gradient.precision();
  const CoefficientMessage chunks = coefficient_message(settings, gradient.elements(), precision);
  const unsigned side = chunks.side();
  const Bases bases(side);
  State unused;
  State& kept = with_feedback(settings) ? state : unused;
  add_plainly(gradient, with_feedback(settings), kept);
  message.assign(chunks.bytes(), std::byte{0});
  std::size_t j = 0;
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    float* const u = kept.residual.data() + c * chunks.chunk;
    Matrix values(u, u + chunks.elements_of(c)), sent(values.size());
    if (chunks.is_transformed(c))
      values = product_plainly(product_plainly(bases.basis, values, side), bases.transposed, side);
    for (const std::uint32_t place : largest_plainly(values, chunks.sent_of(c))) {
      put_value(values[place], precision, message.data() + j * chunks.each);
      put_number(place, j++, chunks.index_bits, message.data() + chunks.indices_begin());
      sent[place] = as_sent(values[place], precision);
    }
    if (chunks.is_transformed(c))
      sent = product_plainly(bases.transposed, product_plainly(sent, bases.basis, side), side);
    for (std::size_t i = 0; i < sent.size(); ++i)
      u[i] = kept_of(u[i], sent[i], decay_of(settings));
  }
}

// The product of a and b, where only the listed rows of b are not zero; sixteen columns at a time.
template <unsigned side>
void multiply(const float* a, const float* b, const unsigned* rows, unsigned count,
              float* product) {
  constexpr unsigned vectors = side / lane_width, together = 2;
  for (unsigned row = 0; row < side; row += together) {
    Floats sums[together][vectors] = {};
    for (unsigned i = 0; i < count; ++i)
      for (unsigned v = 0; v < vectors; ++v) {
        const Floats here = load(b + rows[i] * side + v * lane_width);
        for (unsigned r = 0; r < together; ++r)
          sums[r][v] += a[(row + r) * side + rows[i]] * here;
      }
    for (unsigned r = 0; r < together; ++r)
      for (unsigned v = 0; v < vectors; ++v)
        store(sums[r][v], product + (row + r) * side + v * lane_width);
  }
}

// Transforms one chunk at a time. Each thread has its own; they share the bases.
template <unsigned side>
class Transform {
 public:
  explicit Transform(const Bases& bases)
      : basis_(bases.basis.data()), transposed_(bases.transposed.data()) {
    for (unsigned i = 0; i < side; ++i)
      all_[i] = i;
  }

  void forward(const float* values, float* coefficients) {
    multiply<side>(basis_, values, all_, side, between_);
    multiply<side>(between_, transposed_, all_, side, coefficients);
  }

  // Transforms back `count` coefficients with place(j) and value(j), in ascending order of places.
  template <class Place, class Value>
  void back(std::size_t count, const Place& place, const Value& value, float* values) {
    unsigned rows[side], present = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const unsigned row = static_cast<unsigned>(place(j)) / side, column = place(j) % side;
      float* const sums = between_ + row * side;
      if (present == 0 || rows[present - 1] != row) {
        rows[present++] = row;
        std::fill(sums, sums + side, 0.0f);
      }
      for (unsigned i = 0; i < side; i += lane_width)
        store(load(sums + i) + value(j) * load(basis_ + column * side + i), sums + i);
    }
    multiply<side>(transposed_, between_, rows, present, values);
  }

 private:
  const float *basis_, *transposed_;
  unsigned all_[side];
  float between_[side * side];
};

// Encodes chunks `first` to `end`, up to eight: what they send and, with feedback, what they keep.
template <unsigned side>
void encode_chunks(const Settings& settings, const Gradient& gradient, const Bases& bases,
                   const CoefficientMessage& chunks, std::size_t first, std::size_t end,
                   const SentWords& words, float* residual, Message& message) {
  const Precision precision = gradient.precision();
  const float decay = decay_of(settings);
  ChunkSelector selector;
  Transform<side> transform(bases);
  float scratch[side * side], values[side * side];
  for (std::size_t c = first; c < end; ++c) {
    const std::size_t begin = c * chunks.chunk, count = chunks.elements_of(c);
    const SentOfChunk sent = words.of(c);
    if (residual != nullptr)
      add_strip(gradient, true, begin, count, residual);
    const float* u = residual != nullptr ? residual + begin : gradient.tile(begin, count, scratch);
    if (chunks.is_transformed(c))
      transform.forward(u, values);
    selector.select(chunks.is_transformed(c) ? values : u, count, sent);
    for (std::size_t j = 0; j < sent.count; ++j)
      put_value(sent.value(j), precision,
                message.data() + (c * chunks.per_chunk + j) * chunks.each);
    if (residual == nullptr)
      continue;
    const auto as_received = [&](std::size_t j) { return as_sent(sent.value(j), precision); };
    if (chunks.is_transformed(c)) {
      transform.back(
          sent.count, [&](std::size_t j) { return sent.places[j]; }, as_received, values);
    } else {
      std::fill(values, values + count, 0.0f);
      for (std::size_t j = 0; j < sent.count; ++j)
        values[sent.places[j]] = as_received(j);
    }
    for (std::size_t i = 0; i < count; ++i)
      residual[begin + i] = kept_of(residual[begin + i], values[i], decay);
  }
  const std::size_t before = first * chunks.per_chunk;
  const std::size_t count = (end - 1 - first) * chunks.per_chunk + chunks.sent_of(end - 1);
  put_numbers(count, chunks.index_bits,
              message.data() + chunks.indices_begin() + before * chunks.index_bits / 8,
              [&](std::size_t j) { return words.words[before + j]; });
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const CoefficientMessage chunks =
      coefficient_message(settings, gradient.elements(), gradient.precision());
  const Bases bases(chunks.side());
  float* residual = nullptr;
  if (with_feedback(settings)) {
    fit(state.residual, gradient.elements());
    residual = state.residual.data();
  }
  const SentWords words{state.scratch.words(2 * chunks.sent()), chunks};
  message.resize(chunks.bytes());
  with_side(chunks, [&]<unsigned side>() {
    for_each_eight(chunks, [&](std::size_t first, std::size_t end) {
      encode_chunks<side>(settings, gradient, bases, chunks, first, end, words, residual, message);
    });
  });
}

CoefficientMessage checked(const Settings& settings, std::span<const std::byte> message,
                           Precision precision, std::size_t elements) {
  const CoefficientMessage chunks = coefficient_message(settings, elements, precision);
  expect_bytes("dct-topk", message.size(), chunks.bytes());
  const std::byte* indices = message.data() + chunks.indices_begin();
  if (!good_end(chunks.sent(), chunks.index_bits, indices) || !good_places(chunks, indices))
    throw CorruptMessage("corrupt dct-topk message: allowed are places that ascend in a chunk");
  return chunks;
}

void decode_plainly(const Settings& settings, std::span<const std::byte> message,
                    Precision precision, const Draw&, std::span<float> sum) {
  const CoefficientMessage chunks = checked(settings, message, precision, sum.size());
  const unsigned side = chunks.side();
  const Bases bases(side);
  std::size_t j = 0;
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    Matrix sent(chunks.elements_of(c));
    std::vector<std::size_t> written(chunks.sent_of(c));
    for (std::size_t& place : written) {
      place = get_number(message.data() + chunks.indices_begin(), j, chunks.index_bits);
      sent[place] = get_value(message.data() + j++ * chunks.each, precision);
    }
    if (chunks.is_transformed(c) && !written.empty()) {
      sent = product_plainly(bases.transposed, product_plainly(sent, bases.basis, side), side);
      written.resize(sent.size());
      std::iota(written.begin(), written.end(), std::size_t{0});
    }
    for (const std::size_t place : written)
      sum[c * chunks.chunk + place] += sent[place];
  }
}

void decode(const Settings& settings, std::span<const std::byte> message, Precision precision,
            const Draw&, std::span<float> sum) {
  const CoefficientMessage chunks = checked(settings, message, precision, sum.size());
  const Bases bases(chunks.side());
  with_side(chunks, [&]<unsigned side>() {
    run_in_parallel(chunks.count(), [&](std::size_t c) {
      const std::size_t first = c * chunks.per_chunk, begin = c * chunks.chunk;
      const auto place = [&](std::size_t j) {
        return get_number(message.data() + chunks.indices_begin(), first + j, chunks.index_bits);
      };
      const auto value = [&](std::size_t j) {
        return get_value(message.data() + (first + j) * chunks.each, precision);
      };
      if (!chunks.is_transformed(c)) {
        for (std::size_t j = 0; j < chunks.sent_of(c); ++j)
          sum[begin + place(j)] += value(j);
      } else if (chunks.sent_of(c) > 0) {
        Transform<side> transform(bases);
        float values[side * side];
        transform.back(chunks.sent_of(c), place, value, values);
        for (std::size_t i = 0; i < side * side; ++i)
          sum[begin + i] += values[i];
      }
    });
  });
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision precision) {
  return {static_cast<double>(coefficient_message(settings, elements, precision).bytes()), true};
}

Promise promise(const Settings& settings, std::size_t elements, std::size_t) {
  return {.values = static_cast<double>(chunks_of(settings, elements).sent())};
}

// Operations to transform a chunk back: for each coefficient along its row, then down the rows that
// have any. Assumes that the coefficients fall on rows at random.
double flops_back(const CoefficientMessage& chunks) {
  const double side = chunks.side(), k = static_cast<double>(chunks.per_chunk);
  const double rows = side * (1 - std::pow(1 - 1 / side, k));
  return 2 * side * k + 2 * side * side * rows;
}

// Slots of one addition or multiplication there, with what it loads.
constexpr double transform_slots = 2.83;

// What dct-topk.cu enqueues. Its transforms take longer than its bytes.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const CoefficientMessage chunks = coefficient_message(settings, elements, Precision::fp32);
  const bool feedback = with_feedback(settings);
  const Amount tensor = sectors(4 * elements), list = sectors(8 * chunks.sent()), none;
  if (chunks.count() == 0)
    return {};
  const double whole = chunks.per_chunk > 0 ? static_cast<double>(elements / chunks.chunk) : 0;
  const double there = 4.0 * chunks.side() * static_cast<double>(chunks.chunk);
  StreamOperations all{{"transform_kernel", (feedback ? 2 : 1) * tensor + (feedback ? list : none),
                        (feedback ? tensor : none) + list,
                        transform_slots * whole * (there + (feedback ? flops_back(chunks) : 0)),
                        whole > 0 ? 33.0 : 0}};
  if (chunks.sent() > 0)
    all.push_back({"write_kernel", list, sectors(chunks.bytes())});
  return all;
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const CoefficientMessage chunks = coefficient_message(settings, elements, Precision::fp32);
  if (chunks.sent() == 0)
    return {};
  const std::size_t behind = elements % chunks.chunk;
  const double whole = static_cast<double>(elements / chunks.chunk);
  const Amount sum =
      sectors(4 * (elements - behind)) + scattered(chunks.in_last, static_cast<double>(behind));
  return repeated({{"add_kernel", sectors(chunks.bytes()) + sum, sum,
                    whole * (128 * static_cast<double>(chunks.chunk) + 2.28 * flops_back(chunks)),
                    whole > 0 ? 12.0 : 0}},
                  messages);
}

const Registered<Compressor> entry{{
    .name = "dct-topk",
    .sentence =
        "the largest coefficients of a cosine transform of each chunk of 4096 elements, with "
        "error feedback",
    .help = {.more =
                 "32 of 4096, a value and 12 bits for its place: a 93rd of fp32. DeMo's momentum "
                 "is the residual, with decay = 0.999; its step along the sign of the sum belongs "
                 "to the optimizer and is not included. Tensors smaller than a chunk are not "
                 "transformed.",
             .paper = "DeMo: Peng et al. 2024, arXiv 2411.19870"},
    .options = {number(density_name, "share of the coefficients of a chunk that is sent",
                       "0.0078125", 0, 1),
                chunk_option(), decay_option(), feedback_option("on")},
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .promise = promise,
    .reference = {encode_plainly, one_by_one<decode_plainly>},
    .cpu = {encode, one_by_one<decode>},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 12.06,
                .published = {104, 17, 0}},
}};

}  // namespace
}  // namespace syncline
