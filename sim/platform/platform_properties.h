// The properties of links and hosts in a platform's XML that SimGrid does not read.
#pragma once

#include <string>

#include "sim/platform/platform_file.h"
#include "sim/platform/platform_xml.h"

namespace syncline {

// True for the property `kind` of a link.
bool tells_kind_of_link(const XmlElement& element);

// Notes them in the platform's file. Throws std::invalid_argument that says what is allowed.
class PlatformProperties {
 public:
  explicit PlatformProperties(PlatformFile& found) : found_(found) {}

  void begin(const XmlElement& element);
  void end(const XmlElement& element);

 private:
  void note_of_link(const std::string& name, const std::string& value);
  void note_network(const std::string& kind);

  PlatformFile& found_;
  double window_bytes_ = 0, streams_ = 0;  // of the current link; 0: none
  std::string kind_;                       // of the current link; empty: none
};

}  // namespace syncline
