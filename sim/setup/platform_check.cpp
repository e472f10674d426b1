#include "sim/setup/platform_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/setup/files.h"
#include "sim/setup/platform_names.h"
#include "sim/setup/platform_order.h"
#include "sim/setup/platform_rules.h"
#include "sim/setup/platform_values.h"
#include "sim/setup/platform_xml.h"

namespace syncline {
namespace {

constexpr double slow_Bps = 125'000;  // 1 Mbit/s
constexpr std::size_t most_profile_bytes = 64'000'000;
constexpr std::size_t most_slow_links_named = 3;
// SimGrid keeps a table of all pairs of a zone's members; Floyd also tries all triples.
const std::map<std::string, int> most_members{{"full", 10'000}, {"floyd", 4'000}};

// A profile that stands before the hosts that it is of.
struct Connected {
  Profile profile;
  std::string source;                             // for messages
  std::map<std::string, std::string> element_of;  // by kind
};

class Check {
 public:
  explicit Check(const std::string& path) : path_(path) { found_.files.push_back(path); }

  PlatformFile run() {
    read_xml(
        path_, [this](const XmlElement& element) { begin(element); },
        [this](const XmlElement& element) { end(element); });
    if (hosts_ == 0)
      throw std::runtime_error(path_ + ": 0 hosts, so 0 worker hosts: allowed are 1 to " +
                               std::to_string(most_hosts));
    if (slow_links_ > most_slow_links_named)
      found_.warnings.push_back("platform: " + std::to_string(slow_links_ - most_slow_links_named) +
                                " more links are as slow");
    found_.hosts = hosts_;
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const XmlElement& element, const std::string& what) const {
    const std::string id = brief(element.attribute("id"));
    throw std::runtime_error(path_ + ":" + std::to_string(element.line) + ": <" +
                             brief(element.name) + ">" +
                             (id.empty() || element.name == "prop" ? "" : " " + id) + ": " + what);
  }

  void begin(const XmlElement& element) {
    if (element.parent == "config")
      fail(element, brief(element.attribute("id")) + ": " + why_not("config"));
    if (element.name == "config")
      return;  // its first property is what is refused, by name
    const auto rule = platform_rules().find(element.name);
    if (rule == platform_rules().end()) {
      const std::string reason = why_not(element.name);
      fail(element,
           reason.empty() ? "an unknown element: allowed are " + listed(known_elements()) : reason);
    }
    if (element.parent.empty() != (element.name == "platform"))
      fail(element, "allowed is one <platform>, around everything else");
    check_attributes(element, rule->second);
    count_hosts(element);  // before each of their names is kept
    for (const std::string& problem : {names_.begin(element), order_.problem(element)})
      if (!problem.empty())
        fail(element, problem);
    if (element.name == "prop" && element.attribute("id") == "remote_disk")
      fail(element, "remote_disk: a disk takes no part in training; allowed is none");
    for (const char* of_cluster : {"host_link", "cabinet", "backbone"})
      if (element.name == of_cluster && (zones_.empty() || zones_.back().routing != "cluster"))
        fail(element, "it counts only in a <zone> with routing = Cluster: allowed is there");
    if (element.name == "trace_connect")
      connect(element);
    if (is_zone(element.name))
      zones_.push_back({.routing = lower(element.attribute("routing"))});
  }

  void end(const XmlElement& element) {
    if (element.name == "config")
      fail(element, why_not("config"));
    order_.end();
    if (const std::string problem = names_.end(element); !problem.empty())
      fail(element, problem);
    if (const auto use = names_.without_host(); element.name == "platform" && use)
      fail(*use, "it names no host of this platform: allowed are those");
    if (element.name == "trace")
      read_trace(element);
    else if (const std::string text = trimmed(element.text); !text.empty())
      fail(element, "the text '" + brief(text.substr(0, 40)) +
                        "' in it: allowed are elements; text is for <trace>");
    if (!is_zone(element.name))
      return;
    const auto most = most_members.find(zones_.back().routing);
    if (most != most_members.end() && zones_.back().members > most->second)
      fail(element, "routing = " + element.attribute("routing") + " of " +
                        std::to_string(zones_.back().members) +
                        " hosts, routers and zones: allowed are " + std::to_string(most->second) +
                        "; Dijkstra, Cluster or a <cluster> has more");
    zones_.pop_back();
  }

  static std::vector<std::string> known_elements() {
    std::vector<std::string> names;
    for (const auto& [name, rule] : platform_rules())
      names.push_back(name);
    return names;
  }

  void check_attributes(const XmlElement& element, const ElementRule& rules) {
    for (const auto& [name, value] : element.attributes) {
      const auto rule = rules.find(name);
      if (rule == rules.end()) {
        std::vector<std::string> names;
        for (const auto& [known, about] : rules)
          names.push_back(known);
        fail(element, "an unknown attribute " + brief(name) + ": allowed are " + listed(names));
      }
      try {
        check_value(element, name, value, rule->second);
      } catch (const std::invalid_argument& error) {
        fail(element, name + " = " + brief(value) + ": " + error.what());
      }
    }
    for (const auto& [name, rule] : rules)
      if (rule.needed &&
          std::ranges::none_of(element.attributes,
                               [&name = name](const auto& given) { return given.first == name; }))
        fail(element, "no " + name + ": it has to say one");
  }

