// Facts about a host, from its platform, and whether nodes need hosts of their own.
#pragma once

#include <string>

#include "sim/scenario.h"

namespace syncline {

struct HostFacts {
  std::string name;
  std::string node;        // property `node`; empty: none
  std::string device;      // property `device`; empty: none
  std::string role;        // property `role`; empty: worker; `host`: its node's own; `none`
  double speed_flops = 0;  // flop/s
  int cores = 1;           // with a second core, compression does not delay computation
  std::string site = {};   // property `site`; empty: none
};

// True if servers or aggregators run on the nodes.
bool uses_node_hosts(const Scenario& scenario);

}  // namespace syncline
