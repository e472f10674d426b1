// A platform as a scenario names it, in a file or in words, read once and before SimGrid is asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/platform/platform_words.h"
#include "sim/platform/profiles.h"
#include "sim/scenario.h"

namespace syncline {

struct PlatformFile {
  std::vector<std::string> files;  // itself, and those that it names; none: it is in words
  Profiles profiles;
  std::optional<PlatformPlan> plan;  // of words
  // What SimGrid is to read, where that is no file as it is: words, or a file without what is
  // ignored. Empty: the file, or nothing.
  std::string text;
  long long hosts = 0;
  // Of <config>, where a scenario may say the same (sim/platform/platform_settings.h).
  struct Setting {
    int line = 0;
    std::string name;
    std::string value;
  };
  std::vector<Setting> settings;
  double load_s = 0;                  // of one core, that loading it takes, about
  std::vector<std::string> warnings;  // of what is allowed, and easily not what was meant
  // Why it is refused, in one line: file and line, element, and what is allowed. Empty: it is not.
  std::string refusal;
};

// Reads the file once, or makes what the words say (sim/platform/platform_words.h): a text for
// SimGrid, unless it is not `for_simgrid`. What is refused has no other members than `files`,
// itself alone.
PlatformFile read_platform(const std::string& platform, bool for_simgrid = true);
PlatformFile read_platform(const Scenario& scenario);  // `analytic` has no SimGrid for words

}  // namespace syncline
