#include "sim/platform/platform_values.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

// Below this, the work of a microsecond is less than SimGrid's smallest amount.
constexpr double least_flops = 1;
constexpr double most_flops = 1e24;
constexpr double least_Bps = 1;
constexpr double most_Bps = 1e21;
constexpr double most_s = 1e6;

using Units = std::map<std::string, double>;

void add_prefixed(Units& units, const std::string& unit, double value,
                  const std::vector<std::string>& prefixes, double step) {
  units[unit] = value;
  for (const std::string& prefix : prefixes)
    units[prefix + unit] = value *= step;
}

const std::vector<std::string> decimal{"k", "M", "G", "T", "P", "E", "Z", "Y"};
const std::vector<std::string> binary{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};

const Units speed_units = [] {
  Units all;
  add_prefixed(all, "f", 1, decimal, 1000);
  add_prefixed(all, "flops", 1, {"kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta"},
               1000);
  return all;
}();

const Units bandwidth_units = [] {
  Units all;
  for (const auto& [unit, value] : Units{{"bps", 0.125}, {"Bps", 1.0}}) {
    add_prefixed(all, unit, value, decimal, 1000);
    add_prefixed(all, unit, value, binary, 1024);
  }
  return all;
}();

const Units time_units{{"w", 604800}, {"d", 86400}, {"h", 3600},  {"m", 60},    {"s", 1},
                       {"ms", 1e-3},  {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};

struct Quantity {
  double number = 0;
  std::string unit;
};

// Stricter than strtod alone, which would also read nan, inf and hexadecimal numbers.
bool split_number(const std::string& text, Quantity& quantity) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text.find_first_of("0123456789+-.", first) != first)
    return false;
  char* rest = nullptr;
  quantity.number = std::strtod(text.c_str() + first, &rest);
  quantity.unit = rest;
  const std::string digits = text.substr(first, text.size() - first - quantity.unit.size());
  return !digits.empty() && digits.find_first_not_of("0123456789+-.eE") == std::string::npos &&
         (std::isnormal(quantity.number) || quantity.number == 0);
}

double with_unit(const std::string& text, const Units& units, double least, double most,
                 const std::string& allowed) {
  Quantity quantity;
  if (split_number(text, quantity)) {
    const auto unit = units.find(quantity.unit);
    const double value = quantity.number * (quantity.unit.empty() ? 1
                                            : unit == units.end() ? NAN
                                                                  : unit->second);
    if (value >= least && value <= most)
      return value;
  }
  refuse(allowed);
}

// Returns doubles, so that no product overflows.
std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : split(text, ','))
    numbers.push_back(static_cast<double>(whole_number(part, 1, most_hosts)));
  return numbers;
}

double product(const std::vector<double>& factors, std::size_t begin, std::size_t end) {
  double all = 1;
  for (std::size_t i = begin; i < end; ++i)
    all *= factors[i];
  return all;
}

TopologySize torus(const std::string& parameters) {
  const std::vector<double> dimensions = numbers_of(parameters);
  const double hosts = product(dimensions, 0, dimensions.size());
  return {hosts, hosts * static_cast<double>(dimensions.size())};
}

TopologySize fat_tree(const std::vector<std::string>& parts) {
  const auto levels = static_cast<std::size_t>(whole_number(parts.at(0), 1, 20));
  const std::vector<double> down = numbers_of(parts.at(1));
  const std::vector<double> up = numbers_of(parts.at(2));
  const std::vector<double> links = numbers_of(parts.at(3));
  if (down.size() != levels || up.size() != levels || links.size() != levels)
    throw std::out_of_range("levels");
  TopologySize sizes{product(down, 0, levels), 0};
  for (std::size_t level = 0; level < levels; ++level)  // links from children to parents
    sizes.links += product(up, 0, level + 1) * product(down, level, levels) * links[level];
  return sizes;
}

TopologySize dragonfly(const std::vector<std::string>& parts) {
  std::vector<std::vector<double>> pairs;
  for (std::size_t i = 0; i < 3; ++i) {
    pairs.push_back(numbers_of(parts.at(i)));
    if (pairs.back().size() != 2)
      throw std::out_of_range("pairs");
  }
  const double groups = pairs[0][0];
  const double chassis = pairs[1][0];
  const double blades = pairs[2][0];
  const double routers = groups * chassis * blades;
  const double hosts = routers * static_cast<double>(whole_number(parts.at(3), 1, most_hosts));
  // In SimGrid, routes to group n leave from blade n, even if there is no such blade.
  if (groups > blades)
    throw std::domain_error(fmt::format(
        "a dragonfly of {:.0f} groups and {:.0f} blades: allowed are at most as many groups as "
        "blades in a chassis",
        groups, blades));
  return {hosts, hosts + routers * (blades + chassis) / 2 + groups * groups / 2};
}

