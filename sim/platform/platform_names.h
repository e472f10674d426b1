// Checks the names in a platform file as SimGrid looks them up: every used name must exist, and no
// name may occur twice.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/platform/platform_xml.h"

namespace syncline {

bool is_zone(const std::string& kind);  // `kind`: an element's name

class PlatformNames {
 public:
  // Call these when an element begins or ends. Both throw std::invalid_argument that says what is
  // wrong with the element's names.
  void begin(const XmlElement& element);
  void end(const XmlElement& element);

  // Elements that name hosts, because such a host may stand after the element; and whether the host
  // of one exists so far.
  const std::vector<XmlElement>& uses_of_hosts() const { return uses_; }
  bool names_a_host(const XmlElement& use) const;
  // Routing of the open zone, in lower case; empty: no zone is open.
  std::string routing() { return open_.empty() ? "" : zone().routing; }

 private:
  struct Zone {
    std::string routing;  // in lower case
    int parent = -1;      // in zones_
    std::set<std::pair<std::string, std::string>> routes;
    std::set<std::pair<std::string, std::string>> bypasses;
  };
  struct Point {  // a host or a router
    int zone = 0;
    bool is_host = false;
  };
  enum class Kind { host, router, zone };

  const Point* point(const std::string& name) const;  // null: there is none
  int open_zone() const { return open_.empty() ? -1 : open_.back(); }
  Zone& zone() { return zones_[static_cast<std::size_t>(open_zone())]; }
  void add(Kind kind, const std::string& name);
  void open_new_zone(const std::string& name, const std::string& routing);
  void add_cluster(const XmlElement& element);
  void add_linked_host(const std::string& name);
  void add_hosts(const XmlElement& element);
  void add_link(const XmlElement& element);
  void add_route(const XmlElement& element);
  void add_bypass(const XmlElement& element);
  void check_gateway(const XmlElement& element, const std::string& end, int zone) const;
  void check_link(const XmlElement& element) const;

  std::vector<Zone> zones_;
  std::vector<int> open_;  // zones that have begun and not ended
  std::unordered_map<std::string, int> zone_of_name_;
  std::unordered_map<std::string, Point> points_;
  std::unordered_map<std::string, bool> links_;  // true: two links, NAME_UP and NAME_DOWN
  std::set<std::string> clusters_;
  // Ids that no later cluster may have: what stands before `_link_` in the names of <link>
  // elements.
  std::set<std::string> like_clusters_;
  std::vector<XmlElement> uses_;
  int links_of_route_ = 0;
};

}  // namespace syncline
