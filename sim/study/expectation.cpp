#include "sim/study/expectation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "kernels/io/text.h"
#include "sim/options/options.h"
#include "sim/report/figures.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"

namespace syncline {

const std::vector<std::string> noted_inputs{"options",         "platform_file",   "model_file",
                                            "throughput_file", "cost_table_file", "data_file",
                                            "fidelity",        "simgrid"};

namespace {

constexpr double rounding = 1e-6;

std::optional<double> number_of(const Notes& notes, const std::string& name) {
  const auto found = notes.find(name);
  const auto number = found == notes.end() ? std::nullopt : number_in(found->second);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string part_shown(double part) {
  return fmt::format("{:+.{}g} %", 100 * part, std::abs(part) < 0.095 ? 2 : 3);
}

// "12.3 ms -> 15.1 ms", with the digits that differ.
std::string change_shown(double before_s, double now_s) {
  std::string before = seconds_shown(before_s);
  std::string now = seconds_shown(now_s);
  if (before == now) {
    before = fmt::format("{:.6g} s", before_s);
    now = fmt::format("{:.6g} s", now_s);
  }
  return before + " -> " + now;
}

// Says which part of an iteration moved most, and others that moved a fifth of that or more.
std::string parts_moved(const Notes& before, const Notes& now) {
  struct Moved {
    std::string words;
    double before_s;
    double now_s;
    double by_s() const { return std::abs(now_s - before_s); }
  };
  std::vector<Moved> moved;
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::part))
      if (const auto old = number_of(before, figure.name), own = number_of(now, figure.name);
          old && own)
        moved.push_back({figure.traits.words, *old, *own});
  const auto old_s = number_of(before, "iteration_mean_s");
  const auto now_s = number_of(now, "iteration_mean_s");
  if (moved.empty() || !old_s || !now_s)
    return {};
  std::ranges::stable_sort(moved, [](auto& a, auto& b) { return a.by_s() > b.by_s(); });
  if (moved.front().by_s() <= rounding * *old_s)
    return "no part of an iteration moved";
  std::string text = fmt::format("moved by {}, {} of an iteration ({})", moved.front().words,
                                 change_shown(moved.front().before_s, moved.front().now_s),
                                 change_shown(*old_s, *now_s));
  for (std::size_t i = 1; i < moved.size(); ++i)
    if (moved[i].by_s() >= 0.2 * moved.front().by_s())
      text += "; " + moved[i].words + " " + change_shown(moved[i].before_s, moved[i].now_s);
  return text;
}

// Says what moved of the work that network and devices have in an iteration.
std::string loads_moved(const Notes& before, const Notes& now) {
  std::string text;
  for (const Figure& figure : figure_rows()) {
    if (!figure.has(Figure::explains) || figure.has(Figure::part) || figure.traits.words.empty())
      continue;
    const auto old = number_of(before, figure.name);
    const auto own = number_of(now, figure.name);
    if (!old || !own || std::abs(*own - *old) <= rounding * std::abs(*old))
      continue;
    text += (text.empty() ? "" : "; ") + figure.traits.words + " " +
            (*old == 0 ? fmt::format("0 -> {:.4g}", *own) : part_shown(*own / *old - 1));
  }
  return text;
}

std::map<std::string, std::string> options_in(const std::string& text) {
  std::map<std::string, std::string> options;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("; ", begin), text.size());
    const std::string option = text.substr(begin, end - begin);
    const std::size_t equals = option.find('=');
    options[option.substr(0, equals)] =
        equals == std::string::npos ? "" : option.substr(equals + 1);
    begin = end + 2;
  }
  return options;
}

// An option that there was not yet is not changed by its default.
bool is_default(const std::string& name, const std::string& value) {
  const Option* option = find_option(name);
  return option != nullptr && option->fallback == value;
}

std::vector<std::string> options_moved(const std::string& before, const std::string& now) {
  std::vector<std::string> moved;
  std::map<std::string, std::string> old = options_in(before);
  for (const auto& [name, value] : options_in(now)) {
    const bool is_new = !old.contains(name);
    const std::string was = old[name];
    old.erase(name);
    if (was != value && !(is_new && is_default(name, value)))
      moved.push_back(fmt::format("option {} {} -> {}", name, was.empty() ? "(none)" : was, value));
  }
  for (const auto& [name, was] : old)
    moved.push_back(fmt::format("option {} {} -> (none)", name, was));
  return moved;
}

