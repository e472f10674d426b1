#include "sim/setup/platform_names.h"

#include "kernels/text.h"

namespace syncline {

std::string PlatformNames::problem(const XmlElement& element) {
  const std::string& kind = element.name;
  const std::string id = element.attribute("id");
  if (kind == "cluster" || kind == "cabinet" || kind == "peer")
    generated_ = true;
  if (kind == "host" || kind == "router" || kind == "zone" || kind == "AS") {
    places_.insert(id);
  } else if (kind == "link" || kind == "backbone") {
    const std::string sharing = element.attribute("sharing_policy");
    const bool both_ways = sharing == "SPLITDUPLEX" || sharing == "FULLDUPLEX";
    if (!links_.emplace(id, both_ways).second)
      return "a second link of this name: allowed is one";
  } else if (kind == "link_ctn") {
    return problem_of_link(element);
  }
  for (const char* end : {"src", "dst", "gw_src", "gw_dst"})
    if (const std::string name = element.attribute(end);
        !name.empty() && !generated_ && !places_.contains(name))
      return end + (" = " + brief(name)) +
             ": no host, router or zone of this name stands "
             "before it";
  return "";
}

std::string PlatformNames::problem_of_link(const XmlElement& element) const {
  const std::string id = element.attribute("id");
  const std::string direction = element.attribute("direction");
  const bool one_way = direction == "UP" || direction == "DOWN";
  const auto link = links_.find(id);
  if (link != links_.end() && link->second != one_way)
    return link->second
               ? "a SPLITDUPLEX link: allowed are direction = UP or DOWN"
               : "direction = " + direction + " of a link that is not SPLITDUPLEX: allowed is none";
  for (const char* way : {"_UP", "_DOWN"})  // they are links, too
    if (id.ends_with(way))
      return "";
  return link == links_.end() && !generated_ ? "no <link> of this name stands before it" : "";
}

}  // namespace syncline
