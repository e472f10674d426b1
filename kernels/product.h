// Products of matrices with the same bits on every machine: the order of each sum is stated.
#pragma once

#include <cstddef>

namespace syncline {

// Element (i, j) of a matrix is at data[i * down + j * across].
template <class Number>
struct Grid {
  Number* data = nullptr;
  std::size_t rows = 0, columns = 0;
  std::size_t down = 1, across = 1;
};

// sum += a * b. An element's products are rounded, and added up from zero in the order of a's
// columns; after each `block` columns their sum is added to the element.
void add_product(const Grid<const float>& a, const Grid<const float>& b, std::size_t block,
                 const Grid<float>& sum);

// sum = 0.
void clear(const Grid<float>& sum);

}  // namespace syncline
