// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019): one step of power iteration finds a rank-r
// approximation P Q^T of u = g + e, starting from the last step's Q. P = u Q is summed over workers
// and made orthonormal; Q = u^T P is summed; both are linear in u, so an all-reduce can carry them.
// The approximation error stays in the residual. P and Q travel in fp32 in either precision of the
// gradient.
//
// Sums have a fixed order: along a row 32 lanes as in moments.h; down a column, blocks of 64 rows
// in float and the blocks in double.
#include "kernels/compressors/powersgd.h"

#include "kernels/cpu/dense.h"
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// The last rows may be shorter or empty.
std::span<float> row_of(std::span<float> u, const Shape& s, std::size_t row) {
  const std::size_t begin = std::min(row * s.columns, u.size());
  return u.subspan(begin, std::min(s.columns, u.size() - begin));
}

// Stores each column of Q contiguously, so that walking along a row of u walks along a column of Q.
std::vector<float> transposed(std::span<const float> matrix, std::size_t columns) {
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    result[i % columns * (matrix.size() / columns) + i / columns] = matrix[i];
  return result;
}

double dot_plainly(const float* a, const float* b, std::size_t count) {
  float partial[lanes] = {};
  for (std::size_t j = 0; j < count; ++j)
    partial[j % lanes] += a[j] * b[j];
  return in_lane_order(partial);
}

// The same with vectors, each of which holds half of the lanes.
double dot(const float* a, const float* b, std::size_t count) {
  Floats halves[2] = {};
  const std::size_t whole = count - count % lanes;
  for (std::size_t j = 0; j < whole; j += lanes) {
    halves[0] += load(a + j) * load(b + j);
    halves[1] += load(a + j + lane_width) * load(b + j + lane_width);
  }
  float partial[lanes];
  std::memcpy(partial, halves, sizeof partial);
  for (std::size_t j = whole; j < count; ++j)
    partial[j - whole] += a[j] * b[j];
  return in_lane_order(partial);
}

// Adds the contribution of one row of u to Q = u^T P; q is transposed.
void add_row(std::span<const float> u, const Shape& s, const float* p, float* q) {
  for (std::size_t c = 0; c < s.rank; ++c)
    for (std::size_t j = 0; j < u.size(); ++j)
      q[c * s.columns + j] += u[j] * p[c];
}

