#include "sim/platform/platform_properties.h"

#include <algorithm>

#include "kernels/io/text.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform_values.h"

namespace syncline {

bool tells_kind_of_link(const XmlElement& element) {
  return element.name == "prop" && element.parent == "link" && element.attribute("id") == "kind";
}

void PlatformProperties::begin(const XmlElement& element) {
  if (element.name == "link") {
    window_bytes_ = streams_ = 0;
    kind_.clear();
  }
  if (element.name != "prop")
    return;
  const std::string name = element.attribute("id");
  if (element.parent == "link")
    note_of_link(name, element.attribute("value"));
  if ((element.parent == "host" || element.parent == "cluster") && name == "network")
    note_network(element.attribute("value"));
}

void PlatformProperties::end(const XmlElement& element) {
  if (element.name != "link")
    return;
  const std::string link = element.attribute("id");
  if (streams_ > 0 && window_bytes_ == 0)
    refuse("streams without tcp-window: allowed is both, or tcp-window alone");
  if (window_bytes_ > 0)
    found_.profiles.windows[link] = window_bytes_ * std::max(streams_, 1.0);
  if (kind_.empty())
    return;
  found_.profiles.cards.insert(link);
  std::vector<double>& rates_Bps = found_.cards.rates_Bps;
  const double rate_Bps = bandwidth_Bps(element.attribute("bandwidth"));
  if (kind_ == "card" && std::ranges::count(rates_Bps, rate_Bps) == 0)
    rates_Bps.push_back(rate_Bps);
}

void PlatformProperties::note_of_link(const std::string& name, const std::string& value) {
  if (name == "kind") {
    if (value != "card" && value != "cards")
      refuse(
          "kind = {}: allowed are card, for a network card, or cards, for several cards of a node "
          "as one link",
          brief(value));
    kind_ = value;
  }
  if (name != "tcp-window" && name != "streams")
    return;
  const auto number = number_in<double>(value);
  if (!number || !(*number >= 1 && *number <= 1e15))
    refuse("{} = {}: allowed are 1 to 1e15{}", name, brief(value),
           name == "streams" ? "" : " bytes");
  (name == "streams" ? streams_ : window_bytes_) = *number;
}

void PlatformProperties::note_network(const std::string& kind) {
  if (kind == found_.cards.kind && !kind.empty())
    return;
  try {
    require_network_kind(kind);
  } catch (const std::invalid_argument& error) {
    refuse("network = {}: {}", brief(kind), error.what());
  }
  if (!found_.cards.kind.empty())
    refuse("network = {}: another host has {}; allowed is one kind for all hosts", kind,
           found_.cards.kind);
  found_.cards.kind = kind;
}

}  // namespace syncline
