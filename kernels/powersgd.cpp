// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019): one step of power iteration finds a rank-r
// approximation P Q^T of u = g + e, starting from the last step's Q. P = u Q is summed over workers
// and made orthonormal; Q = u^T P is summed; both are linear in u, so an all-reduce carries them.
// What the approximation misses stays in the residual. P and Q travel in fp32 whatever the gradient
// is.
//
// Sums have a fixed order: along a row 32 lanes as in moments.h; down a column, blocks of 64 rows
// in float and the blocks in double.
#include "kernels/powersgd.h"

#include "kernels/feedback.h"
#include "kernels/values.h"

namespace syncline {
namespace {

Shape shape_of(const Settings& settings, std::size_t elements) {
  return syncline::shape_of(elements, static_cast<std::size_t>(settings.number("rank")));
}

std::size_t row_length(const Shape& s, std::size_t elements, std::size_t row) {
  const std::size_t begin = std::min(row * s.columns, elements);
  return std::min(s.columns, elements - begin);
}

void start_matrix(const Shape& s, const Draw& draw, State& state) {
  if (state.matrix.size() == s.columns * s.rank)
    return;
  state.matrix.resize(s.columns * s.rank);
  for (std::size_t i = 0; i < state.matrix.size(); ++i)
    state.matrix[i] = first_entry(draw, i);
}

// One row of P = u Q.
void row_times(const float* u, std::size_t length, const Shape& s, const float* q, float* p) {
  for (std::size_t c = 0; c < s.rank; ++c) {
    float partial[lanes] = {};
    for (std::size_t j = 0; j < length; ++j)
      partial[j % lanes] += u[j] * q[j * s.rank + c];
    double total = 0;
    for (const float lane : partial)
      total += lane;
    p[c] = static_cast<float>(total);
  }
}

// What a block of rows adds to Q = u^T P.
void add_block(const float* u, std::size_t length, const Shape& s, const float* p, float* q) {
  for (std::size_t j = 0; j < length; ++j)
    for (std::size_t c = 0; c < s.rank; ++c)
      q[j * s.rank + c] += u[j] * p[c];
}

void put_floats(std::span<const float> values, std::byte* out) {
  for (std::size_t i = 0; i < values.size(); ++i)
    put_value(values[i], Precision::fp32, out + 4 * i);
}

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / 4);
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), 4 * values.size());
  return values;
}

// Runs rows one after the other, or in parallel: the two versions differ in nothing else.
using Rows = void (*)(std::size_t count, const std::function<void(std::size_t)>& work);

void one_by_one(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i)
    work(i);
}

void make_p(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message, Rows rows) {
  const std::size_t n = gradient.elements();
  const Shape s = shape_of(settings, n);
  const bool feedback = with_feedback(settings);
  fit(state.residual, n);
  start_matrix(s, draw, state);
  rows(tiles_of(n), [&](std::size_t t) {
    const std::size_t begin = t * tile_elements;
    add_strip(gradient, feedback, begin, std::min(tile_elements, n - begin), state.residual.data());
  });
  std::vector<float> p(s.rows * s.rank);
  rows(s.rows, [&](std::size_t i) {
    row_times(state.residual.data() + std::min(i * s.columns, n), row_length(s, n, i), s,
              state.matrix.data(), p.data() + i * s.rank);
  });
  message.resize(4 * p.size());
  put_floats(p, message.data());
}

void make_q(const Settings& settings, std::span<const std::byte> first_sum, State& state,
            Message& message, Rows rows) {
  const std::size_t n = state.residual.size();
  const Shape s = shape_of(settings, n);
  expect_bytes("powersgd", first_sum.size(), 4 * s.rows * s.rank);
  std::vector<float> p = floats(first_sum);
  orthogonalise(p, s.rows, s.rank);
  float* u = state.residual.data();
  const std::size_t blocks = (s.rows + block_rows - 1) / block_rows;
  std::vector<std::vector<float>> partial(blocks, std::vector<float>(s.columns * s.rank));
  rows(blocks, [&](std::size_t b) {
    for (std::size_t i = b * block_rows; i < std::min(s.rows, (b + 1) * block_rows); ++i)
      add_block(u + std::min(i * s.columns, n), row_length(s, n, i), s, p.data() + i * s.rank,
                partial[b].data());
  });
  std::vector<float> q(s.columns * s.rank);
  for (std::size_t j = 0; j < q.size(); ++j) {
    double total = 0;
    for (const std::vector<float>& block : partial)
      total += block[j];
    q[j] = static_cast<float>(total);
  }
  rows(s.rows, [&](std::size_t i) {
    float* row = u + std::min(i * s.columns, n);
    for (std::size_t j = 0; j < row_length(s, n, i); ++j) {
      const float sent = low_rank(p.data() + i * s.rank, q.data() + j * s.rank, s.rank);
      row[j] = std::isfinite(sent) ? row[j] - sent : 0.0f;
    }
  });
  message.resize(4 * q.size());
  put_floats(q, message.data());
}

