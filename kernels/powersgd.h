// PowerSGD's matrices (Vogels, Karimireddy, Jaggi, NeurIPS 2019). A flat tensor of n elements is
// seen as the most nearly square matrix that holds it, row by row, zeros at the end, as PyTorch's
// batched hook does: a bucket has no layers any more.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/moments.h"

namespace syncline {

struct Shape {
  std::size_t rows = 0, columns = 0, rank = 0;
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

// (Gram-Schmidt, as the authors have it, in double.) Columns of a rows x rank matrix, row by row;
// a column that depends on those before it becomes zero.
inline void orthogonalise(std::span<float> matrix, std::size_t rows, std::size_t rank) {
  std::vector<double> columns(matrix.begin(), matrix.end());
  for (std::size_t c = 0; c < rank; ++c) {
    double before = 0, after = 0;
    for (std::size_t i = 0; i < rows; ++i)
      before += columns[i * rank + c] * columns[i * rank + c];
    for (std::size_t other = 0; other < c; ++other) {
      double dot = 0;
      for (std::size_t i = 0; i < rows; ++i)
        dot += columns[i * rank + c] * columns[i * rank + other];
      for (std::size_t i = 0; i < rows; ++i)
        columns[i * rank + c] -= dot * columns[i * rank + other];
    }
    for (std::size_t i = 0; i < rows; ++i)
      after += columns[i * rank + c] * columns[i * rank + c];
    const double scale = after <= 1e-20 * before || after == 0 ? 0.0 : 1 / std::sqrt(after);
    for (std::size_t i = 0; i < rows; ++i)
      columns[i * rank + c] *= scale;
  }
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = static_cast<float>(columns[i]);
}

}  // namespace syncline
