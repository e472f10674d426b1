#include "sim/options/learning.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/io/text.h"
#include "sim/options/rows.h"
#include "sim/problem.h"

namespace syncline {
namespace {

// Names of a problem together with its data.
const std::map<std::string, std::string> other_names{{"digits", "mlp"}};

// Defaults unless the problem has its own.
const std::map<std::string, std::string> defaults{{"data", "digits"},
                                                  {"learning-rate", "0.1"},
                                                  {"learning-rate-schedule", "constant"},
                                                  {"learning-rate-warm-up", "0"},
                                                  {"momentum", "0"},
                                                  {"weight-decay", "0"},
                                                  {"clip-norm", "0"},
                                                  {"staleness-rate", "workers"},
                                                  {"rate-in-residual", "off"},
                                                  {"held-out", "test"},
                                                  {"skew", "none"},
                                                  {"evaluate-every", "epoch"}};

using RateSchedule = Learning::RateSchedule;

Target target_of(const std::string& text) {
  const std::string allowed = ": allowed are accuracy:X with X from 0 to 1, or loss:X";
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "accuracy" && kind != "loss"))
    throw std::invalid_argument("until = " + brief(text) + allowed);
  const bool is_accuracy = kind == "accuracy";
  return {.is_accuracy = is_accuracy,
          .value = checked_number(
              number("until = " + kind, "", "", is_accuracy ? 0 : -1e18, is_accuracy ? 1 : 1e18),
              text.substr(colon + 1))};
}

std::string problem_names() {
  std::vector<std::string> names = Registered<Problem>::names();
  for (const auto& [name, problem] : other_names)
    names.push_back(name);
  return listed(names);
}

const Problem& problem_of(const std::string& word) {
  const auto other = other_names.find(word);
  const auto& all = Registered<Problem>::all();
  const auto found = all.find(other == other_names.end() ? word : other->second);
  if (found == all.end())
    throw std::invalid_argument("unknown problem '" + brief(word) + "': allowed are " +
                                problem_names());
  return found->second;
}

// A compressor with its own momentum gets the momentum of gradients; the changes that workers send
// after steps alone already include it. Workers clip the whole gradient themselves, so the
// compressor does not clip each bucket.
void hand_to_compressor(Scenario& scenario) {
  if (!scenario.compresses() || scenario.compressor->momentum.with == nullptr)
    return;
  const OwnMomentum& own = scenario.compressor->momentum;
  scenario.compressor_settings =
      own.unclipped(own.with(scenario.compressor_settings,
                             scenario.schedule->round == nullptr ? scenario.learning.momentum : 0));
}

}  // namespace

