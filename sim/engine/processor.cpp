#include "sim/engine/processor.h"

#include <simgrid/Exception.hpp>

namespace syncline {

// Every call into SimGrid lets other actors run, at the same simulated time. So these functions
// note the state of a computation before a call, and check it again afterwards.

Processor::Processor(const Setup& setup)
    : slowdown_(setup.scenario.slowdown_beside_collectives()),
      always_alone_(!setup.traffic.compression.on() && setup.profiles.shown_s == 0) {}

void Processor::compute(double flop) {
  // SimGrid sleeps 1e-9 s at least, so only longer computations sleep.
  constexpr double sleeps_from_s = 1e-6;
  const double seconds = flop / sg::this_actor::get_host()->get_speed();
  if (slowdown_ == 0 && always_alone_ && seconds >= sleeps_from_s) {  // cheaper than an execution
    sg::this_actor::sleep_for(seconds);
    return;
  }
  if (slowdown_ == 0) {
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
