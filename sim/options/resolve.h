// Makes scenarios from what a user has written: text becomes values, and everything that does not
// need the platform is checked.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"
#include "sim/scenario.h"

namespace syncline {

// A combination of options without a meaning: which option does not fit, and why.
struct Conflict {
  std::string key;
  std::string why;
};

// All three throw std::invalid_argument that says where the value was given and what is allowed.
// The second returns conflicts instead of throwing them, so that a sweep can leave them out.
Scenario resolve(const GivenOptions& given);
Scenario resolve(const GivenOptions& given, std::vector<Conflict>& conflicts);
[[noreturn]] void refuse(const GivenOptions& given, const Conflict& conflict);

}  // namespace syncline
