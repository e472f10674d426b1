#include "sim/platform/platform_check.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform_names.h"
#include "sim/platform/platform_profiles.h"
#include "sim/platform/platform_properties.h"
#include "sim/platform/platform_rules.h"
#include "sim/platform/platform_settings.h"
#include "sim/platform/platform_values.h"
#include "sim/platform/platform_xml.h"

namespace syncline {
namespace {

constexpr std::size_t most_slow_links_named = 3;
// SimGrid keeps a table of all pairs of a zone's members; Floyd also tries all triples.
const std::map<std::string, int> most_members{{"full", 10'000}, {"floyd", 4'000}};
// Loading times of SimGrid 3.32, measured with platforms of 50 to 1,000 nodes in words. SimGrid
// looks for a link by its name in all zones read so far, one after another.
constexpr double seconds_per_element = 2e-6;
constexpr double seconds_per_host = 6e-6;
constexpr double seconds_per_zone_asked = 1.1e-7;
constexpr double seconds_per_triple = 4e-10;  // for a zone with routing Floyd

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values)
    keys.push_back(key);
  return keys;
}

class Check {
 public:
  explicit Check(const std::string& platform) : path_(platform) {}

  PlatformFile of_file() {
    found_.files.push_back(path_);
    const std::string text = read_xml(path_, begun_, ended_);
    if (!ignored_.empty() || !blanks_.empty())
      found_.text = for_simgrid(text);
    return checked();
  }
  // Slow links in words have their own warnings.
  PlatformFile of_words(std::string text) {
    found_.text = std::move(text);
    read_xml_text(path_, found_.text, begun_, ended_);
    return checked();
  }

 private:
  PlatformFile checked() {
    warn_of_ignored();
    if (hosts_ == 0)
      refuse_file(path_, "0 hosts, so 0 worker hosts: allowed are 1 to {}", most_hosts);
    if (slow_links_ > most_slow_links_named)
      found_.warnings.push_back(
          fmt::format("platform: {} more links are as slow", slow_links_ - most_slow_links_named));
    found_.hosts = hosts_;
    found_.load_s += static_cast<double>(hosts_) * seconds_per_host;
    return std::move(found_);
  }

  // Replaces ignored parts with blanks, so that line numbers stay; and replaces line ends and tabs
  // in attributes with blanks, because SimGrid would keep them and have other names than this
  // program.
  std::string for_simgrid(std::string text) {
    for (const auto& [from, to] : ignored_)
      for (std::size_t i = from; i < to; ++i)
        if (text[i] != '\n')
          text[i] = ' ';
    for (const std::size_t i : blanks_)  // CR and LF become one blank
      text[i] = text.compare(i, 2, "\r\n") == 0 ? '\0' : ' ';
    std::erase(text, '\0');
    return text;
  }

