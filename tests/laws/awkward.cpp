#include "tests/laws/awkward.h"

#include <fstream>
#include <sstream>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// A profile's rows: values that change after 1 to 200 ms, perhaps with a period.
std::string profile(Draws& draws, const std::vector<double>& values) {
  std::ostringstream rows;
  double at_s = draws.one_in(2) ? 0 : 0.01;
  const int count = 1 + draws.below(3);
  std::ostringstream lines;
  for (int i = 0; i < count; ++i) {
    lines << at_s << ' ' << draws.of(values) << '\n';
    at_s += draws.of<double>({0.001, 0.02, 0.2});
  }
  if (draws.one_in(2))
    rows << "PERIODICITY " << at_s << '\n';
  return rows.str() + lines.str();
}

}  // namespace

AwkwardPlatform awkward_platform(Draws& draws, bool changing) {
  AwkwardPlatform platform;
  const int groups = 1 + draws.below(3);
  const int members = groups == 1 ? 2 + draws.below(5) : 1 + draws.below(4);
  platform.workers = groups * members;
  const bool nodes = draws.one_in(2);
  const bool equal_cards = draws.one_in(3);
  const std::vector<double> bandwidths{1.25e8, 6e8, 1.25e9, 5e9};
  const std::vector<double> latencies{0, 1e-5, 1e-4, 3e-3};
  std::ostringstream xml;
  std::ostringstream routes;
  xml << "<?xml version=\"1.0\"?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Floyd\">\n"
         "<router id=\"middle\"/>\n";
  const auto link = [&](const std::string& id, double bandwidth_Bps, double latency_s,
                        const std::string& sharing) {
    xml << "<link id=\"" << id << "\" bandwidth=\"" << bandwidth_Bps << "Bps\" latency=\""
        << latency_s << "s\" sharing_policy=\"" << sharing << "\"";
    if (changing && draws.one_in(6)) {
      platform.changes = true;
      const std::string file = written_platform(profile(draws, bandwidths));
      xml << " bandwidth_file=\"" << file.substr(file.rfind('/') + 1) << "\"";
    }
    xml << "/>\n";
  };
  const auto route = [&](const std::string& from, const std::string& to, const std::string& over,
                         const std::string& sharing) {
    routes << "<route src=\"" << from << "\" dst=\"" << to << "\"><link_ctn id=\"" << over
           << (sharing == "SPLITDUPLEX" ? "\" direction=\"UP\"" : "\"") << "/></route>\n";
  };
  const double card_Bps = draws.of(bandwidths);
  const double card_latency_s = draws.of(latencies);
  const std::string uplinks = draws.of<std::string>({"SPLITDUPLEX", "SHARED", "FATPIPE"});
  for (int g = 0; g < groups; ++g) {
    const std::string group = "group" + std::to_string(g);
    xml << "<router id=\"" << group << "\"/>\n";
    link(group + "-up", draws.of(bandwidths), draws.of(latencies), uplinks);
    route(group, "middle", group + "-up", uplinks);
    for (int m = 0; m < members; ++m) {
      const std::string host = group + "-" + std::to_string(m);
      const double speed = changing ? draws.of<double>({1e12, 1e12, 5e11}) : 1e12;
      xml << "<host id=\"" << host << "\" speed=\"" << speed << "f\"";
      if (changing && draws.one_in(8)) {
        platform.changes = true;
        const std::string file = written_platform(profile(draws, {0.5, 1, 1.5}));
        xml << " speed_file=\"" << file.substr(file.rfind('/') + 1) << "\"";
      }
      xml << '>';
      if (nodes)
        xml << "<prop id=\"node\" value=\"" << group << "\"/>";
      xml << "</host>\n";
      const std::string card = host + "-card";
      link(card, equal_cards ? card_Bps : draws.of(bandwidths),
           equal_cards ? card_latency_s : draws.of(latencies), "SPLITDUPLEX");
      route(host, group, card, "SPLITDUPLEX");
    }
  }
  xml << routes.str() << "</zone>\n</platform>\n";
  platform.path = written_platform(xml.str());
  return platform;
}

}  // namespace syncline
