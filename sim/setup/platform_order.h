// Which elements of a platform file may stand in which, and in what order: what every version of
// SimGrid reads of its document type.
#pragma once

#include <string>
#include <vector>

#include "sim/setup/platform_xml.h"

namespace syncline {

class PlatformOrder {
 public:
  // An element begins: empty, or why it cannot stand here.
  std::string problem(const XmlElement& element);
  void end();

 private:
  struct Open {
    std::string name;
    std::string place;  // in it: decides what may follow
    std::string last;   // child
  };
  std::vector<Open> open_;
};

}  // namespace syncline
