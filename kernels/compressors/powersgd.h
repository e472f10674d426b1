// PowerSGD's matrices (Vogels, Karimireddy, Jaggi, NeurIPS 2019). A flat tensor of n elements is
// seen as the most nearly square matrix that holds it, row by row, with zeros at the end, as in
// PyTorch's batched hook: a kernel gets a bucket without the shapes of its tensors.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/arithmetic/moments.h"
#include "kernels/philox.h"

namespace syncline {

inline constexpr std::size_t block_rows = 64;  // rows that u^T P sums in float
inline constexpr std::size_t most_rank = 64;
inline constexpr unsigned chunk = 8;        // columns of the factors that a GPU thread sums at once
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

// The dot product of two columns, in the order of moments.h: 32 running sums, then these one by
// one.
inline double column_product(const std::vector<double>& columns, std::size_t rows, std::size_t rank,
                             std::size_t a, std::size_t b) {
  double partial[lanes] = {};
  for (std::size_t i = 0; i < rows; ++i)
    partial[i % lanes] += columns[i * rank + a] * columns[i * rank + b];
  return in_lane_order(partial);
}

// The factor that normalises a column whose squared length was `before` and is `after`.
constexpr double column_scale(double before, double after, double length) {
  return after <= dependent * before || after == 0 ? 0.0 : 1 / length;
}

// Gram-Schmidt in double, as the authors use it, on the columns of a rows x rank matrix stored row
// by row. A column that depends on earlier ones becomes zero.
inline void orthogonalise(std::span<float> matrix, std::size_t rows, std::size_t rank) {
  std::vector<double> columns(matrix.begin(), matrix.end());
  for (std::size_t c = 0; c < rank; ++c) {
    const double before = column_product(columns, rows, rank, c, c);
    for (std::size_t other = 0; other < c; ++other) {
      const double dot = column_product(columns, rows, rank, c, other);
      for (std::size_t i = 0; i < rows; ++i)
        columns[i * rank + c] -= dot * columns[i * rank + other];
    }
    const double after = column_product(columns, rows, rank, c, c);
    const double scale = column_scale(before, after, std::sqrt(after));
    for (std::size_t i = 0; i < rows; ++i)
      columns[i * rank + c] *= scale;
  }
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = static_cast<float>(columns[i]);
}

// Element i of a tensor's first Q: the same on every worker and step.
constexpr float first_entry(const Draw& draw, std::size_t i) {
  return static_cast<float>(uniform({draw.seed, 0, draw.tensor}, i) - 0.5);
}

// The tensor's remembered Q, from which the next power iteration starts.
inline std::span<float> matrix_of(State& state, const Shape& s, const Draw& draw) {
  const std::size_t entries = s.columns * s.rank;
  const bool is_new = state.memory.size() != entries * sizeof(float);
  const std::span<float> matrix = memory_of<float>(state, entries);
  for (std::size_t i = 0; is_new && i < matrix.size(); ++i)
    matrix[i] = first_entry(draw, i);
  return matrix;
}

constexpr float low_rank(const float* p, const float* q, std::size_t rank) {
  float sum = 0;
  for (std::size_t c = 0; c < rank; ++c)
    sum += p[c] * q[c];
  return sum;
}

}  // namespace syncline