void remember(const Settings& settings, std::span<const std::byte> whole, State& state) {
  const Shape s = shape_of(settings, state.residual.size());
  expect_bytes("powersgd", whole.size(), 4 * (s.rows + s.columns) * s.rank);
  state.matrix = floats(whole.subspan(4 * s.rows * s.rank));
  for (const float value : state.matrix)
    if (!std::isfinite(value)) {  // a diverged step must not end all later ones
      state.matrix.clear();
      return;
    }
}

void encode_with(Rows rows, const Settings& settings, const Gradient& gradient, const Draw& draw,
                 State& state, Message& message) {
  make_p(settings, gradient, draw, state, message, rows);
  Message second;
  make_q(settings, message, state, second, rows);
  message.insert(message.end(), second.begin(), second.end());
  remember(settings, message, state);
}

void decode_with(Rows rows, const Settings& settings, std::span<const std::byte> message,
                 std::span<float> sum) {
  const std::size_t n = sum.size();
  const Shape s = shape_of(settings, n);
  expect_bytes("powersgd", message.size(), 4 * (s.rows + s.columns) * s.rank);
  std::vector<float> p = floats(message.first(4 * s.rows * s.rank));
  const std::vector<float> q = floats(message.subspan(4 * s.rows * s.rank));
  orthogonalise(p, s.rows, s.rank);
  rows(s.rows, [&](std::size_t i) {
    for (std::size_t j = 0; j < row_length(s, n, i); ++j)
      sum[i * s.columns + j] += low_rank(p.data() + i * s.rank, q.data() + j * s.rank, s.rank);
  });
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  encode_with(one_by_one, settings, gradient, draw, state, message);
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  encode_with(run_in_parallel, settings, gradient, draw, state, message);
}

void decode_plainly(const Settings& settings, std::span<const std::byte> message, Precision,
                    const Draw&, std::span<float> sum) {
  decode_with(one_by_one, settings, message, sum);
}

void decode(const Settings& settings, std::span<const std::byte> message, Precision, const Draw&,
            std::span<float> sum) {
  decode_with(run_in_parallel, settings, message, sum);
}

void first_half(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
                Message& message) {
  make_p(settings, gradient, draw, state, message, run_in_parallel);
}

void second_half(const Settings& settings, std::span<const std::byte> first_sum, State& state,
                 Message& message) {
  make_q(settings, first_sum, state, message, run_in_parallel);
}

void add(const Settings& settings, Precision, std::span<std::byte> sum,
         std::span<const std::byte> message) {
  add_values(settings, Precision::fp32, sum, message);
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision) {
  const Shape s = shape_of(settings, elements);
  return {static_cast<double>(4 * (s.rows + s.columns) * s.rank), true};
}

const Registered<Compressor> entry{{
    .name = "powersgd",
    .sentence = "a matrix of low rank by one step of power iteration, with error feedback",
    .parameters = {{.name = "rank",
                    .sentence = "rank of the approximation",
                    .fallback = "4",
                    .minimum = 1,
                    .maximum = 64,
                    .whole = true},
                   feedback_parameter("on")},
    .reducible = true,
    .shared_draw = true,
    .feedback = true,
    .wire_bytes = bytes,
    .reference = {encode_plainly, decode_plainly},
    .cpu = {encode, decode},
    .add = add,
    .first_half = first_half,
    .second_half = second_half,
    .remember = remember,
    .traffic =
        {
            .encode_bytes_per_element = 24,
            .encode_kernels = 5,
            .published_bytes_per_element = 40,
            .published_kernels = 9,
            .published_syncs = 0,
            .decode_sum_bytes_per_element = 8,
        },
}};

}  // namespace
}  // namespace syncline
