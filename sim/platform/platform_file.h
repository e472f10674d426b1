// A platform that a scenario names, as a file or in words, read once before SimGrid reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/catalogue/reality.h"
#include "sim/platform/platform_words.h"
#include "sim/platform/profiles.h"
#include "sim/scenario.h"

namespace syncline {

struct PlatformFile {
  std::vector<std::string> files;  // the file and the files that it names; empty: words
  Profiles profiles;
  std::optional<PlatformPlan> plan;  // of a platform in words
  NetworkCards cards;                // of its nodes, as far as it says
  // The text that SimGrid reads if it is not the file itself: the XML of words, or a file without
  // its ignored parts. Empty: SimGrid reads the file, or nothing.
  std::string text;
  long long hosts = 0;
  // In <config>; must agree with the scenario (sim/platform/platform_settings.h).
  struct Setting {
    int line = 0;
    std::string name;
    std::string value;
  };
  std::vector<Setting> settings;
  double load_s = 0;                  // approximate loading time, of one core
  std::vector<std::string> warnings;  // about allowed values that are probably mistakes
  // Why the platform is refused, in one line: file and line, element, and what is allowed. Empty:
  // it is accepted.
  std::string refusal;
};

// Reads the file once, or makes a platform from words (sim/platform/platform_words.h), with a text
// for SimGrid unless `for_simgrid` is false. A refused platform has no other members than `files`,
// which then has the file alone.
PlatformFile read_platform(const std::string& platform, bool for_simgrid = true);
PlatformFile read_platform(const Scenario& scenario);  // `analytic` needs no SimGrid for words

}  // namespace syncline