// A row of P Q^T; q is transposed.
std::vector<float> row_of_product(const float* p, const float* q, const Shape& s,
                                  std::size_t length) {
  std::vector<float> row(length);
  for (std::size_t c = 0; c < s.rank; ++c)
    for (std::size_t j = 0; j < length; ++j)
      row[j] += p[c] * q[c * s.columns + j];
  return row;
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

// How the two versions differ: rows one after the other or in parallel, and two kinds of dot
// product.
struct Manner {
  void (*rows)(std::size_t count, const std::function<void(std::size_t)>& work);
  double (*dot)(const float* a, const float* b, std::size_t count);
};
constexpr Manner plainly{run_in_order, dot_plainly}, fast{run_in_parallel, dot};

template <const Manner& manner>
void make_p(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const std::size_t n = gradient.elements();
  const Shape s = shape_of(settings, n);
  const bool feedback = with_feedback(settings);
  fit(state.residual, n);
  manner.rows(tiles_of(n), [&](std::size_t t) {
    const std::size_t begin = t * tile_elements;
    add_strip(gradient, feedback, begin, std::min(tile_elements, n - begin), state.residual.data());
  });
  const std::vector<float> q = transposed(matrix_of(state, s, draw), s.rank);
  std::vector<float> p(s.rows * s.rank);
  manner.rows(s.rows, [&](std::size_t i) {
    const std::span<const float> row = row_of(state.residual, s, i);
    for (std::size_t c = 0; c < s.rank; ++c)
      p[i * s.rank + c] =
          static_cast<float>(manner.dot(row.data(), q.data() + c * s.columns, row.size()));
  });
  put_floats(p, message);
}

template <const Manner& manner>
void make_q(const Settings& settings, std::span<const std::byte> first_sum, State& state,
            Message& message) {
  const Shape s = shape_of(settings, state.residual.size());
  expect_bytes("powersgd", first_sum.size(), 4 * s.rows * s.rank);
  std::vector<float> p = floats(first_sum);
  orthogonalise(p, s.rows, s.rank);
  const std::size_t blocks = s.blocks();
  std::vector<std::vector<float>> partial(blocks, std::vector<float>(s.columns * s.rank));
  manner.rows(blocks, [&](std::size_t b) {
    for (std::size_t i = b * block_rows; i < std::min(s.rows, (b + 1) * block_rows); ++i)
      add_row(row_of(state.residual, s, i), s, p.data() + i * s.rank, partial[b].data());
  });
  std::vector<double> totals(s.columns * s.rank);
  for (const std::vector<float>& block : partial)
    for (std::size_t j = 0; j < totals.size(); ++j)
      totals[j] += block[j];
  const std::vector<float> q(totals.begin(), totals.end());
  manner.rows(s.rows, [&](std::size_t i) {
    const std::span<float> row = row_of(state.residual, s, i);
    const std::vector<float> sent = row_of_product(p.data() + i * s.rank, q.data(), s, row.size());
    for (std::size_t j = 0; j < sent.size(); ++j)
      row[j] = std::isfinite(sent[j]) ? row[j] - sent[j] : 0.0f;
  });
  put_floats(transposed(q, s.columns), message);
}

void remember(const Settings& settings, std::span<const std::byte> whole, State& state) {
  const Shape s = shape_of(settings, state.residual.size());
  expect_bytes("powersgd", whole.size(), 4 * (s.rows + s.columns) * s.rank);
  const std::span<const std::byte> q = whole.subspan(4 * s.rows * s.rank);
  state.memory.assign(q.begin(), q.end());
  for (const float value : floats(q))
    if (!std::isfinite(value))  // a diverged step must not spoil all later ones
      state.memory.clear();
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

template <const Manner& manner>
void decode_one(const Settings& settings, MessageBytes message, std::span<float> sum) {
  const Shape s = shape_of(settings, sum.size());
  expect_bytes("powersgd", message.size(), 4 * (s.rows + s.columns) * s.rank);
  std::vector<float> p = floats(message.first(4 * s.rows * s.rank));
  const std::vector<float> q = transposed(floats(message.subspan(4 * s.rows * s.rank)), s.rank);
  orthogonalise(p, s.rows, s.rank);
  manner.rows(s.rows, [&](std::size_t i) {
    const std::span<float> row = row_of(sum, s, i);
    const std::vector<float> sent = row_of_product(p.data() + i * s.rank, q.data(), s, row.size());
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] += sent[j];
  });
}

template <const Manner& manner>
void decode(const Settings& settings, const Messages& messages, Precision, const Draw&,
            std::span<float> sum) {
  for (const MessageBytes message : messages)
    decode_one<manner>(settings, message, sum);
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

// What powersgd.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const Shape s = shape_of(settings, elements);
  const Amount tensor = sectors(4 * elements), p = sectors(4 * s.rows * s.rank),
               q = sectors(4 * s.columns * s.rank), columns = sectors(8 * s.rows * s.rank),
               partial = sectors(4 * s.blocks() * s.columns * s.rank);
  const bool reads_u = with_feedback(settings) || s.rank > chunk;
  return {{"rows_kernel", (reads_u ? 2 : 1) * tensor + q, tensor + p + sector_bytes,
           (165 + 19 * static_cast<double>(s.rank)) * static_cast<double>(elements)},
          {"orthogonalise_kernel", p + columns, columns + p, 0, walks(s)},
          {"columns_kernel", tensor + p, partial},
          {"sum_kernel", partial, q},
          {"product_kernel", tensor + p + q, tensor},
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
    .reference = {encode<plainly>, decode<plainly>},
    .cpu = {encode<fast>, decode<fast>},
    .add = add,
    .first_half = make_p<fast>,
    .second_half = make_q<fast>,
    .remember = remember,
    .traffic =
        {.encode = encode_traffic, .decode = decode_traffic, .floor = 24, .published = {40, 9, 0}},
}};

}  // namespace
}  // namespace syncline
