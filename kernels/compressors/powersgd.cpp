// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019): one step of power iteration finds a rank-r
// approximation P Q^T of u = g + e, starting from the last step's Q. P = u Q is summed over workers
// and made orthonormal; Q = u^T P is summed; both are linear in u, so an all-reduce can carry them.
// The approximation error stays in the residual, from which the next step subtracts what was sent.
// P and Q travel in fp32 in either precision of the gradient.
//
// Sums have a fixed order: along a row 32 lanes as in order.h; down a column, blocks of 64 rows
// in float and the blocks in double.
#include "kernels/arithmetic/lanes.h"
#include "kernels/arithmetic/low_rank.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// The last rows may be shorter or empty.
std::size_t length_of_row(std::size_t elements, const Shape& s, std::size_t row) {
  const std::size_t begin = std::min(row * s.columns, elements);
  return std::min(s.columns, elements - begin);
}

void put_floats(std::span<const float> values, Message& message) {
  message.resize(4 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    put_value(values[i], Precision::fp32, message.data() + 4 * i);
}

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / 4);
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), 4 * values.size());
  return values;
}

// While Q is worked out, its columns of u are taken sixteen at a time, and the values of a column
// of Q for these lie side by side, so that a core sees few streams.
constexpr std::size_t packed_size(const Shape& s) {
  return (s.columns + lane_width - 1) / lane_width * lane_width * s.rank;
}

// Where the factor of column j of u begins. The next of its values is lane_width further on.
constexpr std::size_t packed_at(std::size_t j, std::size_t rank) {
  return j / lane_width * lane_width * rank + j % lane_width;
}

// The reference: element by element.

void multiply_plainly(const Gradient& gradient, bool feedback, const Shape& s, const Factors& own,
                      State& state, std::vector<float>& p) {
  settle(state);
  add_plainly(gradient, feedback, state);
  for (std::size_t i = 0; i < s.rows; ++i)
    for (std::size_t c = 0; c < s.rank; ++c) {
      float partial[lanes] = {};
      for (std::size_t j = 0; j < length_of_row(state.residual.size(), s, i); ++j)
        partial[j % lanes] += state.residual[i * s.columns + j] * own.start[j * s.rank + c];
      p[i * s.rank + c] = static_cast<float>(in_lane_order(partial));
    }
}

void add_block_plainly(std::span<const float> u, const Shape& s, const float* p, std::size_t begin,
                       std::size_t end, float* q) {
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t c = 0; c < s.rank; ++c)
      for (std::size_t j = 0; j < length_of_row(u.size(), s, i); ++j)
        q[packed_at(j, s.rank) + c * lane_width] += u[i * s.columns + j] * p[i * s.rank + c];
}

// The same with vectors.

constexpr std::size_t strip_columns = 4096, rows_together = 4;
// What is fetched before it is needed: beside the factors, a core does not look far enough ahead.
constexpr std::size_t ahead = 256;

std::vector<float> packed(std::span<const float> q, const Shape& s) {
  std::vector<float> result(packed_size(s));
  for (std::size_t j = 0; j < s.columns; ++j)
    for (std::size_t c = 0; c < s.rank; ++c)
      result[packed_at(j, s.rank) + c * lane_width] = q[j * s.rank + c];
  return result;
}

// Calls work(rank): the usual one as a compile-time constant, so that sums stay in registers.
template <class Work>
void with_rank(std::size_t rank, const Work& work) {
  if (rank == 4)
    work(std::integral_constant<std::size_t, 4>());
  else
    work(rank);
}

// A vector of a row of P Q^T.
template <class Rank>
Floats products(const float* p, const float* q, Rank rank) {
  Floats sum = {};
  for (std::size_t c = 0; c < rank; ++c)
    sum += p[c] * load(q + c * lane_width);
  return sum;
}

