// Reads the words and numbers in a platform's attributes strictly. SimGrid would read 1.5 cores as
// one core, and 1,5Gf as 1 flop/s.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace syncline {

// Each throws std::invalid_argument that says what is allowed. A single value may lack its unit, as
// in SimGrid; the unit is then flop/s, bytes/s or seconds.
double speed_flops(const std::string& text);  // the first of several, separated by commas
// The speed in this state; other states' speeds may be less than 1 flop/s.
double speed_in_state_flops(const std::string& text, int state);
double bandwidth_Bps(const std::string& text);
double time_s(const std::string& text);
long long whole_number(const std::string& text, long long least, long long most);
// Reads a number without a unit.
double plain_number(const std::string& text);

// Limit of hosts. SimGrid's readers need 3 GB for a flat cluster of this size.
constexpr long long most_hosts = 1'000'000;
constexpr long long most_links = 4'000'000;

// Number of hosts that a radical such as 0-7,12 makes.
long long hosts_of_radical(const std::string& radical);
// The first and the last number of each range of hosts in a radical.
std::vector<std::pair<long long, long long>> numbers_of_radical(const std::string& radical);

struct TopologySize {
  double hosts = 0;
  double links = 0;
};
// The size that topo_parameters give a TORUS, FAT_TREE or DRAGONFLY. Throws as above if there are
// more than most_hosts or most_links.
TopologySize size_of_topology(const std::string& topology, const std::string& parameters);

}  // namespace syncline
