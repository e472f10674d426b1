// Which options go together.
#pragma once

#include <string>
#include <vector>

#include "sim/options/resolve.h"

namespace syncline {

inline const std::string no_compressor = "none";

// Whether the exchange can move what the compressor makes.
bool carries(const Exchange& exchange, const Compressor& compressor);

// Finds given options that do not fit schedule, exchange and compressor, or mean nothing to them.
void find_conflicts(const Scenario& scenario, const GivenOptions& given,
                    std::vector<Conflict>& conflicts);

}  // namespace syncline
