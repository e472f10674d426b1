// The names in a platform: what routes name has to stand before them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/setup/platform_xml.h"

namespace syncline {

class PlatformNames {
 public:
  // What is wrong with the names in the platform's next element; empty if nothing is.
  std::string problem(const XmlElement& element);

 private:
  std::string problem_of_link(const XmlElement& element) const;

  std::set<std::string> places_;       // hosts, routers and zones
  std::map<std::string, bool> links_;  // whether it has two directions
  bool generated_ = false;             // a cluster makes names of its own
};

}  // namespace syncline
