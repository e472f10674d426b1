#include "sim/engine/processor.h"

#include <simgrid/Exception.hpp>

#include "sim/schedule.h"
#include "sim/setup/setup.h"

namespace syncline {

// Every call into SimGrid lets other actors run, at the same simulated time. So these functions
// note the state of a computation before a call, and check it again afterwards.

Processor::Processor(const Setup& setup)
    : slowdown_(setup.scenario.slowdown_beside_collectives()),
      always_alone_(!setup.traffic.compression.on() && setup.profiles.shown_s == 0 &&
                    setup.scenario.schedule->answer == nullptr) {}

void Processor::compute(double flop) {
  if (slowdown_ == 0) {
    // Sleeping is cheaper for SimGrid than an execution, but takes 1e-9 s at least.
    constexpr double sleeps_from_s = 1e-6;
    const double alone_s = flop / sg::this_actor::get_host()->get_speed();
    if (always_alone_ && alone_s >= sleeps_from_s)
      sg::this_actor::sleep_for(alone_s);
    else
      sg::this_actor::execute(flop);
    return;
  }
  const auto own = std::make_shared<Computation>(Computation{.left_flop = flop});
  struct Listed {
    std::vector<std::shared_ptr<Computation>>& all;
    std::shared_ptr<Computation> one;
    ~Listed() { std::erase(all, one); }  // also if the run ends with an error
  };
  const Listed listed{under_way_, own};
  under_way_.push_back(own);
  while (own->left_flop > 0) {
    own->factor = factor();
    own->activity = sg::this_actor::exec_async(own->left_flop * own->factor);
    if (factor() != own->factor) {
      own->activity->cancel();
      continue;
    }
    try {
      own->activity->wait();
      own->left_flop = 0;
    } catch (const simgrid::CancelException&) {
      // The rest goes on at another rate.
    }
  }
}

void Processor::change_collectives(int more) {
  const double before = factor();
  collectives_ += more;
  if (factor() == before)
    return;
  const auto now_under_way = under_way_;
  for (const std::shared_ptr<Computation>& one : now_under_way) {
    const sg::ExecPtr activity = one->activity;
    if (activity == nullptr)
      continue;
    const double left_flop = activity->get_remaining();
    if (left_flop <= 0 || one->activity != activity)  // it ends now, or has begun anew
      continue;
    one->left_flop = left_flop / one->factor;
    activity->cancel();
  }
}

}  // namespace syncline
