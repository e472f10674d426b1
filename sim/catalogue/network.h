// SimGrid's network models under the names a scenario uses.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

struct Network {
  std::string name;
  std::string sentence;
  std::string more;                   // a second sentence, for help
  std::string paper;                  // where it comes from; may be empty
  std::vector<std::string> settings;  // of SimGrid: "network/model:CM02"
  // Factors of latency and bandwidth depend on the message size, so several steps cannot be one
  // flow, and an option cannot replace the factors.
  bool by_size = false;
  // SimGrid's flows carry no latency; a message arrives that much later than its flow ends. So
  // flows that meet share equally, where SimGrid would weigh them by 1 / latency, and the end of a
  // flow is when the sender has injected its bytes.
  bool latency_after_flow = false;
  // What SimGrid's settings network/... are with it, for platforms that say them too; absent: they
  // depend on the message size.
  std::map<std::string, std::string> says = {};
};

const std::vector<Network>& networks();

// Throws std::invalid_argument that lists the names that exist.
const Network& find_network(const std::string& name);

}  // namespace syncline
