#include "sim/platform/hosts.h"

#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {

bool uses_node_hosts(const Scenario& scenario) {
  const Schedule::Partners partners = scenario.schedule->partners();
  const bool averages = scenario.exchange != nullptr && scenario.exchange->uses_servers;
  const bool serves = partners == Schedule::Partners::servers || averages;
  return partners == Schedule::Partners::aggregators || (serves && scenario.servers == 0);
}

}  // namespace syncline
