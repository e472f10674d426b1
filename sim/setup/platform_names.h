// Whether the names that a platform file uses are those of what it has, and no two are the same: as
// SimGrid looks them up.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/setup/platform_xml.h"

namespace syncline {

bool is_zone(const std::string& kind);  // of an element

class PlatformNames {
 public:
  // An element begins or ends: empty, or what is wrong with its names.
  std::string begin(const XmlElement& element);
  std::string end(const XmlElement& element);

  // The first element that names a host which the whole file does not have.
  std::optional<XmlElement> without_host() const;

 private:
  struct Zone {
    std::string routing;  // in small letters
    int parent = -1;      // of zones_
    std::set<std::pair<std::string, std::string>> routes;
    std::set<std::pair<std::string, std::string>> bypasses;
  };
  struct Point {  // a host or a router
    int zone = 0;
    bool is_host = false;
  };
  enum class Kind { host, router, zone };

  std::optional<Point> point(const std::string& name) const;
  int open_zone() const { return open_.empty() ? -1 : open_.back(); }
  std::string add(Kind kind, const std::string& name);
  std::string open_new_zone(const std::string& name, const std::string& routing);
  std::string add_cluster(const XmlElement& element);
  std::string add_linked_host(const std::string& name);
  std::string add_hosts(const XmlElement& element);
  std::string add_link(const XmlElement& element);
  std::string problem_of_route(const XmlElement& element);
  std::string problem_of_bypass(const XmlElement& element);
  std::string problem_of_gateway(const XmlElement& element, const std::string& way, int zone) const;
  std::string problem_of_link(const XmlElement& element) const;

  std::vector<Zone> zones_;
  std::vector<int> open_;  // those that have begun and not ended
  std::unordered_map<std::string, int> zone_of_name_;
  std::unordered_map<std::string, Point> points_;
  std::unordered_map<std::string, bool> links_;  // whether it is two, NAME_UP and NAME_DOWN
  std::set<std::string> clusters_;
  std::set<std::string> like_clusters_;  // what links are called as if they were of clusters
  std::vector<XmlElement> uses_;         // of hosts that may come later
  int links_of_route_ = 0;
};

}  // namespace syncline
