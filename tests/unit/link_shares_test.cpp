// Rates of flows that share links, against max-min fairness worked out flow by flow.
#include "sim/traffic/link_shares.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sim/platform/routes.h"

namespace syncline {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct TestLink {
  double Bps;
  bool fatpipe = false;
};

// Hosts 2i and 2i + 1 are the ends of way i.
struct Ways {
  std::vector<TestLink> links;
  std::vector<std::vector<int>> ways;
};

Platform platform_of(const Ways& made) {
  Platform platform;
  for (std::size_t host = 0; host < 2 * made.ways.size(); ++host) {
    platform.hosts.push_back({.name = std::to_string(host)});
    platform.place_of[std::to_string(host)] = static_cast<int>(host);
  }
  platform.path = [&made](int from, int) { return LinkPath{.links = made.ways[index(from / 2)]}; };
  platform.link = [&made](int link) {
    return PlatformLink{.name = std::to_string(link),
                        .bandwidth = made.links[index(link)].Bps,
                        .fatpipe = made.links[index(link)].fatpipe};
  };
  platform.link_latency_s = [](int) { return 0.0; };
  return platform;
}

std::vector<std::string> hosts_of(const Platform& platform) {
  std::vector<std::string> names;
  for (const HostFacts& host : platform.hosts)
    names.push_back(host.name);
  return names;
}

struct MovingFlow {
  int way;
  double left;
  double Bps = -1;
};

// Progressive filling: all rates grow together; a flow stops where one of its links is full, or
// where a FATPIPE link on its way limits it.
void fill(const Ways& made, std::vector<MovingFlow>& flows) {
  std::vector<double> left;
  for (const TestLink& link : made.links)
    left.push_back(link.Bps);
  for (MovingFlow& flow : flows)
    flow.Bps = -1;
  const auto crossings = [&](const MovingFlow& flow, std::size_t link) {
    return std::ranges::count(made.ways[index(flow.way)], static_cast<int>(link));
  };
  while (std::ranges::any_of(flows, [](const MovingFlow& flow) { return flow.Bps < 0; })) {
    double least = never;
    MovingFlow* stops = nullptr;
    for (MovingFlow& flow : flows)
      for (std::size_t link = 0; link < left.size() && flow.Bps < 0; ++link) {
        if (crossings(flow, link) == 0)
          continue;
        double users = 1;
        if (!made.links[link].fatpipe) {
          users = 0;
          for (const MovingFlow& other : flows)
            users += other.Bps < 0 ? static_cast<double>(crossings(other, link)) : 0;
        }
        if (left[link] / users < least) {
          least = left[link] / users;
          stops = &flow;
        }
      }
    stops->Bps = least;
    for (std::size_t link = 0; link < left.size(); ++link)
      if (!made.links[link].fatpipe)
        left[link] -= least * static_cast<double>(crossings(*stops, link));
  }
}

// Lets flows begin at drawn moments until all have ended, and compares when each ends.
void compare(const Ways& made, std::mt19937& draws, bool bandwidth_changes) {
  Ways now = made;
  const Platform platform = platform_of(made);
  Routes routes(platform, hosts_of(platform));
  std::vector<Route> route;
  for (std::size_t way = 0; way < made.ways.size(); ++way)
    route.push_back(routes.between(static_cast<int>(2 * way), static_cast<int>(2 * way + 1)));
  LinkShares shares(routes);
  std::map<int, MovingFlow> flows;
  const auto draw = [&](std::size_t n) { return static_cast<int>(draws() % n); };
  int begun = 0;
  while (begun < 60 || !flows.empty()) {
    std::vector<MovingFlow> moving;
    for (const auto& [number, flow] : flows)
      moving.push_back(flow);
    fill(now, moving);
    double ends_s = never;
    std::size_t i = 0;
    for (auto& [number, flow] : flows) {
      flow.Bps = moving[i++].Bps;
      ends_s = std::min(ends_s, flow.left / flow.Bps);
    }
    if (flows.empty())
      ASSERT_EQ(shares.next_end_s(), never);
    else
      ASSERT_NEAR(shares.next_end_s() / ends_s, 1, 1e-6);
    const bool begins = begun < 60 && (flows.empty() || draw(2) == 0);
    const double seconds = flows.empty() ? 0 : begins ? ends_s * 0.25 * draw(4) : ends_s;
    for (const int number : shares.pass(begins ? seconds : shares.next_end_s())) {
      ASSERT_NEAR(flows.at(number).left / (flows.at(number).Bps * seconds), 1, 1e-6);
      flows.erase(number);
    }
    for (auto& [number, flow] : flows)
      flow.left -= flow.Bps * seconds;
    for (const auto& [number, flow] : flows)
      ASSERT_GT(flow.left, -1e-3) << "a flow should have ended";
    if (bandwidth_changes && draw(4) == 0) {
      const int link = draw(made.links.size());
      const auto numbered =
          std::ranges::find(routes.links(), std::to_string(link), &PlatformLink::name);
      if (numbered != routes.links().end()) {
        now.links[index(link)].Bps = 1e6 * (1 + draw(9));
        shares.set_bandwidth(static_cast<int>(numbered - routes.links().begin()),
                             now.links[index(link)].Bps);
      }
    }
    for (int k = begins ? 1 + draw(5) : 0; k > 0 && begun < 60; --k, ++begun) {
      const MovingFlow flow{.way = draw(made.ways.size()), .left = 1e5 * (1 + draw(40))};
      flows[begun] = flow;
      shares.add(route[index(flow.way)], flow.left, begun);
    }
  }
  EXPECT_EQ(shares.next_end_s(), never);
}

// Cards of nodes, a bus for each worker, sometimes a switch; equal widths on purpose, so that links
// bound each other, and ways within a node, which cross no card.
Ways drawn_ways(std::mt19937& draws) {
  const auto draw = [&](std::size_t n) { return static_cast<int>(draws() % n); };
  const std::vector<double> widths{1e6, 1e6, 2e6, 3.7e6, 1e7};
  Ways made;
  const auto link = [&](double Bps) {
    made.links.push_back({.Bps = Bps, .fatpipe = draw(8) == 0});
    return static_cast<int>(made.links.size()) - 1;
  };
  const int nodes = 2 + draw(4);
  std::vector<int> up, down, bus;
  for (int node = 0; node < nodes; ++node) {
    up.push_back(link(widths[index(draw(widths.size()))]));
    down.push_back(link(widths[index(draw(widths.size()))]));
    for (int worker = 0; worker < 2; ++worker)
      bus.push_back(link(widths[index(draw(widths.size()))] * (1 + 4 * draw(2))));
  }
  const int core = link(3e6);
  for (int way = 0; way < 14; ++way) {
    const int from = draw(bus.size()), to = draw(bus.size());
    std::vector<int> links{bus[index(from)]};
    if (from / 2 != to / 2) {
      links.push_back(up[index(from / 2)]);
      if (draw(3) == 0)
        links.push_back(core);
      links.push_back(down[index(to / 2)]);
    }
    links.push_back(bus[index(to)]);  // the same again where it sends to itself
    if (draw(6) == 0)
      links.push_back(links.front());  // twice, or three times
    made.ways.push_back(links);
  }
  return made;
}

TEST(LinkShares, AreMaxMinFairOnDrawnPlatforms) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 draws(seed);
    const Ways made = drawn_ways(draws);
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(compare(made, draws, seed % 3 == 0));
  }
}

