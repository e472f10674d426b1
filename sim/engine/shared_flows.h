// Messages on their way, whose rates LinkShares works out, at SimGrid's clock. SimGrid's own
// network gives the same rates, but looks at every flow that shares a link, directly or through
// others, whenever one begins or ends: with a thousand flows that all meet it takes thirty times as
// long. Where a link's bandwidth changes, SimGrid 3.32 goes on to limit a flow by what its links
// carried when it began; here it is limited by what they carry now.
#pragma once

#include <cstdint>
#include <functional>
#include <simgrid/kernel/Timer.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/setup/setup.h"
#include "sim/traffic/link_shares.h"

namespace syncline {

class SharedFlows {
 public:
  // Whether these move the messages of a run: with `fidelity = flow`, and where profiles change
  // bandwidths, on networks whose latency comes after the flow.
  static bool move_messages_of(const Setup& setup);

  explicit SharedFlows(Routes routes) : routes_(std::move(routes)), shares_(routes_) {}
  SharedFlows(const SharedFlows&) = delete;
  SharedFlows& operator=(const SharedFlows&) = delete;

  // Ends everything: no `ended` runs any more.
  void stop();
  // Begins a flow between ranks on two hosts. `ended`, which must not wait, runs in no actor when
  // its last byte has passed.
  void begin(int from, int to, double bytes, std::function<void()> ended);

 private:
  struct Start {
    const Route* route;
    double bytes;
    std::function<void()> ended;
  };

  void wake_at(double at_s);
  // Ends flows, begins those that wait for it, and waits for what comes next.
  void go_on();
  void begin(Start start);
  // Sets the bandwidth of links that have changed; returns when one changes next.
  double follow_profiles(double now_s);

  Routes routes_;
  LinkShares shares_;
  std::unordered_map<std::uint64_t, Route> route_of_;  // by rank and rank
  std::vector<Start> starts_;                          // at this moment
  std::vector<std::function<void()>> ended_;           // by number of the flow
  std::vector<int> free_;                              // numbers that no flow has
  std::size_t links_seen_ = 0;
  std::vector<std::pair<int, double>> changing_;  // of these, with when each changes next
  double shared_s_ = 0;                           // until when flows have moved
  simgrid::kernel::timer::Timer* timer_ = nullptr;
  bool stopped_ = false;
};

}  // namespace syncline
