// Names of schedules, and options that do not fit a kind of schedule.
#pragma once

#include <string>
#include <vector>

#include "sim/options/resolve.h"

namespace syncline {

// The schedule of this name. Throws std::invalid_argument that lists the allowed names. For a word
// of other frameworks, and for parallelism that is not modelled, the message names the nearest
// option.
const Schedule& schedule_called(const std::string& name);

// Finds a framework that does not fit the schedule, and given options that have no meaning where
// workers hold shards.
void find_misfits_of_shards(const Scenario& scenario, const GivenOptions& given,
                            std::vector<Conflict>& conflicts);

}  // namespace syncline
