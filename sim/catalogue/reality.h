// What networks and software leave of a nominal machine: platforms/networks.csv.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"

namespace syncline {

// The network cards of a platform's nodes, as far as it tells.
struct NetworkCards {
  std::string kind;               // such as ib or tcp; empty: not named
  std::vector<double> rates_Bps;  // of single cards, each rate once
};

// The kinds of network that platforms/networks.csv has.
std::vector<std::string> network_kinds();
// Throws std::invalid_argument that lists them.
void require_network_kind(const std::string& kind);

// The path of platforms/networks.csv.
std::string networks_file();

// What cards of a kind carry, as parts of their rate; of every kind if it is not named. Where a
// kind has most-Gbps, no more than that. A rate of 0 is not known.
struct UsualPart {
  double low = 0;
  double high = 1;
};
UsualPart usual_part(const std::string& kind, double rate_Bps);

// The middle values in a file of this form, for a framework and a kind of network; either may be
// empty. `with_efficiency`: also the part of their rate that the cards reach. Throws
// std::runtime_error, which names file and line, for a bad row, and std::invalid_argument if that
// part differs between cards.
std::vector<Default> values_in_reality(const std::string& file, const std::string& framework,
                                       const NetworkCards& cards, bool with_efficiency = true);

// The options of which such a file knows something for other frameworks only.
std::vector<std::string> unknown_in_reality(const std::string& file, const std::string& framework);

}  // namespace syncline
