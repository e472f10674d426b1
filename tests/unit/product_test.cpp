// Products of matrices, and the orders of their sums.
#include <gtest/gtest.h>

#include "kernels/philox.h"
#include "sim/minibatch.h"

namespace syncline {
namespace {

// Numbers of many sizes, so that each order of a sum has other bits.
Matrix drawn(Index rows, Index columns, std::uint32_t tensor) {
  static const Values numbers = [] {
    Values made;
    for (std::uint64_t i = 0; made.size() < 10007; ++i)
      for (const double number : normals({.seed = 1, .step = 0, .tensor = 1}, i))
        made.push_back(static_cast<float>(number * number * number));
    return made;
  }();
  Matrix values(rows, columns);
  std::size_t next = 1009 * tensor;
  for (Index i = 0; i < values.size(); ++i, next = next + 1 < numbers.size() ? next + 1 : 0)
    values.data()[i] = numbers[next];
  return values;
}

struct Shape {
  Index rows, depth, columns;
};

// Rows by eights and not, vectors, depths around Eigen's blocks (680 is its longest), and edges of
// tiles of every machine.
const std::vector<Shape> shapes = [] {
  std::vector<Shape> all;
  for (const Index rows : {1, 2, 8, 9, 10, 33, 130})
    for (const Index depth : {1, 65, 680, 681, 784, 1400})
      for (const Index columns : {1, 2, 8, 9, 35})
        all.push_back({rows, depth, columns});
  return all;
}();

// For each order in memory of both factors.
TEST(Product, HasTheBitsOfEigens) {
  for (const auto& [rows, depth, columns] : shapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << columns);
    const Matrix a = drawn(rows, depth, 1), b = drawn(depth, columns, 2);
    const Matrix before = drawn(rows, columns, 3);
    const Matrix down = a.transpose(), across = b.transpose();
    const auto expect_same = [&](const auto& left, const auto& right) {
      Matrix wanted = before, sum = before;
      wanted.noalias() += left * right;
      add_product(left, right, sum);
      ASSERT_TRUE((wanted.array() == sum.array()).all());
    };
    expect_same(a, b);
    expect_same(a, across.transpose());
    expect_same(down.transpose(), b);
    expect_same(down.transpose(), across.transpose());
  }
}

// Weights are stored with a row per output, and products of them keep these bits.
TEST(Product, OfALinearLayerHasTheBitsOfEigens) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const auto& [outputs, inputs, samples] : shapes) {
    SCOPED_TRACE(testing::Message() << outputs << " x " << inputs << " x " << samples);
    Values parameters(static_cast<std::size_t>((inputs + 1) * outputs));
    Eigen::Map<Rows> weights(parameters.data(), outputs, inputs);
    weights = drawn(outputs, inputs, 1);
    const Matrix batch = drawn(inputs, samples, 2), slopes = drawn(outputs, samples, 3);

    Matrix made(outputs, samples), back(inputs, samples);
    made.noalias() = weights * batch;
    back.noalias() = weights.transpose() * slopes;
    ASSERT_TRUE((made.array() == linear(parameters, batch, outputs).array()).all());
    ASSERT_TRUE((back.array() == linear_slopes(parameters, slopes, inputs).array()).all());

    Values gradient = parameters;
    Rows wanted = weights;
    wanted.noalias() += slopes * batch.transpose();
    linear_backward(batch, slopes, gradient);
    ASSERT_TRUE(std::equal(wanted.data(), wanted.data() + wanted.size(), gradient.begin()));
  }
}

}  // namespace
}  // namespace syncline
