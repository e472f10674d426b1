#include "sim/clock/require_arithmetic.h"

#include <stdexcept>

#include "sim/catalogue/network.h"
#include "sim/schedule.h"

namespace syncline {

void refuse_analytic(const std::string& why) {
  throw std::runtime_error("fidelity = analytic: " + why + "; allowed are flow, step and auto");
}

void require_arithmetic(const Setup& setup) {
  const Schedule& schedule = *setup.scenario.schedule;
  if (schedule.server != nullptr)
    refuse_analytic("schedule " + schedule.name +
                    " has servers, whose queues decide what its workers do");
  if (setup.learning_task != nullptr)
    refuse_analytic("the learned parameters depend on the order of messages");
  if (setup.profiles.shown_s > 0)
    refuse_analytic(
        "the platform has profiles, so the time of an exchange depends on when it begins");
  if (!setup.scenario.network->latency_after_flow)
    refuse_analytic("network = " + setup.scenario.network->name +
                    " has no closed form, only network = exact has one");
  if (setup.traffic.compression.warms_up())
    refuse_analytic("warm-up-densities changes the sizes of exchanges in the first epochs");
  if (setup.traffic.compression.one_worker_of_each_table().size() > 1)
    refuse_analytic("workers with different cost tables compress for different times");
  if (!setup.tensors.empty() && setup.scenario.jitter > 0)
    refuse_analytic("fusion-cycle with jitter changes the groups of tensors in each iteration");
}

}  // namespace syncline
