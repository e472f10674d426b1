#include "sim/catalogue/reality.h"
#include "sim/commands/help.h"

namespace syncline {

std::map<std::string, std::vector<Meaning>> meanings_of_network_kinds() {
  std::map<std::string, std::vector<Meaning>> all;
  for (const std::string& kind : network_kinds()) {
    const Default part =
        values_in_reality(networks_file(), "", {.kind = kind, .rates_Bps = {12.5e9}}).front();
    all[kind].push_back(
        {"a kind of network",
         {"Collectives reach a part of the nominal rate of its cards, here of 100 Gbit/s: " +
              part.value + " (" + part.source + ").",
          "A platform names it after its cards, or as the property network of its hosts; with "
          "reality = typical the part counts."},
         "syncline explain --platform dgx:nodes=2:cards=8x100Gbps:" + kind +
             " --model resnet50 --throughput 253 --reality typical"});
  }
  return all;
}

}  // namespace syncline
