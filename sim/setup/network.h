// SimGrid's network models under the names a scenario uses.
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct Network {
  std::string name;
  std::string sentence;
  std::vector<std::string> settings;  // of SimGrid: "network/model:CM02"
  // Latency and rate have factors of their own for every size of message, so steps cannot be one
  // flow, and there is no one factor to replace.
  bool by_size = false;
};

const std::vector<Network>& networks();

// Throws std::invalid_argument that lists the names there are.
const Network& find_network(const std::string& name);

}  // namespace syncline
