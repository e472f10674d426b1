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
  std::string paper;                  // its source; may be empty
  std::vector<std::string> settings;  // SimGrid's, such as "network/model:CM02"
  // Factors of latency and bandwidth depend on the message size, so several steps cannot be one
  // flow, and an option cannot replace the factors.
  bool by_size = false;
  // SimGrid's flows have no latency; a message arrives a latency after its flow ends. So flows that
  // meet share equally, where SimGrid would weigh them by 1 / latency, and a flow ends when the
  // sender has injected its bytes.
  bool latency_after_flow = false;
  // The values of SimGrid's settings network/... with this model, to compare with those in a
  // platform. Absent: the value depends on the message size.
  std::map<std::string, std::string> says = {};
};

const std::vector<Network>& networks();

// Throws std::invalid_argument that lists the existing names.
const Network& find_network(const std::string& name);

}  // namespace syncline
