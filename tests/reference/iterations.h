// How long a scenario's iterations take, by the reference.
#pragma once

#include "tests/reference/facts.h"

namespace syncline::reference {

// Seconds until the last worker has done `iterations` iterations in which all average their
// gradients or, after `local_steps` local steps, their parameters.
double averaging_s(const Facts& facts, int iterations);

// The same with servers that answer each push: `asp` (Dean et al. 2012) and `ssp` (Ho et al. 2013).
double serving_s(const Facts& facts, int iterations);

// The same with shards: stages 1 to 3 of ZeRO (Rajbhandari et al. 2020), gathered and scattered as
// by PyTorch FSDP (Zhao et al. 2023).
double sharding_s(const Facts& facts, int iterations);

// The function above that fits the facts.
double seconds_of(const Facts& facts, int iterations);

}  // namespace syncline::reference
