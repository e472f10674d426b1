// Options that do not fit each other.
#pragma once

#include <string>
#include <vector>

#include "sim/options/resolve.h"

namespace syncline {

inline const std::string no_compressor = "none";

// Whether the exchange can carry the compressor's messages.
bool carries(const Exchange& exchange, const Compressor& compressor);

// Whether collectives run on the workers' devices, beside their computation.
bool slows_computation(const Scenario& scenario);

// Finds given options that do not fit schedule, exchange and compressor, or have no meaning with
// them.
void find_conflicts(const Scenario& scenario, const GivenOptions& given,
                    std::vector<Conflict>& conflicts);

// Sentences about given options that change nothing. They are no conflict: one file may serve
// several schedules.
std::vector<std::string> without_effect(const Scenario& scenario, const GivenOptions& given);

}  // namespace syncline
