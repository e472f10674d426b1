// Factors of links by patterns of their names, as bandwidth-factor = *-nic*:0.5 says.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/profiles.h"
#include "sim/scenario.h"

namespace syncline {

// A * in the pattern stands for any characters, or none.
bool fits(const std::string& pattern, const std::string& name);

// What it is called before SPLITDUPLEX makes two of it.
std::string name_in_file(const std::string& link);

// Of all patterns that fit the link, by one of both names.
double factor_of_link(const std::vector<LinkFactor>& factors, const std::string& link);
bool names_link(const std::vector<LinkFactor>& factors, const std::string& link);

// Throws std::invalid_argument, which begins with the option, if a pattern fits
// none of these links, or one whose profile says what it has.
void check_link_factors(const NetworkOptions& options, const Profiles& profiles,
                        const std::vector<std::string>& links);

}  // namespace syncline
