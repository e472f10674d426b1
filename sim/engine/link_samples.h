// Computes from the messages how full links are over time.
#pragma once

#include "sim/platform/routes.h"
#include "sim/trace.h"

namespace syncline {

// Fills Trace::sample_s and LinkUse::sampled_bytes: 50 samples per iteration, 20,000 at most.
//
// Assumes that a message moves evenly from the time it was sent until it arrived. Where that makes
// a link more than full, because messages that met shared the link, the excess is moved to the time
// just before and after: the link was full, and messages that met no others moved faster there.
void sample_links(Routes& routes, Trace& trace);

}  // namespace syncline
