// Makes scenarios from what a user has written: text becomes values, and everything that does not
// need the platform is checked.
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/options/user_input.h"
#include "sim/scenario.h"

namespace syncline {

// A combination of options without a meaning: which option does not fit, and why.
struct Conflict {
  std::string key;
  std::string why;
  bool is_no_choice = false;  // without the option it is the same cell, though others depend on it
};

// All three throw std::invalid_argument that says where the value was given and what is allowed.
// The second returns conflicts instead of throwing them, so that a sweep can leave them out.
Scenario resolve(const GivenOptions& given);
Scenario resolve(const GivenOptions& given, std::vector<Conflict>& conflicts);
[[noreturn]] void refuse(const GivenOptions& given, const Conflict& conflict);
// That error's text.
std::string refusal(const GivenOptions& given, const Conflict& conflict);

// Names of the registered things for which `fits` holds, as an error lists them.
template <class T, class Fits>
std::string those_that(Fits fits) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registered<T>::all())
    if (fits(entry))
      names.push_back(name);
  return listed(names);
}

}  // namespace syncline
