#include "sim/setup/network.h"

#include <stdexcept>

#include "kernels/registry.h"

namespace syncline {

const std::vector<Network>& networks() {
  // `exact` switches the TCP window (TCP-gamma) off: it would limit the rate of long routes. A huge
  // one does that in every version of SimGrid; 0 means no window only since 3.34, and before lets a
  // flow exceed its link. `ib` names the size factors, which are its defaults in 3.32 only.
  static const std::vector<Network> all{
      {"exact",
       "latency + bytes / bandwidth, flows that meet share equally: right for RDMA, NVLink and "
       "PCIe",
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e18",
        "network/latency-factor:0"},
       false,
       true},
      {"cm02",
       "SimGrid's CM02: as exact, but 5 % cross traffic and a TCP window of 4 MiB",
       {"network/model:CM02"}},
      {"lv08",
       "SimGrid's default (Velho and Legrand): TCP with 13.01 x latency, 0.97 x bandwidth, 5 % "
       "cross traffic",
       {"network/model:LV08"}},
      {"ib",
       "SimGrid's InfiniBand (SMPI): factors by a message's size, slower where messages meet at a "
       "host; step by step only, and closed forms leave all that out",
       {"network/model:IB",
        "smpi/bw-factor:65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;"
        "1426:0.608902;732:0.341987;257:0.338112;0:0.812084",
        "smpi/lat-factor:65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;"
        "1426:1.61075;732:1.9503;257:1.95341;0:2.01467"},
       true},
  };
  return all;
}

const Network& find_network(const std::string& name) {
  std::vector<std::string> names;
  for (const Network& network : networks()) {
    if (network.name == name)
      return network;
    names.push_back(network.name);
  }
  throw std::invalid_argument("unknown network '" + name + "': allowed are " + listed(names));
}

}  // namespace syncline
