// Byte options may have units.
#include "kernels/io/units.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

TEST(Units, OfBytesAreDecimalOrBinary) {
  for (const auto& [text, number] :
       std::vector<std::pair<std::string, std::string>>{{"25MiB", "26214400"},
                                                        {"25 MiB", "26214400"},
                                                        {"25MB", "25000000"},
                                                        {"1.5kB", "1500"},
                                                        {"2GiB", "2147483648"},
                                                        {"7B", "7"},
                                                        {"1TB", "1000000000000"}})
    EXPECT_EQ(without_unit("bucket-bytes", text), number);
  for (const char* text : {"25", "25MIB", "MiB", "all", "merged", "25Mi", "1e3x", ""})
    EXPECT_EQ(without_unit("bucket-bytes", text), text);
  EXPECT_EQ(without_unit("batch", "25MiB"), "25MiB");
}

// Results store the number, so that equal sizes are the same cell however they are written.
TEST(Units, AreNumbersInScenarios) {
  for (const char* option : {"bucket-bytes", "first-bucket-bytes", "activation-bytes"}) {
    const Scenario scenario = resolve(given({{option, "25MiB"}}));
    EXPECT_EQ(scenario.written.at(option), "26214400") << option;
  }
  const Scenario pushes =
      resolve(given({{"exchange", "ps"}, {"partition-bytes", "4MiB"}, {"bucket-bytes", "1GB"}}));
  EXPECT_EQ(pushes.fusion.bytes, 1e9);
  EXPECT_EQ(pushes.written.at("partition-bytes"), "4194304");
  EXPECT_EQ(pushes.exchange_settings.number("partition-bytes"), 4194304);
  for (const char* bad : {"25MIB", "25 Mb", "-1MiB", "xMiB"})
    expect_mentions(error_of([&] {
                      resolve(given({{"bucket-bytes", bad}}));
                    }),
                    {"bucket-bytes = " + std::string(bad), "MiB", "all or merged"});
}

}  // namespace
}  // namespace syncline
