// Options that mean nothing with the value of another one.
#pragma once

#include <vector>

#include "sim/options/resolve.h"

namespace syncline {

// Rules of buckets of bytes, where there are none.
void find_misfits_of_buckets(const Scenario& scenario, const GivenOptions& given,
                             std::vector<Conflict>& conflicts);

// What is learned is sent in formats that it is rounded to.
void find_misfits_of_precision(const Scenario& scenario, std::vector<Conflict>& conflicts);

}  // namespace syncline
