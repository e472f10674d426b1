// Rates and ends of flows that move side by side.
#pragma once

#include <vector>

#include "sim/platform/routes.h"

namespace syncline {

// Flows share each link equally. The part that a flow cannot use, because another link on its way
// is narrower, is left to the others (max-min). A FATPIPE link limits each flow by itself.
class LinkShares {
 public:
  explicit LinkShares(Routes& routes) : routes_(routes) {}

  // The caller's data about a flow, returned when the flow ends.
  struct Owner {
    int stream = 0;
    int mailbox = 0;
    double latency_s = 0;
  };
  // The route must outlive the flow.
  void add(const Route& route, double bytes, const Owner& owner);
  double next_end_s();  // seconds until the next flow ends; infinite if there is none
  // Lets this time pass, at most until the next flow ends, and returns the flows that have ended.
  std::vector<Owner> pass(double seconds);
  double updates() const { return updates_; }  // of flows and links, so far

 private:
  struct Flow {
    const Route* route;
    double bytes;
    double left;
    double rate = 0;
    bool fixed = false;
    Owner owner;
  };
  struct Link {
    double left_Bps = 0;
    int flows = 0;  // flows that have no rate yet
  };
  void share();
  void fix(Flow& flow, double rate);

  Routes& routes_;
  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<int> used_;  // links in use
  bool changed_ = false;
  double updates_ = 0;
};

}  // namespace syncline
