// Describes a deadlock: who waits for whom.
#pragma once

#include <string>

namespace syncline {

struct Run;

// One line, such as "worker 0 in iteration 3 waits in pull() for server 1; server 0 waits for a
// push". Names only the first few and counts the others.
std::string who_waits(const Run& run);

}  // namespace syncline
