// SimGrid's network models under the names a scenario uses.
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct Network {
  std::string name;
  std::string sentence;
  std::vector<std::string> settings;  // of SimGrid: "network/model:CM02"
  // Factors of latency and bandwidth depend on the message size, so several steps cannot be one
  // flow, and an option cannot replace the factors.
  bool by_size = false;
};

const std::vector<Network>& networks();

// Throws std::invalid_argument that lists the names that exist.
const Network& find_network(const std::string& name);

}  // namespace syncline
