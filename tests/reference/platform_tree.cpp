#include <algorithm>
#include <cstdio>
#include <sstream>

#include "tests/reference/platforms.h"

namespace syncline::reference {
namespace {

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

int PlatformTree::link(double Bps, double latency_s, Sharing sharing) {
  links_.push_back({Bps, Bps, latency_s, sharing, false});
  return static_cast<int>(links_.size()) - 1;
}

int PlatformTree::link_of_two(double up_Bps, double down_Bps, double latency_s) {
  links_.push_back({up_Bps, down_Bps, latency_s, Sharing::shared, true});
  return static_cast<int>(links_.size()) - 1;
}

void PlatformTree::host(const std::string& role, int node, std::vector<int> up,
                        std::vector<int> inner) {
  const std::string name = role + std::to_string(hosts_.size());
  hosts_.push_back({name, role, node, std::move(up), std::move(inner)});
}

std::string PlatformTree::crossed(int link, bool up) const {
  const Link& each = links_[static_cast<std::size_t>(link)];
  const std::string id = "link" + std::to_string(link);
  if (each.is_two)
    return "<link_ctn id=\"" + id + (up ? "-up" : "-down") + "\"/>";
  if (each.sharing == Sharing::split)
    return "<link_ctn id=\"" + id + "\" direction=\"" + (up ? "UP" : "DOWN") + "\"/>";
  return "<link_ctn id=\"" + id + "\"/>";
}

std::string PlatformTree::way(const Host& from, const Host& to) const {
  const bool inside =
      from.node >= 0 && from.node == to.node && !from.inner.empty() && !to.inner.empty();
  std::vector<int> up = inside ? from.inner : from.up;
  std::vector<int> down = inside ? to.inner : to.up;
  bool through_root = !inside;
  while (!up.empty() && !down.empty() && up.back() == down.back()) {
    up.pop_back();
    down.pop_back();
    through_root = false;
  }
  std::string text;
  for (const int each : up)
    text += crossed(each, true);
  if (through_root && core_ >= 0)
    text += crossed(core_, true);
  std::ranges::reverse(down);
  for (const int each : down)
    text += crossed(each, false);
  return text;
}

std::string PlatformTree::xml() const {
  std::ostringstream out;
  out << "<?xml version=\"1.0\"?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n";
  for (const Host& host : hosts_) {
    out << "<host id=\"" << host.name << "\" speed=\"1e12f\">";
    if (host.role != "worker")
      out << "<prop id=\"role\" value=\"" << host.role << "\"/>";
    if (host.node >= 0)
      out << "<prop id=\"node\" value=\"node" << host.node << "\"/>";
    out << "</host>\n";
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const auto write = [&](const std::string& end, double Bps, const char* sharing) {
      out << "<link id=\"link" << i << end << "\" bandwidth=\"" << number(Bps) << "Bps\" latency=\""
          << number(link.latency_s) << "s\" sharing_policy=\"" << sharing << "\"/>\n";
    };
    if (link.is_two) {
      write("-up", link.up_Bps, "SHARED");
      write("-down", link.down_Bps, "SHARED");
    } else {
      write("", link.up_Bps,
            link.sharing == Sharing::split    ? "SPLITDUPLEX"
            : link.sharing == Sharing::shared ? "SHARED"
                                              : "FATPIPE");
    }
  }
  for (const Host& from : hosts_)
    for (const Host& to : hosts_)
      if (from.name != to.name)
        out << "<route src=\"" << from.name << "\" dst=\"" << to.name << "\" symmetrical=\"NO\">"
            << way(from, to) << "</route>\n";
  out << "</zone>\n</platform>\n";
  return out.str();
}

}  // namespace syncline::reference
