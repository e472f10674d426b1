// Flows that move side by side: how fast each is, and which end next.
#pragma once

#include <vector>

#include "sim/platform/routes.h"

namespace syncline {

// Flows share each link equally, and what one cannot use, because another link is narrower, is left
// to the others (max-min). A FATPIPE link limits each by itself.
class LinkShares {
 public:
  explicit LinkShares(Routes& routes) : routes_(routes) {}

  // The flow is of this stream; kept for the caller.
  struct Owner {
    int stream = 0;
    int mailbox = 0;
    double latency_s = 0;
  };
  // The route stays where it is.
  void add(const Route& route, double bytes, const Owner& owner);
  double next_end_s();  // seconds until the next flow ends; infinite if there is none
  // Lets so many seconds pass, at most until the next flow ends, and returns those that have ended.
  std::vector<Owner> pass(double seconds);
  double updates() const { return updates_; }  // of a flow or a link, so far

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
    int flows = 0;  // that have no rate yet
  };
  void share();
  void fix(Flow& flow, double rate);

  Routes& routes_;
  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<int> used_;  // of these
  bool changed_ = false;
  double updates_ = 0;
};

}  // namespace syncline
