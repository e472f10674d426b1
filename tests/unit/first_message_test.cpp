// The message of an aborting SimGrid, made readable for a user.
#include <gtest/gtest.h>

#include "sim/sweep/process.h"

namespace syncline {
namespace {

TEST(FirstMessage, LeavesOutSimGridsDecorations) {
  const std::string message = "Refusing to create a second host named 'a'.";
  for (const std::string& printed :
       {message, "[0.000000] [sg_host/CRITICAL] " + message,
        "[tremblay:sender:(1) 12.345678] /build/simgrid-3.32/src/s4u/s4u_Host.cpp:84: "
        "[s4u_host/CRITICAL] " +
            message,
        "[0.000000] ./src/kernel/EngineImpl.cpp:12: [ker_engine/ERROR] " + message + "\nmore\n",
        "Backtrace (displayed in process maestro):\n  ->  #0 main\n" + message + "\nAborted\n",
        "\n\n" + message + "\n"})
    EXPECT_EQ(first_message_in(printed), message) << printed;
}

TEST(FirstMessage, KeepsFileAndLineOfAParseError) {
  EXPECT_EQ(
      first_message_in("[0.000000] [surf_parse/CRITICAL] Parse error at /tmp/a.xml:3: cannot parse "
                       "number:fast\nBacktrace\n"),
      "Parse error at /tmp/a.xml:3: cannot parse number:fast");
}

TEST(FirstMessage, MayBeOfAnyLength) {
  for (const char letter : {'a', '*', '[', ']', ':', ' ', '/'}) {
    const std::string name(1'000'000, letter);
    for (const std::string& printed :
         {name, "[0.0] " + name, "[" + name + "] x", "./src/" + name + ".cpp:12: [a/ERROR] x",
          "[a/CRITICAL] " + name + ":1: y"})
      EXPECT_LE(first_message_in(printed).size(), printed.size()) << letter;
  }
}

TEST(FirstMessage, OfNoMessageIsEmpty) {
  EXPECT_EQ(first_message_in(""), "");
  EXPECT_EQ(first_message_in("\n \nAborted\n"), "");
}

}  // namespace
}  // namespace syncline
