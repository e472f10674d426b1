// Awkward platforms, drawn from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::reference {

struct Drawn {
  std::string kind;  // "rails", "two sites"
  std::string name;  // "rails-13"
  std::string xml;
  int servers = 0;  // hosts for servers
};

const std::vector<std::string>& kinds_of_platforms();
Drawn drawn_platform(const std::string& kind, std::uint64_t seed);

// A platform built by hand: a tree whose leaves are hosts.
class PlatformTree {
 public:
  enum class Sharing { split, shared, fatpipe };
  // A link that is equal in both directions; returns its number.
  int link(double Bps, double latency_s, Sharing sharing = Sharing::split);
  // A link with different bandwidths up and down.
  int link_of_two(double up_Bps, double down_Bps, double latency_s);
  // `up`: links from the host to the root. Hosts of one node that have `inner` links use these
  // among themselves. Role: worker, host or server; a server belongs to no node.
  void host(const std::string& role, int node, std::vector<int> up, std::vector<int> inner = {});
  // A link that everything crossing the root also crosses.
  void core(int link) { core_ = link; }
  std::string xml() const;

 private:
  struct Link {
    double up_Bps, down_Bps, latency_s;
    Sharing sharing;
    bool is_two;
  };
  struct Host {
    std::string name, role;
    int node;
    std::vector<int> up, inner;
  };
  std::string crossed(int link, bool up) const;
  std::string way(const Host& from, const Host& to) const;

  std::vector<Link> links_;
  std::vector<Host> hosts_;
  int core_ = -1;
};

}  // namespace syncline::reference
