#include "sim/catalogue/csv.h"

#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Csv parsed(const std::string& text) {
  const TemporaryFolder folder;
  return read_csv(folder.write("data.csv", text));
}

using Fields = std::vector<std::string>;

TEST(Text, IsTrimmedAndSplit) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(split("a, b ,,c", ','), (Fields{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), Fields{""});
  EXPECT_EQ(split("a,", ','), (Fields{"a", ""}));
}

TEST(Csv, HasAHeaderColumnsAndRows) {
  const Csv csv =
      parsed("# name: tiny: net\n#no header\n\na, b\n1 , 2\n# later: no header\n\n3,\n");
  EXPECT_EQ(csv.header, (std::multimap<std::string, std::string>{{"name", "tiny: net"}}));
  EXPECT_EQ(csv.columns, (Fields{"a", "b"}));
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[0].fields, (Fields{"1", "2"}));
  EXPECT_EQ(csv.rows[1].fields, (Fields{"3", ""}));
}

TEST(Csv, KnowsTheLineOfEachRow) {
  const Csv csv = parsed("# x: y\n\na\n\n1\n# z\n2\n");
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[0].line, 5);
  EXPECT_EQ(csv.rows[1].line, 7);
  EXPECT_EQ(csv.where(csv.rows[1]), csv.path + ":7");
}

TEST(Csv, ReadsAnyLineEndAndALastLineWithoutOne) {
  const Csv csv = parsed("a,b\r\n1,2\r\n3,4");
  EXPECT_EQ(csv.columns, (Fields{"a", "b"}));
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[1].fields, (Fields{"3", "4"}));
}

TEST(Csv, FindsAColumnOrListsAll) {
  const Csv csv = parsed("layer,flop\na,1\n");
  EXPECT_EQ(csv.column("flop"), 1U);
  expect_mentions(error_of([&] { csv.column("seconds"); }),
                  {csv.path, "'seconds'", "layer", "flop"});
}

TEST(Csv, NamesTheLineWithTooFewOrTooManyFields) {
  expect_mentions(error_of([] { parsed("a,b\n1,2\n3\n"); }), {"data.csv:3", "1 fields", "a or b"});
  expect_mentions(error_of([] { parsed("a,b\n1,2,3\n"); }), {"data.csv:2", "3 fields"});
}

TEST(Csv, RefusesAMissingFileAndOneWithoutColumns) {
  expect_mentions(error_of([] { read_csv("/nowhere/data.csv"); }), {"/nowhere/data.csv"});
  expect_mentions(error_of([] { parsed(""); }), {"data.csv"});
  expect_mentions(error_of([] { parsed("# only: comments\n"); }), {"data.csv"});
}

}  // namespace
}  // namespace syncline
