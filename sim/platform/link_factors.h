// Factors for links whose names match a pattern, as in bandwidth-factor = *-nic*:0.5.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/profiles.h"
#include "sim/scenario.h"

namespace syncline {

// True if the name matches the pattern. A * matches any number of characters.
bool fits(const std::string& pattern, const std::string& name);

// The name of the link before SPLITDUPLEX makes two links of it.
std::string name_in_file(const std::string& link);

// The product of the factors of all patterns that match one of the link's two names.
double factor_of_link(const std::vector<LinkFactor>& factors, const std::string& link);
// The factor of a link's bandwidth by all options but a bandwidth-factor of every link. `is_card`:
// its rate is that of network cards.
double bandwidth_factor_of(const NetworkOptions& options, const std::string& link, bool is_card);
bool names_link(const std::vector<LinkFactor>& factors, const std::string& link);

// Throws std::invalid_argument, which begins with the option, if a pattern matches none of these
// links, or matches a link whose profile sets the value.
void check_link_factors(const NetworkOptions& options, const Profiles& profiles,
                        const std::vector<std::string>& links);

}  // namespace syncline
