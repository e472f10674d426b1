// The profiles of a platform's elements, from files or from <trace> elements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/platform_file.h"
#include "sim/platform/platform_xml.h"

namespace syncline {

// The rows of one profile.
struct Profile {
  Profiles times;
  std::vector<Bandwidth::Change> rows;  // times and values of any kind
  double least = 0;                     // of the values
  double most = 0;
};

// Each function throws std::invalid_argument that says what is wrong and what is allowed.
class PlatformProfiles {
 public:
  // Adds the profiles to `found`, with their files and warnings. The first file of `found` must be
  // the platform's own.
  explicit PlatformProfiles(PlatformFile& found) : found_(found) {}

  // An attribute of this element names a file.
  void use_file(const XmlElement& element, const std::string& attribute, const std::string& file);
  void add_trace(const XmlElement& trace);     // call it when the element has ended
  void connect(const XmlElement& connection);  // a <trace_connect>

 private:
  struct Trace {  // stands before the hosts that it applies to
    Profile profile;
    std::map<std::string, std::string> element_of;  // by kind
  };

  Profile read_file(const std::string& attribute, const std::string& value);
  void use(const XmlElement& element, const Profile& profile, const std::string& kind,
           const std::string& of, const std::string& source);
  void keep(const Profiles& times);

  PlatformFile& found_;
  std::map<std::string, Trace> traces_;
};

}  // namespace syncline
