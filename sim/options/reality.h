// The options `reality` and `network-efficiency`, and what reality gives to options that the user
// leaves out.
#pragma once

#include <string>
#include <vector>

#include "sim/catalogue/reality.h"
#include "sim/options/options.h"
#include "sim/options/resolve.h"
#include "sim/options/user_input.h"

namespace syncline {

inline constexpr const char* nominal_reality = "nominal";
inline constexpr const char* typical_reality = "typical";

std::vector<Option> reality_options();

// Throws std::invalid_argument if the platform is refused.
NetworkCards cards_of_platform(const std::string& platform);

// Finds the file of values and those that fit the scenario, whose schedule and exchange are known.
// `folder`: where a relative path starts. Throws std::invalid_argument or std::runtime_error that
// says what is missing.
void find_reality(const GivenOptions& given, const std::string& folder, const NetworkCards& cards,
                  Scenario& scenario);

// Leaves `straggling` out where reality gave it but workers do not all wait for each other, or
// jitter is given; where the user gave it, that is a conflict. Settings are known.
void settle_straggling(const GivenOptions& given, Scenario& scenario,
                       std::vector<Conflict>& conflicts);

}  // namespace syncline
