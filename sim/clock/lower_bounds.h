// Lower bounds: seconds per iteration that computation and links need, found without simulating. No
// run can be faster.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/setup/setup.h"

namespace syncline {

// Bytes that one iteration of all workers puts on a link (index into routes.links()).
struct LinkLoad {
  int link = 0;
  double bytes = 0;
  // Bytes that must cross the link one after another. On a shared link: all of its bytes. On a
  // FATPIPE link, which limits each flow by itself: the bytes between the two ranks that exchange
  // the most; none if messages of several buckets or iterations may be under way at once.
  double binding_bytes = 0;
  double seconds = 0;  // for the binding bytes, at the link's highest bandwidth
};

// Sorted: the busiest link first.
std::vector<LinkLoad> link_loads(const Setup& setup, Routes& routes);

// Seconds per iteration, in the mean over all workers and many iterations. If all wait for all: of
// the slowest worker and of the busiest link. Otherwise each worker is limited only by its own
// computation or its own messages, and a link slows only its users.
struct LowerBounds {
  double compute_s = 0;
  double link_s = 0;
  double server_s = 0;  // of the fullest server's cores, which handle messages

  double all_s() const { return std::max({compute_s, link_s, server_s}); }
};

// True if the bounds are those of workers that all wait for all others, perhaps through neighbours.
bool all_go_together(const Setup& setup);

LowerBounds lower_bounds(const Setup& setup, Routes& routes, const std::vector<LinkLoad>& loads);

}  // namespace syncline