// For `count` neighbours in a row: adds what is left of u to g, and the products of u and columns
// of Q to their lanes' sums. `sent` and `q` are packed.
template <class Rank>
void add_and_multiply(const float* g, bool feedback, const float* p, const float* sent,
                      const float* q, Rank rank, std::size_t count, float* u,
                      float (*sums)[lanes]) {
  float of_row[most_rank];
  Floats halves[most_rank][2];
  std::copy_n(p, rank, of_row);
  std::memcpy(halves, sums, rank * sizeof halves[0]);
  const std::size_t whole = count - count % lanes;
  const auto add_vector = [&](std::size_t at, std::size_t half) {
    __builtin_prefetch(g + at + ahead);
    __builtin_prefetch(u + at + ahead, 1);
    Floats value = load(g + at);
    if (feedback) {
      const Floats gone = products(of_row, sent + at * rank, rank), zero = {};
      const Masks finite = keys_of(gone) < infinite_key;
      value = value + (finite ? load(u + at) - gone : zero);
    }
    store(value, u + at);
    for (std::size_t c = 0; c < rank; ++c)
      halves[c][half] += value * load(q + at * rank + c * lane_width);
  };
  for (std::size_t at = 0; at < whole; at += lanes) {
    add_vector(at, 0);
    add_vector(at + lane_width, 1);
  }
  std::memcpy(sums, halves, rank * sizeof halves[0]);
  for (std::size_t j = whole; j < count; ++j) {
    const std::size_t at = packed_at(j, rank);
    u[j] = feedback ? g[j] + unsent(u[j], low_rank(p, sent + at, rank, lane_width)) : g[j];
    for (std::size_t c = 0; c < rank; ++c)
      sums[c][j - whole] += u[j] * q[at + c * lane_width];
  }
}

// The sums of lanes, each in order, side by side.
template <class Rank>
void put_totals(const float (*sums)[lanes], Rank rank, float* p) {
  double totals[most_rank] = {};
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t c = 0; c < rank; ++c)
      totals[c] += sums[c][lane];
  for (std::size_t c = 0; c < rank; ++c)
    p[c] = static_cast<float>(totals[c]);
}

void multiply(const Gradient& gradient, bool feedback, const Shape& s, const Factors& own,
              State& state, std::vector<float>& p) {
  const std::size_t n = gradient.elements();
  fit(state.residual, n);
  const std::vector<float> q = packed(own.start, s), sent = packed(own.sent_q, s);
  run_in_parallel(s.rows, [&](std::size_t i) {
    float sums[most_rank][lanes], scratch[strip_columns];
    std::fill_n(sums[0], s.rank * lanes, 0.0f);
    const std::size_t length = length_of_row(n, s, i);
    with_rank(s.rank, [&](auto rank) {
      for (std::size_t j = 0; j < length; j += strip_columns) {
        const std::size_t at = i * s.columns + j, count = std::min(strip_columns, length - j);
        add_and_multiply(gradient.tile(at, count, scratch), feedback, own.sent_p.data() + i * rank,
                         sent.data() + j * rank, q.data() + j * rank, rank, count,
                         state.residual.data() + at, sums);
      }
      put_totals(sums, rank, p.data() + i * rank);
    });
  });
  forget_sent(state);
}

void add_block(std::span<const float> u, const Shape& s, const float* p, std::size_t begin,
               std::size_t end, float* q) {
  for (std::size_t first = begin; first < end; first += rows_together) {
    const std::size_t last = std::min(first + rows_together, end),
                      shortest = length_of_row(u.size(), s, last - 1),
                      whole = last - first < rows_together ? 0 : shortest - shortest % lane_width;
    with_rank(s.rank, [&](auto rank) {
      for (std::size_t j = 0; j < whole; j += lane_width)
        for (std::size_t c = 0; c < rank; ++c) {
          float* const to = q + j * rank + c * lane_width;
          Floats sum = load(to);
          for (std::size_t i = first; i < first + rows_together; ++i)
            sum += load(&u[i * s.columns + j]) * p[i * rank + c];
          store(sum, to);
        }
    });
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t j = whole; j < length_of_row(u.size(), s, i); ++j)
        for (std::size_t c = 0; c < s.rank; ++c)
          q[packed_at(j, s.rank) + c * lane_width] += u[i * s.columns + j] * p[i * s.rank + c];
  }
}

// How the two versions differ.
struct Manner {
  // u = g + e, in the residual, and P = u Q.
  void (*multiply)(const Gradient&, bool feedback, const Shape&, const Factors&, State&,
                   std::vector<float>& p);
  // Adds what a block of rows adds to Q = u^T P, which is packed.
  void (*add_block)(std::span<const float> u, const Shape&, const float* p, std::size_t begin,
                    std::size_t end, float* q);
};
constexpr Manner plainly{multiply_plainly, add_block_plainly}, fast{multiply, add_block};

