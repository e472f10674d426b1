// No run can beat the seconds per iteration that computation and links need, without simulating.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"

namespace syncline {

// One iteration of all workers puts this on a link (index into routes.links()).
struct LinkLoad {
  int link = 0;
  double bytes = 0;
  // It cannot carry these side by side: all of its bytes. On a FATPIPE link, which limits each flow
  // by itself, they are those of the rank that sends another one the most, one after the other;
  // none where messages of several buckets or iterations may be under way at once.
  double binding_bytes = 0;
  double seconds = 0;  // of these at the most that the link ever carries
};

// The busiest first.
std::vector<LinkLoad> link_loads(const Setup& setup, Routes& routes);

// Seconds per iteration, mean over all workers and many iterations. Where all wait for all, of the
// slowest worker and of the busiest link. Else each worker may be as fast as its own computation,
// or its own messages, let it be: a link slows those who use it.
struct LowerBounds {
  double compute_s = 0;
  double link_s = 0;
  double server_s = 0;  // of the fullest server's cores, which handle messages

  double all_s() const { return std::max({compute_s, link_s, server_s}); }
};

LowerBounds lower_bounds(const Setup& setup, Routes& routes, const std::vector<LinkLoad>& loads);

}  // namespace syncline
