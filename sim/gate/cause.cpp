#include "sim/gate/cause.h"

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
#include "sim/study/ordered_lists.h"

namespace syncline {

const std::vector<std::string> noted_inputs{
    "options",      "platform_file",   "model_file",    "throughput_file",      "cost_table_file",
    "devices_file", "frameworks_file", "networks_file", "server_software_file", "data_file",
    "fidelity",     "simgrid",         "input_files",   "learned_samples",      "late_updates",
    "left_out"};

namespace {

constexpr double rounding = 1e-6;
constexpr double worth_saying = 1e-3;  // least part by which a load must move to be mentioned

// What a loss depends on, besides options and data. Communication is not among it: that moves the
// time at which a loss is reached.
struct LearnedNote {
  const char* name;
  const char* words;
  double (*value)(const Result&);
};

const std::vector<LearnedNote> learned_notes{
    {"learned_samples", "samples that were learned from",
     [](const Result& result) { return last_of_curve(result, &CurvePoint::samples); }},
    {"late_updates", "updates that a gradient is late by",
     [](const Result& result) { return result.learned->effective_staleness; }},
    {"left_out", "what compression leaves out",
     [](const Result& result) { return result.learned->compressed.left_out; }}};

struct Moved {
  std::string words;
  double before = 0;
  double now = 0;

  double by() const { return std::abs(now - before); }
  double part() const { return before == 0 ? by() : by() / std::abs(before); }
  std::string shown() const {
    return before == 0 ? fmt::format("{} 0 -> {:.4g}", words, now)
                       : fmt::format("{} {}", words, part_shown(now / before - 1));
  }
  // Of seconds: "12.3 ms -> 15.1 ms", with enough digits to differ.
  std::string in_seconds() const {
    const std::string from = seconds_shown(before), to = seconds_shown(now);
    return from == to ? fmt::format("{:.6g} s -> {:.6g} s", before, now) : from + " -> " + to;
  }
  void make_part_of(Cause& cause) const {
    cause.part = words;
    cause.part_before = before;
    cause.part_now = now;
  }
};

// How a noted number moved; none if it is not in both notes.
std::optional<Moved> noted_move(const CellNotes& notes, const std::string& name,
                                const std::string& words = "") {
  const auto before = noted_number(notes.before, name), now = noted_number(notes.now, name);
  return before && now ? std::optional(Moved{words, *before, *now}) : std::nullopt;
}

std::optional<Moved> iteration_noted(const CellNotes& notes) {
  return noted_move(notes, "iteration_mean_s");
}

// The parts of an iteration.
std::vector<Moved> parts_noted(const CellNotes& notes) {
  std::vector<Moved> parts;
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::part))
      if (const auto part = noted_move(notes, figure.name, figure.traits.words))
        parts.push_back(*part);
  return parts;
}

// Throughput is the samples of an iteration over its seconds: twice the batch makes it larger
// although nothing is faster. Returns true if samples are the whole explanation: throughput fell
// although no part of an iteration became longer, or rose although none became shorter.
bool explain_samples(double change, const CellNotes& notes, Explanation& explanation) {
  const auto whole = iteration_noted(notes);
  // iteration_mean_s averages over workers, throughput adds them up; up to this part their product
  // may move without a change of samples, but not make an iteration shorter and throughput less.
  constexpr double of_windows = 0.05, against_windows = 0.02;
  if (!whole || whole->before <= 0)
    return false;
  const double samples = (1 + change) * whole->now / whole->before - 1;
  const auto explains_by = [&](const Moved& part) {  // seconds
    return change < 0 ? part.now - part.before : part.before - part.now;
  };
  const double least_s = worth_saying * whole->before;
  const bool against = explains_by(*whole) < -least_s;
  if (std::abs(samples) <= (against ? against_windows : of_windows))
    return false;
  const bool alone = against && std::ranges::none_of(parts_noted(notes), [&](const Moved& part) {
                       return explains_by(part) > least_s;
                     });
  explanation.sentences.push_back("samples per iteration " + part_shown(samples) +
                                  (alone ? "; an iteration " + whole->in_seconds() : ""));
  if (alone || std::abs(samples) > std::abs(whole->now / whole->before - 1))
    explanation.cause.part = "samples per iteration";
  return alone;
}

