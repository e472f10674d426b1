// The words and numbers in a platform's attributes, read as strictly as a user would, not as
// SimGrid, which takes 1.5 cores for one and 1,5Gf for 1 flop/s.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace syncline {

// Each throws std::invalid_argument that says what is allowed. A single value may lack its unit, as
// for SimGrid: then it counts flop/s, bytes/s and seconds.
double speed_flops(const std::string& text);  // the first of several, separated by commas
// That of this state; the others may be less than 1 flop/s.
double speed_in_state_flops(const std::string& text, int state);
double bandwidth_Bps(const std::string& text);
double time_s(const std::string& text);
// A whole number.
long long whole_number(const std::string& text, long long least, long long most);
// A number without a unit.
double plain_number(const std::string& text);

// More hosts are not built. A flat cluster of as many takes SimGrid's readers 3 GB.
constexpr long long most_hosts = 1'000'000;
constexpr long long most_links = 4'000'000;

// A radical such as 0-7,12 makes so many hosts.
long long hosts_of_radical(const std::string& radical);
// The hosts have the numbers from the first to the last of each pair.
std::vector<std::pair<long long, long long>> numbers_of_radical(const std::string& radical);

struct TopologySize {
  double hosts = 0;
  double links = 0;
};
// The size that topo_parameters give a TORUS, FAT_TREE or DRAGONFLY. Throws as above for more than
// most_hosts or most_links.
TopologySize size_of_topology(const std::string& topology, const std::string& parameters);

}  // namespace syncline
