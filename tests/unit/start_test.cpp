// Every test is its own process, so whatever this program makes before main() is made more than a
// thousand times.
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace syncline {
namespace {

TEST(Start, OfATestTakesLittleMemory) {
  rusage used{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &used), 0);
#ifdef __SANITIZE_ADDRESS__
  constexpr long most_kB = 500'000;
#else
  constexpr long most_kB = 60'000;
#endif
  EXPECT_LT(used.ru_maxrss, most_kB);
}

}  // namespace
}  // namespace syncline
