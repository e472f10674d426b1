// What a schedule's name may be, and what does not go with its kind.
#pragma once

#include <string>
#include <vector>

#include "sim/options/resolve.h"

namespace syncline {

// The schedule of this name. Throws std::invalid_argument that lists the names there are; for a
// word of other frameworks, and for parallelism that is not modelled, one that names the nearest
// thing to ask.
const Schedule& schedule_called(const std::string& name);

// Finds given options that mean nothing where workers hold shards.
void find_misfits_of_shards(const Scenario& scenario, const GivenOptions& given,
                            std::vector<Conflict>& conflicts);

}  // namespace syncline
