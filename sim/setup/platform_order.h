// An element of a platform file may stand in some others, after some: this is what every version of
// SimGrid reads of its document type.
#pragma once

#include <string>
#include <vector>

#include "sim/setup/platform_xml.h"

namespace syncline {

class PlatformOrder {
 public:
  // An element begins. Throws std::invalid_argument that says why it cannot stand here.
  void begin(const XmlElement& element);
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
