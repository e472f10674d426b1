#include "sim/learning/shared_values.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using Some = std::vector<float>;

TEST(CopiedOnWrite, ReadersKeepWhatTheyShare) {
  CopiedOnWrite values(Some{1, 2});
  const SharedValues reader = values.share();
  values.write()[0] = 5;
  EXPECT_EQ(*reader, (Some{1, 2}));
  EXPECT_EQ(values.read(), (Some{5, 2}));
  const CopiedOnWrite other = values;
  values.overwrite(2) = {7, 8};
  EXPECT_EQ(other.read(), (Some{5, 2}));
}

TEST(CopiedOnWrite, ASingleHolderCopiesNothing) {
  CopiedOnWrite values(Some{1, 2});
  const float* place = values.read().data();
  values.write()[0] = 5;
  values.overwrite(2)[1] = 6;
  EXPECT_EQ(values.read().data(), place);
  EXPECT_EQ(values.read(), (Some{5, 6}));
}

TEST(CopiedOnWrite, IsOverwrittenWithAnySize) {
  CopiedOnWrite values;
  EXPECT_EQ(values.overwrite(3).size(), 3U);
  EXPECT_EQ(values.overwrite(2).size(), 2U);
}

}  // namespace
}  // namespace syncline
