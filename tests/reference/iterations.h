// How long a scenario's iterations take, by the reference.
#pragma once

#include "tests/reference/facts.h"

namespace syncline::reference {

// Until the last worker has done so many iterations in which all average their gradients or, after
// `local_steps` steps alone, their parameters.
double averaging_s(const Facts& facts, int iterations);

}  // namespace syncline::reference
