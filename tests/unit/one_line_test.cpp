// What SimGrid says before it gives up, made fit for a user.
#include <gtest/gtest.h>

#include "sim/commands/process.h"

namespace syncline {
namespace {

TEST(OneLine, LeavesOutSimGridsDecorations) {
  const std::string said = "Refusing to create a second host named 'a'.";
  for (const std::string& printed :
       {said, "[0.000000] [sg_host/CRITICAL] " + said,
        "[tremblay:sender:(1) 12.345678] /build/simgrid-3.32/src/s4u/s4u_Host.cpp:84: "
        "[s4u_host/CRITICAL] " +
            said,
        "[0.000000] ./src/kernel/EngineImpl.cpp:12: [ker_engine/ERROR] " + said + "\nmore\n",
        "Backtrace (displayed in process maestro):\n  ->  #0 main\n" + said + "\nAborted\n",
        "\n\n" + said + "\n"})
    EXPECT_EQ(first_message_in(printed), said) << printed;
}

TEST(OneLine, KeepsFileAndLineOfAParseError) {
  EXPECT_EQ(
      first_message_in("[0.000000] [surf_parse/CRITICAL] Parse error at /tmp/a.xml:3: cannot parse "
                       "number:fast\nBacktrace\n"),
      "Parse error at /tmp/a.xml:3: cannot parse number:fast");
}

TEST(OneLine, OfNothingIsNothing) {
  EXPECT_EQ(first_message_in(""), "");
  EXPECT_EQ(first_message_in("\n \nAborted\n"), "");
}

}  // namespace
}  // namespace syncline
