// How long the profiles of a platform last, read from its file.
#include <gtest/gtest.h>

#include "sim/platform/platform_file.h"
#include "tests/unit/checked_platform.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Profiles profiles_in(const std::string& body, const std::string& rows = "") {
  const TemporaryFolder folder;
  folder.write("speeds.txt", rows);
  return check_platform(
             folder.write("platform.xml",
                          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
                          "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
                          "<host id=\"first\" speed=\"1f\"/>" +
                              body + "</zone></platform>"))
      .profiles;
}

double seconds_of(const std::string& body, const std::string& rows = "") {
  return profiles_in(body, rows).shown_s;
}

TEST(Profiles, OfAPlatformWithoutThemAreZero) {
  EXPECT_EQ(seconds_of("<host id=\"a\" speed=\"1f\"/>"), 0);
  EXPECT_EQ(seconds_of("<!-- <trace id=\"t\" periodicity=\"9\">0 1</trace> -->"), 0);
}

TEST(Profiles, RepeatAfterTheirPeriod) {
  EXPECT_EQ(seconds_of("<trace id=\"t\" periodicity=\"10\">\n0 1.0\n6 0.4\n</trace>"), 10);
}

TEST(Profiles, WithoutAPeriodEndWithTheirLastChange) {
  EXPECT_EQ(seconds_of("<trace id=\"t\" periodicity=\"-1\">\n0 1.0\n6.5 0.4\n</trace>"), 6.5);
}

// Once, such a profile counted as none, and the host kept its whole speed.
TEST(Profiles, OfOneValueFromTheStartAreProfiles) {
  EXPECT_GT(seconds_of("<trace id=\"t\" periodicity=\"-1\">\n0 0.7\n</trace>"), 0);
}

TEST(Profiles, CanBeInFiles) {
  EXPECT_EQ(seconds_of("<host id=\"a\" speed=\"1f\" speed_file=\"speeds.txt\"/>", "0 1\n70 0.5\n"),
            70);
  EXPECT_EQ(
      seconds_of("<link id=\"a\" bandwidth=\"1Bps\" latency=\"0\" bandwidth_file='speeds.txt'/>",
                 "PERIODICITY 90\n0 1\n"),
      90);
  EXPECT_EQ(seconds_of("<trace id=\"t\" periodicity=\"-1\" file=\"speeds.txt\"/>",
                       "# s value\n0 1\n5 2\n"),
            5);
}

TEST(Profiles, LoopAfterCountsFromTheLastRow) {
  EXPECT_EQ(seconds_of("<host id=\"a\" speed=\"1f\" speed_file=\"speeds.txt\"/>",
                       "LOOPAFTER 5\n0 1\n70 0.5\n"),
            75);
}

TEST(Profiles, HaveAPeriodOnlyIfTheyRepeat) {
  EXPECT_EQ(profiles_in("<trace id=\"t\" periodicity=\"10\">\n0 1.0\n6 0.4\n</trace>").period_s,
            10);
  EXPECT_EQ(profiles_in("<trace id=\"t\" periodicity=\"-1\">\n0 1.0\n6 0.4\n</trace>").period_s, 0);
}

}  // namespace
}  // namespace syncline