  void check_value(const XmlElement& element, const std::string& name, const std::string& value,
                   const AttributeRule& rule) {
    if (printable(value) != value)
      throw std::invalid_argument("allowed is text without control characters");
    if (value.empty() && !rule.needed && rule.says != Says::words && rule.says != Says::cores &&
        rule.says != Says::number)
      return;
    switch (rule.says) {
      case Says::text:
        if (name == "coordinates")
          check_coordinates(value);
        return;
      case Says::name:
        if (value.empty())
          throw std::invalid_argument("allowed are names");
        return;
      case Says::speed:
        speed_flops(value);
        return;
      case Says::bandwidth:
        check_bandwidth(element, name, bandwidth_Bps(value));
        return;
      case Says::time:
        time_s(value);
        return;
      case Says::cores:
        whole_number(value, 1, 1'000'000);
        return;
      case Says::number:
        check_number(element, name, value);
        return;
      case Says::words:
        check_word(name, value, rule.words);
        return;
      case Says::profile:
        if (element.name != "trace")  // which may have rows instead: read_trace
          use_file(element, name, value);
    }
  }

  static void check_coordinates(const std::string& value) {
    const std::vector<std::string> numbers = split(value, ' ');  // at each blank, as SimGrid
    if (numbers.size() != 3)
      throw std::invalid_argument("allowed are 3 numbers with a blank between them");
    for (const std::string& number : numbers)
      plain_number(number);
  }

  static void check_word(const std::string& name, const std::string& value,
                         const std::vector<std::string>& words) {
    const bool any_case = name == "routing";  // as SimGrid reads it
    if (std::ranges::none_of(words, [&](const std::string& word) {
          return any_case ? lower(word) == lower(value) : word == value;
        }))
      throw std::invalid_argument("allowed are " + listed(words) +
                                  (name == "kind" ? "; a <link> has bandwidth_file, latency_file "
                                                    "and state_file"
                                                  : ""));
  }

  static void check_number(const XmlElement& element, const std::string& name,
                           const std::string& value) {
    const double number = plain_number(value);
    if (name == "version" && (number < 4 || number > 4.1))
      throw std::invalid_argument("allowed is 4.1");
    if (name != "pstate")
      return;
    const auto speeds = static_cast<double>(split(element.attribute("speed"), ',').size());
    if (number < 0 || number >= speeds || number != static_cast<int>(number))
      throw std::invalid_argument("allowed are 0 to the number of its speeds less one");
  }

  void check_bandwidth(const XmlElement& element, const std::string& name, double bandwidth_Bps) {
    if (bandwidth_Bps >= slow_Bps || element.name == "disk")
      return;
    if (++slow_links_ <= most_slow_links_named)
      found_.warnings.push_back(
          "platform: <" + element.name + "> " + brief(element.attribute("id")) + " has " + name +
          " = " + brief(element.attribute(name)) + " (line " + std::to_string(element.line) +
          "), which is less than 1 Mbit/s: is the unit meant?");
  }

  void count_hosts(const XmlElement& element) {
    long long hosts = element.name == "host" || element.name == "peer" ? 1 : 0;
    if (!zones_.empty() && (hosts > 0 || element.name == "router" || is_zone(element.name) ||
                            element.name == "cluster"))
      ++zones_.back().members;
    std::string what = "this host";
    if (element.name == "cluster" || element.name == "cabinet") {
      what = "radical = " + brief(element.attribute("radical"));
      try {
        hosts = hosts_of_radical(element.attribute("radical"));
      } catch (const std::invalid_argument& error) {
        fail(element, what + ": " + error.what());
      }
      what += ", " + std::to_string(hosts) + " hosts";
    }
    if (hosts_ + hosts > most_hosts)
      fail(element, what + ", makes " + std::to_string(hosts_ + hosts) +
                        " in the platform: allowed are " + std::to_string(most_hosts));
    hosts_ += hosts;
    const std::string topology = element.attribute("topology");
    if (element.name == "cluster" && !topology.empty() && topology != "FLAT")
      check_topology(element, topology, hosts);
  }

  void check_topology(const XmlElement& element, const std::string& topology, long long hosts) {
    const std::string parameters = element.attribute("topo_parameters");
    try {
      const TopologySize size = size_of_topology(topology, parameters);
      if (size.hosts != hosts)
        throw std::invalid_argument("a " + topology + " of " + std::to_string(size.hosts) +
                                    " hosts, but radical = " + brief(element.attribute("radical")) +
                                    " names " + std::to_string(hosts) + ": allowed are as many");
    } catch (const std::invalid_argument& error) {
      fail(element, "topo_parameters = " + brief(parameters) + ": " + error.what());
    }
  }

