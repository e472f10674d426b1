// Platforms whose nodes have several network cards.
#pragma once

#include <string>
#include <vector>

namespace syncline {

// Nodes of GPUs on a switch inside the node. GPU g leaves node n by card g * cards / gpus.
struct Rails {
  std::vector<int> gpus{8, 8, 8, 8};
  int cards = 8;
  double card_Bps = 5e10;
  double card_latency_s = 2e-6;  // of one card; a route between nodes crosses two
  double inside_Bps = 4.5e11;
  double inside_latency_s = 5e-7;  // from a GPU to the switch

  int workers() const {
    int all = 0;
    for (const int some : gpus)
      all += some;
    return all;
  }
};

// Writes the platform into the test's temporary folder and returns its path.
std::string rails_platform(const Rails& rails);

}  // namespace syncline