std::vector<Option> learning_options() {
  return {
      selecting(row("learn", nullptr, "", Role::learning,
                    "problem that is trained under simulated time: digits (mlp on them), or see "
                    "`syncline list`",
                    "Real gradients move with the messages, so a result has loss and accuracy "
                    "against simulated seconds.",
                    "digits")),
      row("data", &Learning::data, "", Role::learning,
          "digits, generated, fashion-mnist, or a folder with MNIST's or CIFAR-10's files [digits]",
          "MNIST's IDX files and CIFAR-10's binary ones are read from a folder, also with .gz "
          "(models/data/images.py says where they are), and standardised; digits come with the "
          "program, fashion-mnist with Debian's package dataset-fashion-mnist.",
          "generated --learn softmax"),
      row("held-out", &Learning::validates, Words<bool>{{"test", false}, {"validation", true}}, "",
          Role::learning,
          "samples for accuracy: the data's test samples, or as many taken from training [test]",
          "Choices of best-of by validation have not seen the test samples, so a second run of the "
          "choice can be reported by these.",
          "validation --learn digits"),
      row("learning-rate", &Learning::rate, numbers(0, 1e6), "", Role::choice,
          "of a gradient averaged over all workers [the problem's]",
          "Each worker's gradient is weighted by this rate over the number of workers, unless "
          "staleness-rate is inverse. A loss that is not a number, or above 1,000 times the loss "
          "at the start, has diverged.",
          "0.05 --learn digits"),
      row("learning-rate-schedule", &Learning::rate_schedule,
          {{"constant", RateSchedule::constant},
           {"step", RateSchedule::step},
           {"cosine", RateSchedule::cosine}},
          "", Role::choice,
          "constant, a tenth at 1/2 and at 3/4 of the run, or half a cosine [constant]",
          "The run's length is `iterations`, or 50 epochs. With backup, which drops gradients, it "
          "is counted in updates.",
          "cosine --learn digits"),
      row("learning-rate-warm-up", &Learning::rate_warm_up_epochs, numbers(0, 1e6), "",
          Role::choice, "epochs in which the rate rises linearly from learning-rate / workers [0]",
          "Many workers then begin with the rate of one (Goyal et al. 2017).", "5 --learn digits"),
      row("momentum", &Learning::momentum, numbers(0, 1), "", Role::choice,
          "of the optimizer, or of the compressor dgc [the problem's]",
          "With dgc it is the compressor's own momentum correction.", "0.9 --learn digits"),
      row("weight-decay", &Learning::weight_decay, numbers(0, 1), "", Role::choice,
          "times the parameters, added to every gradient [the problem's]",
          "It is applied where gradients are applied: by workers or by servers.",
          "1e-4 --learn digits"),
      row("clip-norm", &Learning::clip_norm, numbers(0, 1e18), "", Role::choice,
          "largest 2-norm of a gradient, larger ones are scaled down; 0: any [0]",
          "Each worker clips its own gradient, before anything is compressed.", "1 --learn digits"),
      row("staleness-rate", &Learning::inverse_staleness,
          Words<bool>{{"workers", false}, {"inverse", true}}, "", Role::choice,
          "weight of a gradient: learning-rate / workers, or / max(1, staleness) [workers]",
          "Stale gradients then change less: the rule of n-softsync (Zhang et al. 2016), whose "
          "default is inverse.",
          "inverse --learn digits --schedule asp"),
      row("rate-in-residual", &Learning::rate_in_residual, on_or_off, "", Role::choice,
          "gradients are weighted before they are compressed [off]",
          "Residuals then keep the rate at which they were computed, as in the TopK paper.",
          "on --learn digits"),
      row("skew", &Learning::skew, numbers(1e-3, 1e6, "none"), "", Role::question,
          "Dirichlet concentration of each worker's labels: small is uneven [none]",
          "Each worker then has its own samples, with its own mix of labels.",
          "0.5 --learn digits"),
      row("learning-batch", &Learning::batch, whole(1, 1e9), "", Role::learning,
          "samples of a gradient that is learned from [batch x accumulation]",
          "The simulated times may be for larger batches than a small problem can learn with.",
          "16 --learn digits --batch 256 --throughput 1000"),
      row("evaluate-every", &Learning::evaluate_every, whole(1, 1e15, "epoch"), "", Role::run,
          "samples applied between two points of the curve [epoch]",
          "Evaluating takes no simulated time, but real time.", "320 --learn digits"),
      row(
          "until", [](Scenario& s, const std::string& v) { s.learning.until = target_of(v); }, "",
          Role::learning, "ends the run: accuracy:X (held out) or loss:X (training)",
          "A result then says when the target was first met.", "accuracy:0.9 --learn digits"),
  };
}

bool is_learning_option(const std::string& name) {
  static const std::vector<Option> all = learning_options();
  return std::ranges::find(all, name, &Option::name) != all.end();
}

void find_problem(const GivenOptions& given, Scenario& scenario) {
  const std::string& word = scenario.written["learn"];
  if (word.empty())
    return;
  scenario.learning.problem = &problem_of(word);
  for (const auto* source : {&defaults, &scenario.learning.problem->defaults})
    for (const auto& [name, fallback] : *source)
      if (!given.contains(name)) {
        scenario.written[name] = fallback;
        option_called(name).set(scenario, fallback);
      }
}

void resolve_learning(const GivenOptions& given, Scenario& scenario,
                      std::vector<Conflict>& conflicts) {
  Learning& learning = scenario.learning;
  if (!scenario.learns()) {
    for (const Option& option : learning_options())
      if (given.contains(option.name) &&
          (!scenario.compresses() || !declares(scenario.compressor->options, option.name)))
        conflicts.push_back(
            {option.name,
             option.name + " means nothing without learn: give learn, " + problem_names()});
    return;
  }
  if (learning.inverse_staleness && !scenario.schedule->servers_step())
    conflicts.push_back({"staleness-rate", "staleness-rate = inverse: with schedule " +
                                               scenario.schedule->name +
                                               " no gradient is stale; allowed is workers"});
  if (learning.inverse_staleness && learning.rate_in_residual)
    conflicts.push_back({"rate-in-residual",
                         "rate-in-residual = on with staleness-rate = inverse: a gradient's "
                         "staleness is not known when it is compressed; allowed is off",
                         Conflict::LeftOut::cell});
  if (scenario.schedule->round != nullptr && learning.rate_in_residual)
    conflicts.push_back({"rate-in-residual",
                         "rate-in-residual = on: with schedule " + scenario.schedule->name +
                             " workers send changes, which have the rate in them; allowed is off"});
  hand_to_compressor(scenario);
}

}  // namespace syncline