  // SimGrid would also look in the folder where the program was started, and there first.
  Profile read_file(const XmlElement& element, const std::string& attribute,
                    const std::string& value) {
    const std::string file =
        (std::filesystem::path(path_).parent_path() / value).lexically_normal().string();
    found_.files.push_back(file);
    Profile profile;
    try {
      profile = read_profile(text_of_file(file, most_profile_bytes), file, 1, 0);
    } catch (const std::runtime_error& error) {
      fail(element, attribute + " = " + brief(value) + ": " + error.what());
    }
    return profile;
  }

  void use_file(const XmlElement& element, const std::string& attribute, const std::string& value) {
    const std::string kind =
        attribute == "availability_file" ? "speed" : attribute.substr(0, attribute.find('_'));
    use(element, read_file(element, attribute, value), kind, element.attribute("id"),
        attribute + " = " + value);
  }

  void read_trace(const XmlElement& element) {
    const std::string file = element.attribute("file");
    const double period_s = plain_number(element.attribute("periodicity"));
    Connected connected;
    if (file.empty()) {
      connected.profile = read_profile(element.text, path_, element.line, period_s);
    } else {
      if (period_s > 0)
        fail(element,
             "periodicity = " + number_text(period_s) +
                 " with a file, where SimGrid ignores it: allowed are a line PERIODICITY in the "
                 "file and periodicity = -1");
      connected.profile = read_file(element, "file", file);
    }
    connected.source = "<trace> " + brief(element.attribute("id"));
    keep(connected.profile.times);
    if (!traces_.emplace(element.attribute("id"), std::move(connected)).second)
      fail(element, "a second trace of this name: allowed is one");
  }

  void connect(const XmlElement& element) {
    const auto trace = traces_.find(element.attribute("trace"));
    if (trace == traces_.end())
      fail(element, "trace = " + brief(element.attribute("trace")) +
                        ": no <trace> of this name stands before it");
    const std::string given = element.attribute("kind");
    const std::string kind = given.empty() ? "HOST_AVAIL" : given;
    const auto [other, added] =
        trace->second.element_of.emplace(kind, element.attribute("element"));
    if (!added)
      fail(element, "trace = " + brief(element.attribute("trace")) + ", kind = " + kind +
                        " is connected to " + brief(other->second) +
                        " already, and SimGrid would leave this one out: allowed is one element; "
                        "give this one a <trace> of its own");
    use(element, trace->second.profile, kind == "SPEED" ? "speed" : "state",
        element.attribute("element"), trace->second.source);
  }

  void use(const XmlElement& element, const Profile& profile, const std::string& kind,
           const std::string& of, const std::string& source) {
    const std::string values = source + ": values from " + number_text(profile.least) + " to " +
                               number_text(profile.most) + " of " + kind + ": ";
    if (kind == "speed" && (profile.least < 0 || profile.most > 1e6))
      fail(element, values + "allowed are parts of the speed from 0, such as 0.5");
    if (kind == "state" && element.name == "link" && profile.least < 1)
      fail(element, values +
                        "allowed is 1, because a transfer over a link that goes off would never "
                        "end; a slow one is a bandwidth_file");
    if (kind == "state" && (profile.least < 0 || profile.most > 1))
      fail(element, values + "allowed are 0 and 1");
    if (kind == "latency" && (profile.least < 0 || profile.most > 1e6))
      fail(element, values + "allowed are seconds from 0 to 1e6");
    if (kind == "bandwidth" && (profile.least < 1 || profile.most > 1e21))
      fail(element, values + "allowed are bytes/s from 1 to 1e21");
    keep(profile.times);
    if (kind == "speed")
      found_.profiles.most_speed = std::max(found_.profiles.most_speed, profile.most);
    if (kind == "bandwidth") {
      Bandwidth& bandwidth = found_.profiles.bandwidths[of];
      bandwidth.changes = profile.rows;
      bandwidth.period_s = profile.times.period_s;
    }
    if (kind == "bandwidth")
      found_.warnings.push_back("platform: the bandwidth of link " + brief(of) +
                                " follows a profile, from " + number_text(profile.least) + " to " +
                                number_text(profile.most) +
                                " bytes/s, whatever the link itself says");
  }

  void keep(const Profiles& times) {
    found_.profiles.shown_s = std::max(found_.profiles.shown_s, times.shown_s);
    found_.profiles.period_s = std::max(found_.profiles.period_s, times.period_s);
  }

  std::string path_;
  PlatformOrder order_;
  PlatformNames names_;
  PlatformFile found_;
  long long hosts_ = 0;
  struct Zone {
    std::string routing;
    int members = 0;
  };
  std::vector<Zone> zones_;  // those that are open
  std::size_t slow_links_ = 0;
  std::map<std::string, Connected> traces_;
};

}  // namespace

PlatformFile check_platform(const std::string& path) {
  return Check(path).run();
}

}  // namespace syncline
