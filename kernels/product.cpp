#include "kernels/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace syncline {
namespace {

// A vector is a register of the machine. Its lanes are elements of one column of the sum, which are
// added up on their own, so its width does not change any bits.
#if defined(__AVX512F__)
constexpr std::size_t width = 16;
constexpr std::size_t tile_columns = 8;
#elif defined(__AVX__)
constexpr std::size_t width = 8;
constexpr std::size_t tile_columns = 4;
#else
constexpr std::size_t width = 4;
constexpr std::size_t tile_columns = 4;
#endif
constexpr std::size_t tile_rows = 2 * width;  // so a tile of the sum fits into the registers

using Lanes [[gnu::vector_size(4 * width)]] = float;
using Four [[gnu::vector_size(16)]] = float;

template <class Vector>
Vector vector_at(const float* from) {
  Vector values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

template <class Vector>
void put(const Vector& values, float* to) {
  std::memcpy(to, &values, sizeof values);
}

// Rows of `a` whose elements of one column are side by side.
struct Panel {
  const float* data = nullptr;
  std::size_t across = 0;
};

// Adds to `vectors` vectors and `columns` columns of the sum, of which `rows` rows are there.
template <std::size_t vectors, std::size_t columns>
void add_tile(const Panel& a, const Grid<const float>& b, std::size_t rows,
              const Grid<float>& sum) {
  Lanes total[vectors][columns] = {};
  const float* row = b.data;
  for (std::size_t k = 0; k < b.rows; ++k, row += b.down) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) {
      const Lanes left = vector_at<Lanes>(a.data + k * a.across + v * width);
#pragma GCC unroll 8
      for (std::size_t j = 0; j < columns; ++j)
        total[v][j] += left * row[j * b.across];
    }
  }
  if (sum.down == 1 && rows == vectors * width) {
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t v = 0; v < vectors; ++v) {
        float* to = sum.data + j * sum.across + v * width;
        put(vector_at<Lanes>(to) + total[v][j], to);
      }
    return;
  }
  float values[columns][vectors * width];
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t v = 0; v < vectors; ++v)
      put(total[v][j], &values[j][v * width]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      sum.data[i * sum.down + j * sum.across] += values[j][i];
}

template <std::size_t columns>
void add_tiles(const Panel& a, const Grid<const float>& b, std::size_t rows,
               const Grid<float>& sum) {
  if (rows > width)
    add_tile<2, columns>(a, b, rows, sum);
  else
    add_tile<1, columns>(a, b, rows, sum);
}

// Four rows of four elements each become columns, `across` apart.
void transpose(const float* from, std::size_t down, float* to, std::size_t across) {
  const Four a = vector_at<Four>(from), b = vector_at<Four>(from + down),
             c = vector_at<Four>(from + 2 * down), d = vector_at<Four>(from + 3 * down);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  put(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), to);
  put(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), to + across);
  put(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), to + 2 * across);
  put(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7), to + 3 * across);
}

// Copies the rows of `a` into columns, `across` apart, that end in zeros.
void pack(const Grid<const float>& a, float* to, std::size_t across) {
  std::size_t i = 0;
  if (a.across == 1)
    for (; i + 4 <= a.rows; i += 4) {
      std::size_t k = 0;
      for (; k + 4 <= a.columns; k += 4)
        transpose(a.data + i * a.down + k, a.down, to + k * across + i, across);
      for (; k < a.columns; ++k)
        for (std::size_t row = i; row < i + 4; ++row)
          to[k * across + row] = a.data[row * a.down + k];
    }
  for (std::size_t k = 0; k < a.columns; ++k)
    for (std::size_t row = i; row < across; ++row)
      to[k * across + row] = row < a.rows ? a.data[row * a.down + k * a.across] : 0;
}

// One block of columns of `a`.
void add_block(const Grid<const float>& a, const Grid<const float>& b, const Grid<float>& sum,
               std::vector<float>& packed) {
  const auto across = [](std::size_t rows) { return rows > width ? tile_rows : width; };
  const std::size_t in_place = a.down == 1 ? a.rows / tile_rows * tile_rows : 0;
  packed.resize((a.rows - in_place + tile_rows - 1) / tile_rows * tile_rows * a.columns);
  for (std::size_t i = in_place; i < a.rows; i += tile_rows)
    pack({a.data + i * a.down, std::min(tile_rows, a.rows - i), a.columns, a.down, a.across},
         packed.data() + (i - in_place) * a.columns, across(a.rows - i));
  for (std::size_t j = 0; j < sum.columns;) {
    const bool whole = j + tile_columns <= sum.columns;
    const Grid<const float> right{b.data + j * b.across, b.rows, b.columns, b.down, b.across};
    for (std::size_t i = 0; i < a.rows; i += tile_rows) {
      const Panel panel =
          i < in_place ? Panel{a.data + i, a.across}
                       : Panel{packed.data() + (i - in_place) * a.columns, across(a.rows - i)};
      const std::size_t rows = std::min(tile_rows, a.rows - i);
      const Grid<float> part{sum.data + i * sum.down + j * sum.across, rows, sum.columns, sum.down,
                             sum.across};
      if (whole)
        add_tiles<tile_columns>(panel, right, rows, part);
      else
        add_tiles<1>(panel, right, rows, part);
    }
    j += whole ? tile_columns : 1;
  }
}

template <class Number>
Grid<Number> transposed(const Grid<Number>& grid) {
  return {grid.data, grid.columns, grid.rows, grid.across, grid.down};
}

}  // namespace

void add_product(const Grid<const float>& a, const Grid<const float>& b, std::size_t block,
                 const Grid<float>& sum) {
  if (a.down != 1 && sum.down == 1) {  // vectors go along b's columns
    add_product(transposed(b), transposed(a), block, transposed(sum));
    return;
  }
  thread_local std::vector<float> packed;
  for (std::size_t k = 0; k < a.columns; k += block) {
    const std::size_t columns = std::min(block, a.columns - k);
    add_block({a.data + k * a.across, a.rows, columns, a.down, a.across},
              {b.data + k * b.down, columns, b.columns, b.down, b.across}, sum, packed);
  }
}

void clear(const Grid<float>& sum) {
  for (std::size_t j = 0; j < sum.columns; ++j)
    for (std::size_t i = 0; i < sum.rows; ++i)
      sum.data[i * sum.down + j * sum.across] = 0;
}

}  // namespace syncline
