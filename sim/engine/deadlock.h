// Says who waits for whom when nothing can happen any more.
#pragma once

#include <string>

namespace syncline {

struct Run;

// One line: "worker 0 in iteration 3 waits in pull() for server 1; server 0 waits for a push". Of
// many only the first.
std::string who_waits(const Run& run);

}  // namespace syncline
