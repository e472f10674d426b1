// PowerSGD's matrices (Vogels, Karimireddy, Jaggi, NeurIPS 2019). A flat tensor of n elements is
// seen as the most nearly square matrix that holds it, row by row, with zeros at the end, as in
// PyTorch's batched hook: a kernel gets a bucket without the shapes of its tensors.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/order.h"
#include "kernels/philox.h"

namespace syncline {

inline constexpr std::size_t block_rows = 64;  // rows that u^T P sums in float
inline constexpr std::size_t most_rank = 64;
inline constexpr unsigned chunk = 4;        // columns of the factors that a GPU thread sums at once
inline constexpr double dependent = 1e-20;  // a smaller share left of a squared length is rounding

struct Shape {
  std::size_t rows = 0, columns = 0, rank = 0;

  constexpr std::size_t blocks() const { return (rows + block_rows - 1) / block_rows; }
};

inline Shape shape_of(std::size_t elements, std::size_t rank) {
  if (elements == 0)
    return {};
  std::size_t rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(elements)));
  while (rows * rows < elements)
    ++rows;
  const std::size_t columns = (elements + rows - 1) / rows;
  return {rows, columns, std::min(rank, columns)};
}

inline Shape shape_of(const Settings& settings, std::size_t elements) {
  return shape_of(elements, static_cast<std::size_t>(settings.number("rank")));
}

// The dot product of two columns, in the order of order.h: 32 running sums, then these one by one.
inline double column_product(const double* a, const double* b, std::size_t rows) {
  double partial[lanes] = {};
  const std::size_t whole = rows - rows % lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      partial[lane] += a[i + lane] * b[i + lane];
  for (std::size_t i = whole; i < rows; ++i)
    partial[i - whole] += a[i] * b[i];
  return in_lane_order(partial);
}

// The factor that normalises a column whose squared length was `before` and is `after`.
constexpr double column_scale(double before, double after, double length) {
  return after <= dependent * before || after == 0 ? 0.0 : 1 / length;
}

// Gram-Schmidt in double, as the authors use it, on the columns of a rows x rank matrix stored row
// by row. A column that depends on earlier ones becomes zero.
inline void orthogonalise(std::span<float> matrix, std::size_t rows, std::size_t rank) {
  std::vector<double> columns(matrix.size());  // each contiguously
  for (std::size_t i = 0; i < matrix.size(); ++i)
    columns[i % rank * rows + i / rank] = matrix[i];
  for (std::size_t c = 0; c < rank; ++c) {
    double* const column = columns.data() + c * rows;
    const double before = column_product(column, column, rows);
    for (std::size_t k = 0; k < c; ++k) {
      const double* const other = columns.data() + k * rows;
      const double dot = column_product(column, other, rows);
      for (std::size_t i = 0; i < rows; ++i)
        column[i] -= dot * other[i];
    }
    const double after = column_product(column, column, rows);
    const double scale = column_scale(before, after, std::sqrt(after));
    for (std::size_t i = 0; i < rows; ++i) {
      column[i] *= scale;
      matrix[i * rank + c] = static_cast<float>(column[i]);
    }
  }
}

// Element i of a tensor's first Q: the same on every worker and step.
constexpr float first_entry(const Draw& draw, std::size_t i) {
  return static_cast<float>(uniform({draw.seed, 0, draw.tensor}, i) - 0.5);
}

// What a tensor remembers in State::memory. Of the product P Q^T that was sent last, its residual
// still holds all (State::sent_rank): the next step subtracts it while it adds the gradient, which
// saves a pass of 8 bytes per element.
struct Factors {
  std::span<float> sent_q, sent_p;
  std::span<float> start;  // the Q from which the next power iteration starts
};

// Zeros at first, and a new start. A diverged step has dropped the start.
inline Factors factors_of(State& state, const Shape& s, const Draw& draw) {
  const std::size_t q = s.columns * s.rank, sent = q + s.rows * s.rank;
  const bool is_new = state.memory.size() != (sent + q) * sizeof(float);
  const std::span<float> all = memory_of<float>(state, sent + q);
  for (std::size_t i = 0; is_new && i < q; ++i)
    all[sent + i] = first_entry(draw, i);
  return {all.first(q), all.subspan(q, s.rows * s.rank), all.subspan(sent)};
}

// The residual holds nothing that was sent: what was is taken off, or the product is dropped.
inline void forget_sent(State& state) {
  const Shape s = shape_of(state.residual.size(), state.sent_rank);
  std::fill_n(state.memory.begin(), 4 * (s.rows + s.columns) * s.rank, std::byte{0});
  state.sent_rank = 0;
}

// An element of P Q^T, from its row of P and the values of its column in Q, `step` apart.
constexpr float low_rank(const float* p, const float* q, std::size_t rank, std::size_t step = 1) {
  float sum = 0;
  for (std::size_t c = 0; c < rank; ++c)
    sum += p[c] * q[c * step];
  return sum;
}

// What stays of an element of which `sent` was sent; a non-finite one would stay for ever.
constexpr float unsent(float u, float sent) {
  return magnitude_key(sent) < infinite_key ? u - sent : 0.0f;
}

}  // namespace syncline
