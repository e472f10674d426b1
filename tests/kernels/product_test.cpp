// Compares add_product with one sum at a time. Compiled for this machine and for narrower ones,
// because tiles of the sum depend on the machine.
#include "kernels/product.h"

#include <gtest/gtest.h>
#include <vector>

#include "kernels/philox.h"

namespace syncline {
namespace {

// A matrix with gaps between its rows or columns, which nothing may change.
struct Stored {
  std::vector<float> values;
  std::size_t rows, columns, down, across;

  Stored(std::size_t rows, std::size_t columns, bool by_rows, std::uint32_t tensor)
      : rows(rows),
        columns(columns),
        down(by_rows ? columns + 3 : 1),
        across(by_rows ? 1 : rows + 3) {
    const std::size_t size = by_rows ? rows * down : columns * across;
    for (std::size_t i = 0; i < size; ++i)
      values.push_back(
          static_cast<float>(random_words({.seed = 1, .step = 0, .tensor = tensor}, i)[0]) *
              0x1p-31F -
          1);
  }
  Grid<const float> grid() const { return {values.data(), rows, columns, down, across}; }
  Grid<float> grid() { return {values.data(), rows, columns, down, across}; }
};

void add_one_at_a_time(const Grid<const float>& a, const Grid<const float>& b, std::size_t block,
                       const Grid<float>& sum) {
  for (std::size_t i = 0; i < sum.rows; ++i)
    for (std::size_t j = 0; j < sum.columns; ++j)
      for (std::size_t begin = 0; begin < a.columns; begin += block) {
        float of_block = 0;
        for (std::size_t k = begin; k < std::min(begin + block, a.columns); ++k)
          of_block += a.data[i * a.down + k * a.across] * b.data[k * b.down + j * b.across];
        sum.data[i * sum.down + j * sum.across] += of_block;
      }
}

TEST(Product, AddsUpInTheStatedOrder) {
  for (const std::size_t rows : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 70})
    for (const std::size_t depth : {1, 3, 4, 50})
      for (const std::size_t columns : {1, 3, 4, 5, 8, 9, 31, 34})
        for (const std::size_t block : {7, 50, 1000})
          for (int orders = 0; orders < 8; ++orders) {
            SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << columns << ", "
                                            << block << " together, order " << orders);
            const Stored a(rows, depth, (orders & 1) != 0, 1);
            const Stored b(depth, columns, (orders & 2) != 0, 2);
            Stored sum(rows, columns, (orders & 4) != 0, 3), wanted = sum;
            add_product(a.grid(), b.grid(), block, sum.grid());
            add_one_at_a_time(a.grid(), b.grid(), block, wanted.grid());
            ASSERT_EQ(sum.values, wanted.values);
          }
}

TEST(Product, OfNoColumnsChangesNothing) {
  const Stored a(20, 0, false, 1), b(0, 20, true, 2);
  Stored sum(20, 20, false, 3);
  const Stored before = sum;
  add_product(a.grid(), b.grid(), 8, sum.grid());
  EXPECT_EQ(sum.values, before.values);
}

}  // namespace
}  // namespace syncline
