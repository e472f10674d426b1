// `validate --bless` reads what it is about to write into expected.csv.
#include "sim/gate/bless.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"

namespace syncline {
namespace {

Expectation blessed_row(const std::string& cell, const std::string& because) {
  return {.cell = cell,
          .figure = "throughput_samples_per_s",
          .expected = "1",
          .tolerance = 0.1,
          .because = because};
}

TEST(ReadableText, IsWhatCheckReads) {
  const ExpectedFile file{.comments = {"# a"},
                          .rows = {blessed_row("#a, \"b\"", "c"), blessed_row("b", "d, \"e\"")},
                          .comments_at_end = {"# z"}};
  EXPECT_EQ(expected_text(expected_in(readable_text(file, "e.csv"), "e.csv")), expected_text(file));
}

TEST(ReadableText, IsNotOfANameWithBlanksAtItsEnds) {
  expect_mentions(error_of([] { readable_text({.rows = {blessed_row("ring ", "")}}, "e.csv"); }),
                  {"e.csv: would be read as something else"});
}

TEST(ReadableText, IsNotOfALineThatIsTooLong) {
  expect_mentions(
      error_of([] { readable_text({.rows = {blessed_row("a", std::string(30'000, 'x'))}}, "e"); }),
      {"e:2: a line of 30", "bytes: allowed are 20000"});
}

TEST(ReadableText, IsNotOfMoreThanTenMegabytes) {
  ExpectedFile file;
  for (int i = 0; i < 1100; ++i)
    file.rows.push_back(blessed_row("cell-" + std::to_string(i), std::string(10'000, 'x')));
  expect_mentions(error_of([&] { readable_text(file, "e.csv"); }),
                  {"e.csv: 11", "bytes: allowed are 10000000"});
}

}  // namespace
}  // namespace syncline