template <const Manner& manner>
void make_p(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const Shape s = shape_of(settings, gradient.elements());
  std::vector<float> p(s.rows * s.rank);
  manner.multiply(gradient, with_feedback(settings), s, factors_of(state, s, draw), state, p);
  put_floats(p, message);
}

template <const Manner& manner>
void make_q(const Settings& settings, std::span<const std::byte> first_sum, State& state,
            Message& message) {
  const Shape s = shape_of(settings, state.residual.size());
  expect_bytes("powersgd", first_sum.size(), 4 * s.rows * s.rank);
  std::vector<float> p = floats(first_sum);
  orthogonalise(p, s.rows, s.rank);
  const std::size_t size = packed_size(s);
  float* const blocks = reinterpret_cast<float*>(state.scratch.words(s.blocks() * size));
  run_in_parallel(s.blocks(), [&](std::size_t b) {
    std::fill_n(blocks + b * size, size, 0.0f);
    manner.add_block(state.residual, s, p.data(), b * block_rows,
                     std::min(s.rows, (b + 1) * block_rows), blocks + b * size);
  });
  const Factors own = factors_of(state, s, {});
  std::ranges::copy(p, own.sent_p.begin());
  run_in_parallel(size / lane_width, [&](std::size_t vector) {
    double totals[lane_width] = {};
    for (std::size_t b = 0; b < s.blocks(); ++b)
      for (std::size_t lane = 0; lane < lane_width; ++lane)
        totals[lane] += blocks[b * size + vector * lane_width + lane];
    const std::size_t begin = vector / s.rank * lane_width, c = vector % s.rank;
    for (std::size_t j = begin; j < std::min(begin + lane_width, s.columns); ++j)
      own.sent_q[j * s.rank + c] = static_cast<float>(totals[j - begin]);
  });
  state.sent_rank = s.rank;
  put_floats(own.sent_q, message);
}

void remember(const Settings& settings, std::span<const std::byte> whole, State& state) {
  const Shape s = shape_of(settings, state.residual.size());
  expect_bytes("powersgd", whole.size(), 4 * (s.rows + s.columns) * s.rank);
  const std::vector<float> q = floats(whole.subspan(4 * s.rows * s.rank));
  const Factors own = factors_of(state, s, {});
  std::ranges::copy(q, own.start.begin());
  if (!std::ranges::all_of(q, [](float value) { return std::isfinite(value); }))
    state.memory.resize(4 * (own.sent_q.size() + own.sent_p.size()));  // later steps begin afresh
}

template <const Manner& manner>
void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  make_p<manner>(settings, gradient, draw, state, message);
  Message second;
  make_q<manner>(settings, message, state, second);
  message.insert(message.end(), second.begin(), second.end());
  remember(settings, message, state);
}

void decode_plainly(const Settings& settings, MessageBytes message, Precision, const Draw&,
                    std::span<float> sum) {
  const Shape s = shape_of(settings, sum.size());
  expect_bytes("powersgd", message.size(), 4 * (s.rows + s.columns) * s.rank);
  std::vector<float> p = floats(message.first(4 * s.rows * s.rank));
  const std::vector<float> q = floats(message.subspan(4 * s.rows * s.rank));
  orthogonalise(p, s.rows, s.rank);
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] +=
        low_rank(p.data() + i / s.columns * s.rank, q.data() + i % s.columns * s.rank, s.rank);
}

void decode(const Settings& settings, MessageBytes message, Precision, const Draw&,
            std::span<float> sum) {
  const Shape s = shape_of(settings, sum.size());
  expect_bytes("powersgd", message.size(), 4 * (s.rows + s.columns) * s.rank);
  std::vector<float> p = floats(message.first(4 * s.rows * s.rank));
  const std::vector<float> q = packed(floats(message.subspan(4 * s.rows * s.rank)), s);
  orthogonalise(p, s.rows, s.rank);
  run_in_parallel(s.rows, [&](std::size_t i) {
    const std::size_t length = length_of_row(sum.size(), s, i),
                      whole = length - length % lane_width;
    float* const to = sum.data() + i * s.columns;
    const float* const row = p.data() + i * s.rank;
    for (std::size_t j = 0; j < whole; j += lane_width)
      store(load(to + j) + products(row, q.data() + j * s.rank, s.rank), to + j);
    for (std::size_t j = whole; j < length; ++j)
      to[j] += low_rank(row, q.data() + packed_at(j, s.rank), s.rank, lane_width);
  });
}