// Names the part of an iteration that moved most, and others that moved at least a fifth as much.
void explain_parts(const CellNotes& notes, double by_seeds, Explanation& explanation) {
  std::vector<Moved> moved = parts_noted(notes);
  const auto whole = iteration_noted(notes);
  if (moved.empty() || !whole)
    return;
  std::ranges::stable_sort(moved, [](auto& a, auto& b) { return a.by() > b.by(); });
  if (moved.front().by() <= rounding * whole->before) {
    explanation.sentences.emplace_back("no part of an iteration moved");
    return;
  }
  if (moved.front().by() <= by_seeds * whole->before) {
    explanation.sentences.push_back(fmt::format(
        "no part of an iteration moved by more than {:.2g} % of it, as with another seed",
        100 * by_seeds));
    return;
  }
  if (explanation.cause.part.empty())
    moved.front().make_part_of(explanation.cause);
  std::string text = fmt::format("moved by {}, {} of an iteration ({})", moved.front().words,
                                 moved.front().in_seconds(), whole->in_seconds());
  for (std::size_t i = 1; i < moved.size(); ++i)
    if (moved[i].by() >= 0.2 * moved.front().by())
      text += "; " + moved[i].words + " " + moved[i].in_seconds();
  explanation.sentences.push_back(text);
}

// How the load of network and devices in an iteration moved.
std::string loads_moved(const CellNotes& notes) {
  std::string text;
  for (const Figure& figure : figure_rows()) {
    if (!figure.has(Figure::explains) || figure.has(Figure::part) || figure.traits.words.empty())
      continue;
    if (const auto load = noted_move(notes, figure.name, figure.traits.words);
        load && load->by() > worth_saying * std::abs(load->before))
      text += (text.empty() ? "" : "; ") + load->shown();
  }
  return text;
}

// How the things on which a loss depends moved, the largest part first.
std::vector<Moved> learning_moved(const CellNotes& notes) {
  std::vector<Moved> moved;
  for (const LearnedNote& note : learned_notes)
    if (const auto one = noted_move(notes, note.name, note.words);
        one && one->by() > rounding * std::abs(one->before))
      moved.push_back(*one);
  std::ranges::stable_sort(moved, [](auto& a, auto& b) { return a.part() > b.part(); });
  return moved;
}

// Seconds until a target are iterations, on which learning decides, times seconds per iteration.
void explain_learning(const std::string& figure, const CellNotes& notes, double by_seeds,
                      Explanation& explanation) {
  const std::vector<Moved> moved = learning_moved(notes);
  const auto whole = iteration_noted(notes);
  const double slower = whole ? whole->part() : 0;
  if (figure == "target_s" && slower > (moved.empty() ? rounding : moved.front().part()))
    explain_parts(notes, by_seeds, explanation);
  if (moved.empty() && explanation.sentences.empty() && notes.before.contains("learned_samples"))
    explanation.sentences.emplace_back(
        "learned from as many gradients, as late and as compressed: the gradients are others, or "
        "in another order");
  if (moved.empty())
    return;
  std::vector<std::string> shown;
  std::ranges::transform(moved, std::back_inserter(shown), &Moved::shown);
  explanation.sentences.push_back(fmt::format("learned differently: {}", fmt::join(shown, "; ")));
  if (explanation.cause.part.empty())
    moved.front().make_part_of(explanation.cause);
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

// A new option with its default value is not a change.
bool is_default(const std::string& name, const std::string& value) {
  const Option* option = find_option(name);
  return option != nullptr && option->fallback == value;
}

void options_changed(const std::string& before, const std::string& now, const InputPaths& paths,
                     Cause& cause) {
  const std::size_t others = cause.changed.size();
  const auto changed = [&](const std::string& name, const std::string& from_to) {
    cause.changed.push_back("option " + name + " " + from_to);
    cause.other_seed = cause.other_seed || name == "seed";
  };
  std::map<std::string, std::string> old = options_in(before);
  for (const auto& [name, value] : options_in(now)) {
    const bool is_new = !old.contains(name);
    const std::string was = old[name];
    old.erase(name);
    if (was != value && !(is_new && is_default(name, value)))
      changed(name, fmt::format("{} -> {}{}", was.empty() ? "(none)" : was, value,
                                is_default(name, value) ? " (the default)" : ""));
  }
  for (const auto& [name, was] : old)
    changed(name, was + " -> (none)");
  if (const auto path = paths.find("options"); path != paths.end() && cause.changed.size() > others)
    cause.files.push_back(path->second);
}

// "the platform file platforms/ours.xml": a changed file in words.
std::string file_changed(const std::string& kind, const InputPaths& paths, Cause& cause) {
  std::string text = kind == "input_files" ? "a file that it reads" : "the " + kind;
  std::ranges::replace(text, '_', ' ');
  const auto path = paths.find(kind);
  if (path == paths.end())
    return text;
  cause.files.push_back(path->second);
  return text + " " + path->second;
}

// The note of all options of a result: "batch=32; compressor=none; ...".
std::string options_note(const Result& result) {
  std::string text;
  for (const WrittenOption& option : result.options)
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", option.name, option.value);
  return text;
}

// Seconds and throughput depend on the parts of an iteration; bytes and staleness do not.
bool is_of_time(const std::string& figure) {
  const Figure* row = find_figure(figure);
  return row == nullptr || (row->unit != Unit::bytes && !figure.starts_with("staleness"));
}

}  // namespace

