// The profiles that a platform's elements have, from files or from <trace> elements of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/platform_file.h"
#include "sim/platform/platform_xml.h"

namespace syncline {

// The rows of one.
struct Profile {
  Profiles times;
  std::vector<Bandwidth::Change> rows;  // times and values, whatever they are values of
  double least = 0;                     // of its values
  double most = 0;
};

// Each function throws std::invalid_argument that says what is wrong and what is allowed.
class PlatformProfiles {
 public:
  // They are added to `found`, whose first file is the platform's own, with their files and
  // warnings.
  explicit PlatformProfiles(PlatformFile& found) : found_(found) {}

  // An attribute of this element names a file.
  void use_file(const XmlElement& element, const std::string& attribute, const std::string& file);
  void add_trace(const XmlElement& trace);     // once it has ended
  void connect(const XmlElement& connection);  // a <trace_connect>

 private:
  struct Trace {  // it stands before the hosts that it is of
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