// The scenario's options and the files it reads, those that changed.
std::string inputs_moved(const Notes& before, const Notes& now) {
  std::vector<std::string> changed;
  for (const std::string& input : noted_inputs) {
    const auto old = before.find(input);
    const auto own = now.find(input);
    if (old == before.end() || own == now.end() || old->second == own->second)
      continue;
    if (input == "simgrid")
      changed.push_back(fmt::format("SimGrid {} -> {}", old->second, own->second));
    else if (input == "fidelity")
      changed.push_back(fmt::format("simulated as {} -> {}", old->second, own->second));
    else if (input == "options")
      std::ranges::copy(options_moved(old->second, own->second), std::back_inserter(changed));
    else
      std::ranges::replace(changed.emplace_back("the " + input), '_', ' ');
  }
  return changed.empty() ? "" : fmt::format("changed: {}", fmt::join(changed, ", "));
}

// The note of all options of a result: "batch=32; compressor=none; ...".
std::string options_note(const Result& result) {
  std::string text;
  for (const WrittenOption& option : result.options)
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", option.name, option.value);
  return text;
}

// Says which part of an iteration moved, what of the traffic, and which inputs.
std::vector<std::string> explanation(const Notes& before, const Notes& now) {
  std::vector<std::string> sentences;
  for (const std::string& sentence :
       {parts_moved(before, now), loads_moved(before, now), inputs_moved(before, now)})
    if (!sentence.empty())
      sentences.push_back(sentence);
  if (before.contains("options") && inputs_moved(before, now).empty())
    sentences.emplace_back("no option and no file changed: the program did");
  return sentences;
}

}  // namespace

Notes notes_of(const Result& result, const Notes& inputs) {
  Notes notes = inputs;
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::explains))
      notes[figure.name] = figure_text(figure, result);
  notes["options"] = options_note(result);
  notes["fidelity"] = result.provenance.fidelity;
  notes["simgrid"] = result.simgrid;
  return notes;
}

std::vector<std::string> judged_figures() {
  std::vector<std::string> names;
  for (const Figure& figure : figure_rows())
    if (figure.is_number())
      names.push_back(figure.name);
  return names;
}

Verdict judge(const Expectation& expectation, const Result& result, const Notes& before,
              const Notes& now) {
  Verdict verdict{.cell = expectation.cell, .figure = expectation.figure};
  const std::optional<double> figure = value_of(expectation.figure, result);
  const double value = figure.value_or(0);
  bool met = figure.has_value();
  verdict.now = met ? fmt::format("{:.6g}", value) : why_unknown(result, expectation.figure);
  const auto expect = [&](const std::string& text, bool holds) {
    verdict.expected += (verdict.expected.empty() ? "" : ", ") + text;
    met = met && holds;
  };
  if (expectation.tolerance) {
    const double expected = number_of({{"it", expectation.expected}}, "it").value_or(0);
    const double by = expected == 0 ? value : value / expected - 1;
    expect(fmt::format("{:.6g} +- {:.3g} %", expected, 100 * *expectation.tolerance),
           std::abs(by) <= *expectation.tolerance);
    if (figure && std::abs(by) > 1e-12)
      verdict.now += ", " + (expected == 0 ? std::string("not 0") : part_shown(by));
  }
  bool in_bounds = true;
  if (expectation.at_least) {
    in_bounds = value >= *expectation.at_least;
    expect(fmt::format("at least {:.6g}", *expectation.at_least), in_bounds);
  }
  if (expectation.at_most) {
    in_bounds = in_bounds && value <= *expectation.at_most;
    expect(fmt::format("at most {:.6g}", *expectation.at_most), value <= *expectation.at_most);
  }
  if (met)
    return verdict;
  verdict.kind = Verdict::Kind::moved;
  if (!expectation.because.empty())
    verdict.why.push_back((in_bounds ? "expected since: " : "") + expectation.because);
  const std::vector<std::string> moved = explanation(before, now);
  verdict.why.insert(verdict.why.end(), moved.begin(), moved.end());
  if (moved.empty())
    verdict.why.push_back("now: " + result.figures.bottleneck);
  return verdict;
}

}  // namespace syncline