bool is_of_learning(const std::string& figure) {
  const Figure* row = find_figure(figure);
  return row != nullptr && row->has(Figure::if_learned);
}

std::optional<double> noted_number(const Notes& notes, const std::string& name) {
  const auto found = notes.find(name);
  return found == notes.end() ? std::nullopt : finite_number_in(found->second);
}

Notes notes_of(const Result& result, const Notes& inputs) {
  Notes notes = inputs;
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::explains))
      notes[figure.name] = figure_text(figure, result);
  notes["options"] = options_note(result);
  notes["fidelity"] = result.provenance.fidelity;
  notes["simgrid"] = result.simgrid;
  if (result.learns())
    for (const LearnedNote& note : learned_notes)
      notes[note.name] = exact_text(note.value(result));
  return notes;
}

Cause changes_between(const CellNotes& notes) {
  Cause cause;
  std::vector<std::string>& changed = cause.changed;
  for (const std::string& input : noted_inputs) {
    const auto old = notes.before.find(input);
    const auto own = notes.now.find(input);
    const bool explains =
        std::ranges::find(learned_notes, input, &LearnedNote::name) != learned_notes.end();
    if (explains || old == notes.before.end() || own == notes.now.end() ||
        old->second == own->second)
      continue;
    if (input == "simgrid")
      changed.push_back(fmt::format("SimGrid {} -> {}", old->second, own->second));
    else if (input == "fidelity")
      changed.push_back(fmt::format("simulated as {} -> {}", old->second, own->second));
    else if (input == "options")
      options_changed(old->second, own->second, notes.paths, cause);
    else
      changed.push_back(file_changed(input, notes.paths, cause));
  }
  cause.what = fmt::format("{}", fmt::join(changed, ", "));
  return cause;
}

Explanation explanation_of(const FigureMove& move, const CellNotes& notes) {
  Explanation explanation{.cause = changes_between(notes), .sentences = {}};
  const std::string loads = loads_moved(notes);
  const double by_seeds = move.by_any_cause || explanation.cause.other_seed ? move.by_seeds : 0;
  if (is_of_learning(move.figure)) {
    explain_learning(move.figure, notes, by_seeds, explanation);
  } else if (is_of_time(move.figure) && move.change && std::abs(*move.change) <= by_seeds) {
    explanation.sentences.push_back(
        fmt::format("chance: another seed moves it by up to {:.2g} %, too", 100 * by_seeds));
  } else {
    const bool by_samples = move.figure == "throughput_samples_per_s" && move.change &&
                            explain_samples(*move.change, notes, explanation);
    if (!by_samples && is_of_time(move.figure))
      explain_parts(notes, by_seeds, explanation);
    if (!loads.empty())
      explanation.sentences.push_back(loads);
  }
  Cause& cause = explanation.cause;
  const bool any = !cause.part.empty() || !loads.empty();
  if (!cause.changed.empty()) {
    explanation.sentences.push_back("changed: " + cause.what);
  } else if (notes.before.contains("options") && move.moved.value_or(any)) {
    cause.what = "the program";
    explanation.sentences.emplace_back("no option and no file changed: the program did");
  } else {
    cause.what =
        notes.before.contains("options") ? "nothing has changed" : "no notes say what changed";
  }
  return explanation;
}

}  // namespace syncline