std::string allowed_parameters(const std::string& topology) {
  if (topology == "TORUS")
    return "allowed are the lengths of its sides, such as 4,4,2";
  if (topology == "FAT_TREE")
    return "allowed are the number of levels, and for each level children, parents and links, such "
           "as 2;4,4;1,2;1,2";
  return "allowed are groups, chassis and blades, each with a number of links, and nodes, such as "
         "3,4;3,2;3,1;2";
}

}  // namespace

double speed_flops(const std::string& text) {
  return speed_in_state_flops(text, 0);
}

double speed_in_state_flops(const std::string& text, int state) {
  const std::string allowed =
      "allowed are numbers with f, kf, Mf, Gf, Tf or Pf of at least 1f, such as 1.5Tf";
  const std::vector<std::string> speeds = split(text, ',');
  double own_flops = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const bool counts = i == static_cast<std::size_t>(state);
    const double flops =
        with_unit(speeds[i], speed_units, counts ? least_flops : std::numeric_limits<double>::min(),
                  most_flops, allowed);
    own_flops = counts ? flops : own_flops;
    if (Quantity quantity;
        speeds.size() > 1 && split_number(speeds[i], quantity) && quantity.unit.empty())  // "1,5Gf"
      refuse("{}; or several, each with its unit", allowed);
  }
  return own_flops;
}

double bandwidth_Bps(const std::string& text) {
  return with_unit(text, bandwidth_units, least_Bps, most_Bps,
                   "allowed are numbers with bps, kbps, Mbps, Gbps, Bps, kBps, MBps, GBps or GiBps "
                   "from 1Bps to 1ZBps, such as 1.25GBps");
}

double time_s(const std::string& text) {
  return with_unit(text, time_units, 0, most_s,
                   "allowed are numbers with s, ms, us, ns or ps from 0 to 1e6s, such as 10us");
}

long long whole_number(const std::string& text, long long least, long long most) {
  const std::string digits = trimmed(text);
  if (!digits.empty() && digits.size() < 18 &&
      digits.find_first_not_of("0123456789") == std::string::npos)
    if (const long long number = std::stoll(digits); number >= least && number <= most)
      return number;
  refuse("allowed are whole numbers from {} to {}", least, most);
}

double plain_number(const std::string& text) {
  Quantity quantity;
  if (!split_number(text, quantity) || !trimmed(quantity.unit).empty())
    refuse("allowed are numbers, such as 10");
  return quantity.number;
}

std::vector<std::pair<long long, long long>> numbers_of_radical(const std::string& radical) {
  constexpr long long most = 2'147'483'646;
  std::vector<std::pair<long long, long long>> numbers;
  for (const std::string& group : split(radical, ',')) {
    const std::size_t dash = group.find('-');
    try {
      const long long first = whole_number(group.substr(0, dash), 0, most);
      numbers.emplace_back(first, dash == std::string::npos
                                      ? first
                                      : whole_number(group.substr(dash + 1), first, most));
    } catch (const std::invalid_argument&) {
      refuse("allowed are numbers and ranges that go up, such as 0-7,12");
    }
  }
  return numbers;
}

long long hosts_of_radical(const std::string& radical) {
  long long hosts = 0;
  for (const auto& [first, last] : numbers_of_radical(radical))
    hosts += last - first + 1;
  return hosts;
}

TopologySize size_of_topology(const std::string& topology, const std::string& parameters) {
  TopologySize sizes;
  try {
    const std::vector<std::string> parts = split(parameters, ';');
    if (topology != "TORUS" && parts.size() != 4)
      throw std::out_of_range("parts");
    sizes = topology == "TORUS"      ? torus(parameters)
            : topology == "FAT_TREE" ? fat_tree(parts)
                                     : dragonfly(parts);
  } catch (const std::domain_error& error) {
    refuse(error.what());
  } catch (const std::logic_error&) {
    refuse(allowed_parameters(topology));
  }
  const auto check = [](double number, long long most, const char* what) {
    if (number > static_cast<double>(most))
      refuse("the topology has {} {}: allowed are {}",
             number < 1e15 ? fmt::format("{}", static_cast<long long>(number)) : "more than 1e15",
             what, most);
  };
  check(sizes.hosts, most_hosts, "hosts");
  check(sizes.links, most_links, "links");
  return sizes;
}

}  // namespace syncline
