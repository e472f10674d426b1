// Local SGD: workers take some steps alone, each with its own gradients, and then average their
// parameters (McMahan et al. 2017, FedAvg; Stich 2019). What is averaged is how much the parameters
// have changed since the last average; an optimizer of its own applies that: with
// outer-learning-rate = 0.7 and outer-momentum = 0.9 (Nesterov's) as in DiLoCo (Douillard et al.
// 2023), whose own steps are AdamW's where these are SGD's; with 1 and 0 the plain average.
#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void worker(Worker& worker) {
  const double local_steps = worker.settings().number("local-steps");
  const double rate = worker.settings().number("outer-learning-rate");
  const double momentum = worker.settings().number("outer-momentum");
  int steps = 0;  // since the last average
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets())
      worker.backward(bucket);
    worker.step_alone();
    if (++steps < local_steps)
      continue;
    steps = 0;
    for (const Bucket& bucket : worker.buckets())
      worker.start_average(bucket);
    worker.finish_averages();
    worker.step_together(rate, momentum);
  }
}

const Registered<Schedule> entry{{
    .name = "local-sgd",
    .sentence = "everybody takes `local-steps` steps alone, then all average their parameters",
    .help = {.more =
                 "It communicates once in `local-steps` iterations; in between workers drift "
                 "apart, which costs accuracy. Steps alone are SGD's; DiLoCo's are AdamW's, its "
                 "outer optimizer is this one with 0.7 and 0.9.",
             .paper = "Stich, ICLR 2019; outer optimizer: DiLoCo, Douillard et al., arXiv "
                      "2311.08105"},
    .options = {whole_number("local-steps",
                             "iterations between two averages; runs are whole rounds of these", "8",
                             1, 1e6),
                number("outer-learning-rate", "how much of the average change is applied", "1", 0,
                       1e6),
                number("outer-momentum", "Nesterov momentum of the average changes", "0", 0, 1)},
    .round =
        [](const Settings& settings) { return static_cast<int>(settings.number("local-steps")); },
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