  void warn_of_ignored() {
    constexpr std::size_t most_named = 8;
    std::vector<std::string> words;
    for (const auto& [what, times] : ignored_what_)
      words.push_back(times == 1 ? what : fmt::format("{} ({} times)", what, times));
    const std::size_t more = words.size() - std::min(words.size(), most_named);
    words.resize(words.size() - more);
    if (!words.empty())
      found_.warnings.push_back(
          fmt::format("platform: ignored, because training does not use it: {}{}",
                      fmt::join(words, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
  }

  // True if the element, or an element around it, is ignored.
  bool begins_ignored(const XmlElement& element) {
    if (element.parent == "config") {
      std::string setting = element.attribute("id");
      std::ranges::replace(setting, '_', '-');  // as older versions write them
      if (element.name != "prop")
        refuse("it cannot stand in <config>: allowed here is prop");
      if (is_of_network(setting))
        found_.settings.push_back({element.line, setting, element.attribute("value")});
      else if (changes_nothing(setting))
        ++ignored_what_["config " + brief(setting)];
      else
        refuse("{}: {}", brief(setting), why_not_set(setting));
    }
    if (ignoring_ == 0 && element.name != "config" && !takes_no_part(element))
      return false;
    if (ignoring_++ == 0 && element.name != "config")
      ++ignored_what_[element.name == "prop" ? "remote_disk" : element.name];
    return true;
  }

  bool ends_ignored(const XmlElement& element) {
    if (ignoring_ == 0)
      return false;
    if (--ignoring_ == 0)
      ignored_.emplace_back(element.from, element.to);
    return true;
  }

  // Runs `act`; its errors get the place of the element.
  void see(const XmlElement& element, void (Check::*act)(const XmlElement&)) {
    try {
      (this->*act)(element);
    } catch (const std::invalid_argument& error) {
      const std::string id = brief(element.attribute("id"));
      refuse_at(path_, element.line,
                fmt::format("<{}>{}: {}", brief(element.name),
                            id.empty() || element.name == "prop" ? "" : " " + id, error.what()));
    }
  }

  void begin(const XmlElement& element) {
    blanks_.insert(blanks_.end(), element.blanks.begin(), element.blanks.end());
    if (begins_ignored(element))
      return;
    const auto rule = platform_rules().find(element.name);
    if (rule == platform_rules().end()) {
      const std::string reason = why_not(element.name);
      refuse(reason.empty() ? "an unknown element: allowed are " + listed(keys_of(platform_rules()))
                            : reason);
    }
    if (element.parent.empty() != (element.name == "platform"))
      refuse("allowed is one <platform>, around everything else");
    check_attributes(element, rule->second);
    count_hosts(element);              // checked before the name of each host is kept
    if (!tells_kind_of_link(element))  // which SimGrid only keeps
      found_.load_s += seconds_per_element;
    zones_ += is_zone(element.name) || element.name == "cluster" ? 1 : 0;
    if (element.name == "link_ctn")
      found_.load_s += zones_ * seconds_per_zone_asked;
    names_.begin(element);
    order_.begin(element);
    if (const std::string role = element.attribute("value");
        element.name == "prop" && element.parent == "host" && element.attribute("id") == "role" &&
        (role == "none" || role == "master" || role == "storage"))
      ++ignored_what_["host with role = " + role];
    for (const char* of_cluster : {"host_link", "cabinet", "backbone"})
      if (element.name == of_cluster && names_.routing() != "cluster")
        refuse("it is only allowed inside a <zone> with routing = Cluster");
    if (element.name == "trace_connect")
      profiles_.connect(element);
    properties_.begin(element);
    if (is_zone(element.name))
      members_.push_back(0);
  }

  void end(const XmlElement& element) {
    if (ends_ignored(element))
      return;
    order_.end();
    names_.end(element);
    properties_.end(element);
    if (element.name == "platform")
      for (const XmlElement& use : names_.uses_of_hosts())
        see(use, &Check::require_host);
    if (element.name == "trace")
      profiles_.add_trace(element);
    else if (const std::string text = trimmed(element.text); !text.empty())
      refuse("the text '{}' in it: allowed are elements; text is for <trace>",
             brief(text.substr(0, 40)));
    if (!is_zone(element.name))
      return;
    const std::string routing = lower(element.attribute("routing"));
    if (routing == "floyd")
      found_.load_s += seconds_per_triple * std::pow(members_.back(), 3);
    const auto most = most_members.find(routing);
    if (most != most_members.end() && members_.back() > most->second)
      refuse(
          "routing = {} with {} hosts, routers and zones: allowed are {}; Dijkstra, Cluster and "
          "<cluster> allow more",
          element.attribute("routing"), members_.back(), most->second);
    members_.pop_back();
  }

  void require_host(const XmlElement& use) {
    if (!names_.names_a_host(use))
      refuse("it names no host of this platform: allowed are the names of its hosts");
  }

  void check_attributes(const XmlElement& element, const ElementRule& rules) {
    for (const auto& [name, value] : element.attributes) {
      const auto rule = rules.find(name);
      if (rule == rules.end())
        refuse("an unknown attribute {}: allowed are {}", brief(name), listed(keys_of(rules)));
      try {
        check_value(element, name, value, rule->second);
      } catch (const std::invalid_argument& error) {
        refuse("{} = {}: {}", name, brief(value), error.what());
      }
      if (rule->second.says == AttributeKind::profile && !value.empty() &&
          element.name != "trace")  // a <trace> may have rows instead
        profiles_.use_file(element, name, value);
    }
    for (const auto& [name, rule] : rules)
      if (rule.needed &&
          std::ranges::count(element.attributes, name, &XmlElement::Attribute::first) == 0)
        refuse("no {}, which is required", name);
  }

  void check_value(const XmlElement& element, const std::string& name, const std::string& value,
                   const AttributeRule& rule) {
    if (printable(value) != value)
      refuse("allowed is text without control characters");
    if (value.empty() && !rule.needed && rule.says != AttributeKind::words &&
        rule.says != AttributeKind::cores && rule.says != AttributeKind::number)
      return;
    if (rule.says == AttributeKind::text && name == "coordinates")
      check_coordinates(value);
    if (rule.says == AttributeKind::name && value.empty())
      refuse("allowed are names");
    if (rule.says == AttributeKind::speed)
      speed_in_state_flops(value, number_in<int>(trimmed(element.attribute("pstate"))).value_or(0));
    if (rule.says == AttributeKind::bandwidth)
      check_bandwidth(element, name, bandwidth_Bps(value));
    if (rule.says == AttributeKind::time)
      time_s(value);
    if (rule.says == AttributeKind::cores)
      whole_number(value, 1, 1'000'000);
    if (rule.says == AttributeKind::number)
      check_number(element, name, value);
    if (rule.says == AttributeKind::words)
      check_word(name, value, rule.words);
  }

  static void check_coordinates(const std::string& value) {
    const std::vector<std::string> numbers = split(value, ' ');  // at each blank, as SimGrid does
    if (numbers.size() != 3)
      refuse("allowed are 3 numbers with a blank between them");
    for (const std::string& number : numbers)
      plain_number(number);
  }

  static void check_word(const std::string& name, const std::string& value,
                         const std::vector<std::string>& words) {
    const bool any_case = name == "routing";  // as in SimGrid
    if (std::ranges::none_of(words, [&](const std::string& word) {
          return any_case ? lower(word) == lower(value) : word == value;
        }))
      refuse("allowed are {}{}", listed(words),
             name == "kind" ? "; a <link> has bandwidth_file, latency_file and state_file" : "");
  }

  static void check_number(const XmlElement& element, const std::string& name,
                           const std::string& value) {
    const double number = plain_number(value);
    if (name == "version" && (number < 4 || number > 4.1))
      refuse("allowed is 4.1");
    if (name != "pstate")
      return;
    const auto speeds = static_cast<double>(split(element.attribute("speed"), ',').size());
    if (number < 0 || number >= speeds || number != static_cast<int>(number))
      refuse("allowed are 0 to the number of its speeds minus 1");
  }

  void check_bandwidth(const XmlElement& element, const std::string& name, double bandwidth_Bps) {
    if (bandwidth_Bps >= slow_Bps || found_.files.empty())
      return;
    if (++slow_links_ <= most_slow_links_named)
      found_.warnings.push_back(
          fmt::format("platform: <{}> {} has {} = {} (line {}), which is less than 1 Mbit/s: is "
                      "the unit right?",
                      element.name, brief(element.attribute("id")), name,
                      brief(element.attribute(name)), element.line));
  }

  void count_hosts(const XmlElement& element) {
    long long hosts = element.name == "host" || element.name == "peer" ? 1 : 0;
    if (!members_.empty() && (hosts > 0 || element.name == "router" || is_zone(element.name) ||
                              element.name == "cluster"))
      ++members_.back();
    std::string what = "this host";
    if (element.name == "cluster" || element.name == "cabinet") {
      what = "radical = " + brief(element.attribute("radical"));
      try {
        hosts = hosts_of_radical(element.attribute("radical"));
      } catch (const std::invalid_argument& error) {
        refuse("{}: {}", what, error.what());
      }
      what += fmt::format(", {} hosts", hosts);
    }
    if (hosts_ + hosts > most_hosts)
      refuse("{}, makes {} in the platform: allowed are {}", what, hosts_ + hosts, most_hosts);
    hosts_ += hosts;
    const std::string topology = element.attribute("topology");
    if (element.name == "cluster" && !topology.empty() && topology != "FLAT")
      check_topology(element, topology, hosts);
  }

  void check_topology(const XmlElement& element, const std::string& topology, long long hosts) {
    const std::string parameters = element.attribute("topo_parameters");
    try {
      const TopologySize size = size_of_topology(topology, parameters);
      if (size.hosts != static_cast<double>(hosts))
        refuse("a {} of {:.0f} hosts, but radical = {} names {}: allowed is the same number",
               topology, size.hosts, brief(element.attribute("radical")), hosts);
    } catch (const std::invalid_argument& error) {
      refuse("topo_parameters = {}: {}", brief(parameters), error.what());
    }
  }

  std::string path_;
  PlatformOrder order_;
  PlatformNames names_;
  PlatformFile found_;
  PlatformProfiles profiles_{found_};
  PlatformProperties properties_{found_};
  long long hosts_ = 0;
  double zones_ = 0;
  std::vector<int> members_;  // by open zone
  std::size_t slow_links_ = 0;
  int ignoring_ = 0;                                          // open elements that are ignored
  std::vector<std::pair<std::size_t, std::size_t>> ignored_;  // places in the text
  std::vector<std::size_t> blanks_;          // places in the text that XML reads as blanks
  std::map<std::string, int> ignored_what_;  // number of times
  const std::function<void(const XmlElement&)> begun_ = [this](const XmlElement& element) {
    see(element, &Check::begin);
  };
  const std::function<void(const XmlElement&)> ended_ = [this](const XmlElement& element) {
    see(element, &Check::end);
  };
};

}  // namespace

PlatformFile checked_file(const std::string& path) {
  return Check(path).of_file();
}

PlatformFile checked_words(const std::string& words, const std::string& text) {
  return Check(words).of_words(text);
}

}  // namespace syncline
