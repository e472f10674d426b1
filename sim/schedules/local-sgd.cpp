// Local SGD: workers take some steps alone, each with its own gradients, and then average their
// parameters (McMahan et al. 2017, FedAvg; Stich 2019). The averaged value is the change of the
// parameters since the last average. A separate outer optimizer applies this change: with
// outer-learning-rate = 0.7 and outer-momentum = 0.9 (Nesterov's) as in DiLoCo (Douillard et al.
// 2023), except that DiLoCo's workers step with AdamW and these with SGD; with 1 and 0 as a plain
// average. Instead of a worker a `replica` may step alone, whose workers average every gradient
// (hierarchical local SGD, Lin et al. 2020; DiLoCo's islands). Steps may go on while an average is
// under way (`average-delay`). When the average arrives, a worker adds the change of its own steps
// since the average was started (CoCoD-SGD, Shen et al. 2019; DaSGD, Zhou et al. 2020), or takes a
// mean of its own parameters and the average (`average-mixing`; Streaming DiLoCo, Douillard et al.
// 2025, without its fragments).
#include <cmath>

#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

std::optional<Among> replica(const Settings& settings) {
  const std::string& word = settings.word("replica");
  if (word == "worker")
    return std::nullopt;
  return word == "node" ? Among::node : Among::site;
}

int delay(const Settings& settings) {
  return static_cast<int>(settings.number(average_delay_name));
}

// The weight of a worker's own parameters; none: the change of its own parameters is added.
std::optional<double> mixing(const Settings& settings) {
  const double own = settings.number("average-mixing");
  return std::isfinite(own) ? std::optional(own) : std::nullopt;
}

int round(const Settings& settings) {
  return static_cast<int>(settings.number("local-steps"));
}

// A plain average needs no earlier average in memory: the parameters themselves may be averaged.
std::vector<std::string> keeps(const Settings& settings, bool compressed) {
  std::vector<std::string> all;
  const bool momentum = settings.number("outer-momentum") > 0;
  if (compressed || momentum || settings.number("outer-learning-rate") != 1 || delay(settings) > 0)
    all.emplace_back("last average");
  if (momentum)
    all.emplace_back("outer momentum");
  return all;
}

std::optional<Misfit> misfit(const Settings& settings, const Exchange& exchange) {
  if (delay(settings) >= round(settings))
    return Misfit{average_delay_name,
                  std::to_string(delay(settings)) +
                      ": allowed is less than local-steps = " + std::to_string(round(settings))};
  if (replica(settings) && exchange.uses_servers)
    return Misfit{"replica", settings.word("replica") + ": exchange " + exchange.name +
                                 " averages over all workers; allowed is worker"};
  return std::nullopt;
}

void worker(Worker& worker) {
  const Settings& settings = worker.settings();
  const double rate = settings.number("outer-learning-rate");
  const double momentum = settings.number("outer-momentum");
  const std::optional<Among> own = replica(settings);
  bool averaging = false;
  int steps = 0;  // in this round
  const auto take_average = [&] {
    averaging = false;
    worker.finish_averages();
    worker.step_together(rate, momentum, mixing(settings));
  };
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      if (own)
        worker.start_average(bucket, *own);
    }
    if (own)
      worker.finish_averages(*own);
    worker.step_alone();
    if (++steps == round(settings)) {
      steps = 0;
      averaging = true;
      for (const Bucket& bucket : worker.buckets())
        worker.start_average(bucket);
    }
    if (averaging && steps == delay(settings))
      take_average();
  }
  if (averaging)
    take_average();
}

const Registered<Schedule> entry{{
    .name = "local-sgd",
    .sentence = "workers take `local-steps` steps alone, then all average their parameters",
    .help = {.more = "It communicates once in `local-steps` iterations; in between workers drift "
                     "apart, which costs accuracy. Workers step with SGD; DiLoCo's step with "
                     "AdamW, and its outer optimizer is this one with 0.7 and 0.9. `replica = "
                     "site` averages every gradient inside a site, and once a round across sites.",
             .paper = "Stich, ICLR 2019; outer optimizer: DiLoCo, Douillard et al., arXiv "
                      "2311.08105; average-delay: CoCoD-SGD, Shen et al., IJCAI 2019, arXiv "
                      "1906.12043, and DaSGD, Zhou et al., arXiv 2006.00441; average-mixing: "
                      "Streaming DiLoCo, Douillard et al., arXiv 2501.18512"},
    .options = {whole_number("local-steps",
                             "iterations between two averages; runs are whole rounds of these", "8",
                             1, 1e6),
                number("outer-learning-rate", "how much of the average change is applied", "1", 0,
                       1e6),
                number("outer-momentum", "Nesterov momentum of the average changes", "0", 0, 1),
                choice("replica",
                       "the unit that steps alone: a worker, or the workers of a node or site "
                       "(host property `site`), which average every gradient, uncompressed",
                       "worker", {"worker", "node", "site"}),
                whole_number(average_delay_name,
                             "iterations that go on while an average is under way, before it is "
                             "applied; less than local-steps",
                             "0", 0, 1e6),
                or_word(
                    number("average-mixing",
                           "weight a of a worker's own parameters when an average has come: it "
                           "goes on with a x its own + (1 - a) x the average; changes: with the "
                           "average plus the change of its own steps since the average was started",
                           "changes", 0, 1),
                    "changes")},
    .round = [](const Settings& settings, int) { return round(settings); },
    .replica = replica,
    .keeps = keeps,
    .misfit = misfit,
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