void add(const Settings& settings, Precision, std::span<std::byte> sum,
         std::span<const std::byte> message) {
  add_values(settings, Precision::fp32, sum, message);
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision) {
  const Shape s = shape_of(settings, elements);
  return {static_cast<double>(4 * (s.rows + s.columns) * s.rank), true};
}

constexpr const char* matrices_name = "matrices";

bool by_tensor(const Settings& settings) {
  return settings.word(matrices_name) == "tensors";
}

WireSize bytes_of_tensors(const Settings& settings, const std::vector<TensorShape>& tensors,
                          Precision precision) {
  const auto rank = static_cast<std::uint64_t>(settings.number("rank"));
  std::uint64_t all = 0;
  for (const auto& [rows, columns, count] : tensors) {
    const bool is_vector = rows == 1 || columns == 1;
    all += count * (is_vector ? rows * columns * value_bytes(precision)
                              : 4 * (rows + columns) * std::min({rank, rows, columns}));
  }
  return {static_cast<double>(all), true};
}

// Waits of the block that makes P orthonormal: it walks along all rows for each column.
double walks(const Shape& s) {
  return static_cast<double>(s.rank) * (4 + 0.55 * std::ceil(static_cast<double>(s.rows) / 256));
}

// What powersgd.cu enqueues. (The slots of the rows were fitted before they also subtracted what
// was sent; these instructions were added by counting them in the code: 27 for a value became 31.)
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const Shape s = shape_of(settings, elements);
  const Amount tensor = sectors(4 * elements), p = sectors(4 * s.rows * s.rank),
               q = sectors(4 * s.columns * s.rank), columns = sectors(8 * s.rows * s.rank),
               partial = sectors(4 * s.blocks() * s.columns * s.rank);
  const bool feedback = with_feedback(settings), reads_u = feedback || s.rank > chunk;
  const Amount factors = feedback ? sectors(4 * (s.rows + 2 * s.columns) * s.rank) : q;
  return {
      {"rows_kernel", (reads_u ? 2 : 1) * tensor + factors, tensor + p + sector_bytes,
       (165 + (feedback ? 28 : 19) * static_cast<double>(s.rank)) * static_cast<double>(elements)},
      {"orthogonalise_kernel", p + columns, columns + p, 0, walks(s)},
      {"columns_kernel", tensor + p, partial},
      {"sum_kernel", partial, 2 * q},
      {"remember_kernel", q + sector_bytes, q}};
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const Shape s = shape_of(settings, elements);
  const Amount tensor = sectors(4 * elements), p = sectors(4 * s.rows * s.rank),
               columns = sectors(8 * s.rows * s.rank);
  return repeated({{"orthogonalise_kernel", p + columns, columns + p, 0, walks(s)},
                   {"product_kernel", tensor + p + sectors(4 * s.columns * s.rank), tensor}},
                  messages);
}

const Registered<Compressor> entry{{
    .name = "powersgd",
    .sentence = "a matrix of low rank by one step of power iteration, with error feedback",
    .help = {.more = "Both factors can be added, so any all-reduce carries them: two all-reduces "
                     "with half of the bytes each. A message has the bytes of a matrix for each "
                     "tensor, and vectors as they are, as in the paper. Costs are those of one "
                     "matrix of as many values. Learned buckets, and those of models without "
                     "shapes, are one matrix.",
             .paper = "Vogels, Karimireddy and Jaggi, NeurIPS 2019"},
    .options = {whole_number("rank", "rank of the approximation", "4", 1, most_rank),
                unpriced(choice(matrices_name,
                                "what a matrix is: each tensor, with its first dimension as rows, "
                                "or a bucket as square as possible, as in PyTorch's batched hook",
                                "tensors", {"tensors", "bucket"})),
                feedback_option("on")},
    .reducible = true,
    .shared_draw = true,
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .by_tensor = {.on = by_tensor, .wire_bytes = bytes_of_tensors},
    .reference = {encode<plainly>, one_by_one<decode_plainly>},
    .cpu = {encode<fast>, one_by_one<decode>},
    .add = add,
    .first_half = make_p<fast>,
    .second_half = make_q<fast>,
    .remember = remember,
    .traffic =
        {.encode = encode_traffic, .decode = decode_traffic, .floor = 16, .published = {40, 9, 0}},
}};

}  // namespace
}  // namespace syncline
