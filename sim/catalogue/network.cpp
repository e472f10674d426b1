#include "sim/catalogue/network.h"

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"

namespace syncline {

const std::vector<Network>& networks() {
  // `exact` switches the TCP window (TCP-gamma) off, because a window would limit the rate of long
  // routes. A huge window does this in every version of SimGrid. The value 0 means no window only
  // since 3.34; before that, it lets a flow exceed its link.
  static const std::vector<Network> all{
      {"exact",
       "latency + bytes / bandwidth, flows that meet share equally: right for RDMA, NVLink and "
       "PCIe",
       "The time of a message alone follows from arithmetic, so closed forms can be checked by "
       "hand",
       "",
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e18",
        "network/latency-factor:0"},
       false,
       true,
       {{"model", "CM02"},
        {"TCP-gamma", "-1"},
        {"latency-factor", "1"},
        {"bandwidth-factor", "1"},
        {"weight-S", "0"},
        {"crosstraffic", "0"}}},
      {"cm02",
       "SimGrid's CM02: as exact, but 5 % cross traffic and a TCP window of 4 MiB",
       "Long routes are limited by the window",
       "Casanova and Marchal 2002",
       {"network/model:CM02"},
       false,
       false,
       {{"model", "CM02"},
        {"TCP-gamma", "4194304"},
        {"latency-factor", "1"},
        {"bandwidth-factor", "1"},
        {"weight-S", "0"},
        {"crosstraffic", "1"}}},
      {"lv08",
       "SimGrid's default (Velho and Legrand): TCP with 13.01 x latency, 0.97 x bandwidth, 5 % "
       "cross traffic",
       "It is right for some TCP networks, and wrong for RDMA and NVLink",
       "Velho and Legrand, SIMUTools 2009",
       {"network/model:LV08"},
       false,
       false,
       {{"model", "LV08"},
        {"TCP-gamma", "4194304"},
        {"latency-factor", "13.01"},
        {"bandwidth-factor", "0.97"},
        {"weight-S", "20537"},
        {"crosstraffic", "1"}}},
      {"ib",
       "SimGrid's InfiniBand (SMPI): factors by message size, slower where messages meet at a "
       "host; step by step only, and closed forms ignore both",
       "It works with SimGrid 3.32 only",
       "Vienne 2010; SMPI",
       {"network/model:IB"},
       true,
       false,
       {{"model", "IB"}, {"TCP-gamma", "4194304"}, {"crosstraffic", "1"}}},
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
  refuse("unknown network '{}': allowed are {}", brief(name), listed(nearest(name, names)));
}

}  // namespace syncline
