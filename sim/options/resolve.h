// From what a user has written to scenarios: everything that can be checked without the platform is
// checked here, and text becomes values.
#pragma once

#include <string>
#include <vector>

#include "sim/options/given.h"
#include "sim/scenario.h"

namespace syncline {

// A combination that means nothing: which option is out of place, and why.
struct Misfit {
  std::string key;
  std::string why;
};

// All three throw std::invalid_argument that says where the value was given and what is allowed.
// The second returns misfits instead, for a sweep to leave out.
Scenario resolve(const GivenOptions& given);
Scenario resolve(const GivenOptions& given, std::vector<Misfit>& misfits);
[[noreturn]] void refuse(const GivenOptions& given, const Misfit& misfit);

}  // namespace syncline