TEST(LinkShares, LeaveToOthersWhatANarrowLinkHoldsBack) {
  // Two flows on a card of 10 B/s, one of them over a bus of 2 B/s: 2 and 8 B/s.
  const Ways made{.links = {{10}, {2}}, .ways = {{0}, {0, 1}}};
  const Platform platform = platform_of(made);
  Routes routes(platform, hosts_of(platform));
  const Route alone = routes.between(0, 1), narrow = routes.between(2, 3);
  LinkShares shares(routes);
  shares.add(alone, 80, 7);
  shares.add(narrow, 40, 8);
  EXPECT_DOUBLE_EQ(shares.next_end_s(), 10);
  EXPECT_EQ(shares.pass(4), std::vector<int>{});
  shares.set_bandwidth(routes.between(2, 3).links[1], 5);  // 5 and 5 B/s: 48 and 32 bytes are left
  EXPECT_DOUBLE_EQ(shares.next_end_s(), 32.0 / 5);
  EXPECT_EQ(shares.pass(32.0 / 5), std::vector<int>{8});
  EXPECT_DOUBLE_EQ(shares.next_end_s(), (48.0 - 32) / 10);
}

TEST(LinkShares, EndTogetherInTheOrderInWhichTheyBegan) {
  const Ways made{.links = {{10}, {10}}, .ways = {{0}, {1}, {0}}};
  const Platform platform = platform_of(made);
  Routes routes(platform, hosts_of(platform));
  const Route first = routes.between(0, 1), second = routes.between(2, 3);
  LinkShares shares(routes);
  shares.add(first, 10, 5);
  shares.add(second, 20, 3);
  shares.add(first, 10, 4);
  EXPECT_EQ(shares.pass(shares.next_end_s()), (std::vector<int>{5, 3, 4}));
}

}  // namespace
}  // namespace syncline
