// `syncline explain --measured X`: a measured rate, or a log of nccl-tests, beside what the
// scenario gives.
#include "sim/commands/explain_measured.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/all_reduce.h"
#include "sim/commands/explained.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/import/nccl_log.h"
#include "sim/options/expand.h"
#include "sim/options/reality.h"
#include "sim/page/page_json.h"
#include "sim/report/readable.h"
#include "sim/sweep/sweep_cell.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

std::string how_likely(const Finding& finding) {
  constexpr const char* of_amounts[] = {"usual", "possible", "unusual"};
  constexpr const char* of_variations[] = {"fits", "near", "far"};
  const int i = static_cast<int>(finding.likelihood);
  return finding.iteration_s ? of_variations[i] : of_amounts[i];
}

// How far apart measurement and scenario are, in words.
std::string difference(const Explained& one) {
  if (one.times() > 1 + no_difference)
    return fmt::format("{} longer than the scenario says, {:.3g} times as long",
                       seconds_shown(one.measured_s - one.scenario_s), one.times());
  if (one.times() >= 1 - no_difference)
    return fmt::format("none to explain: within {} of the scenario", percent(no_difference));
  return std::string("faster than the scenario allows: ") +
         (one.bytes == 0
              ? "its throughput of a worker alone, batch, precision, workers or platform "
                "are not those that were measured"
          : one.shows_latency()
              ? "the platform's latencies are longer than those that were measured"
              : "another algorithm, or other links than the platform's, were measured");
}

// A duration, and the rate that it is.
Json duration_json(const Explained& one, std::optional<double> seconds) {
  if (!seconds)
    return nullptr;
  return one.bytes > 0
             ? Json{{"time_s", *seconds}, {"busbw_Bps", one.rate(*seconds)}}
             : Json{{"iteration_s", *seconds}, {"throughput_samples_per_s", one.rate(*seconds)}};
}

// `of`: what it would explain.
Json as_json(const Finding& finding, const Explained& of) {
  constexpr const char* reaches[] = {"too little", "enough", "too much"};
  const bool is_enough = finding.reach == Finding::Reach::enough;
  Json json{{"name", finding.name},
            {"reach", reaches[static_cast<int>(finding.reach)]},
            {"sentence", finding.what}};
  if (is_enough)
    json["likelihood"] = how_likely(finding);
  if (finding.amount)
    json["amount"] = *finding.amount;
  if (finding.iteration_s || is_enough)
    json["gives"] = duration_json(of, finding.iteration_s.value_or(of.measured_s));
  if (!finding.same_as.empty())
    json["same_as"] = finding.same_as;
  if (!finding.look_at.empty())
    json["look_at"] = finding.look_at;
  return json;
}

Json as_json(const Explained& one) {
  Json json = Json::object(), causes = Json::array();
  if (one.bytes > 0)
    json = {{"shows", one.shows_latency() ? "latency" : "bandwidth"},
            {"bytes", one.bytes},
            {"exchange", one.exchange}};
  json["measured"] = duration_json(one, one.measured_s);
  json["scenario"] = duration_json(one, one.scenario_s);
  json["nominal"] = duration_json(one, one.nominal_s);
  json["typical"] = duration_json(one, one.typical_s);
  if (one.bytes == 0) {
    json["prediction_low_samples_per_s"] = or_null(one.prediction_low);
    json["prediction_high_samples_per_s"] = or_null(one.prediction_high);
  }
  for (const Finding& finding : one.causes)
    causes.push_back(as_json(finding, one));
  json["difference"] = difference(one);
  json["causes"] = std::move(causes);
  json["not_told_apart"] = not_told_apart(one.causes);
  return json;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text =
      "\nwhat by itself would take as long, the likeliest first; links and steps with exchanges as "
      "now\n";
  int number = 0;
  std::string others[3];
  for (const Finding& finding : findings)
    if (finding.reach != Finding::Reach::enough)
      others[static_cast<int>(finding.reach)] += "  " + finding.what + "\n";
    else
      text += fmt::format("{}{}\n     look at: {}\n",
                          finding.same_as.empty()
                              ? fmt::format("{:3}  {}: ", ++number, how_likely(finding))
                              : "     or, as long: ",
                          finding.what, finding.look_at);
  if (number == 0)
    text += "  none of what is known here\n";
  if (const std::vector<std::string> names = not_told_apart(findings); !names.empty())
    text +=
        fmt::format("\nas likely as each other by this alone, which cannot tell them apart: {}\n",
                    fmt::join(names, ", "));
  if (const std::string& little = others[static_cast<int>(Finding::Reach::too_little)];
      !little.empty())
    text += "\nnot by itself\n" + little;
  if (const std::string& much = others[static_cast<int>(Finding::Reach::too_much)]; !much.empty())
    text += "\nwould take longer still\n" + much;
  return text;
}

bool is_same(const std::optional<double>& one, double other) {
  return one && std::abs(*one - other) <= 1e-9 * other;
}

std::string text_of(const Explained& one) {
  std::string text;
  if (one.bytes > 0)
    text = fmt::format("{}: {} B, by {}\n", one.shows_latency() ? "latency" : "bandwidth",
                       one.bytes, one.exchange);
  const auto line = [&](const char* what, const std::string& words) {
    text += fmt::format("{:<10} {}\n", what, words);
  };
  line("measured", one.shown(one.measured_s));
  const bool is_nominal = is_same(one.nominal_s, one.scenario_s);
  line("scenario", one.shown(one.scenario_s) + (is_nominal ? ", at nominal rates" : ""));
  if (one.nominal_s && !is_nominal)
    line("nominal", one.shown(*one.nominal_s));
  if (one.typical_s && !is_same(one.typical_s, one.scenario_s))
    line("typical", one.shown(*one.typical_s));
  if (one.prediction_low && one.prediction_high)
    line("prediction",
         fmt::format("{} to {} samples/s: 90 % of published measurements with such an "
                     "efficiency",
                     count_shown(*one.prediction_low), count_shown(*one.prediction_high)));
  line("difference", difference(one));
  return text + (one.causes.empty() ? "" : findings_text(one.causes));
}

// "6679", "153ms" or "0.153s"; none: it is no rate.
std::optional<MeasuredRate> measured_rate(const std::string& text) {
  const auto positive = [](const std::string& number, double unit) -> std::optional<double> {
    const auto value = number_in<double>(number);
    return value && *value > 0 && *value < 1e15 ? std::optional(*value * unit) : std::nullopt;
  };
  MeasuredRate rate;
  if (text.ends_with("ms"))
    rate.seconds = positive(text.substr(0, text.size() - 2), 1e-3);
  else if (text.ends_with("s"))
    rate.seconds = positive(text.substr(0, text.size() - 1), 1);
  else
    rate.samples_per_s = positive(text, 1);
  return rate.seconds || rate.samples_per_s ? std::optional(rate) : std::nullopt;
}

// The row whose `value` is the median of these three, or fewer.
template <class Value>
NcclRow median_row(std::vector<NcclRow> rows, Value value) {
  std::ranges::sort(rows, {}, value);
  return rows[rows.size() / 2];
}

// Two rows of the log: among the smallest and among the largest sizes, the median of three if
// there are as many.
std::vector<MeasuredDuration> telling_rows(std::vector<NcclRow> rows) {
  std::ranges::stable_sort(rows, {}, &NcclRow::bytes);
  const auto some = static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, (rows.size() + 1) / 2));
  const NcclRow small = median_row({rows.begin(), rows.begin() + some}, &NcclRow::time_s);
  const NcclRow large = median_row({rows.end() - some, rows.end()}, [](const NcclRow& row) {
    return static_cast<double>(row.bytes) / row.time_s;
  });
  std::vector<MeasuredDuration> all;
  for (const NcclRow& row : {large, small})
    if (all.empty() || all.front().bytes != row.bytes)
      all.push_back({.rate = {.seconds = row.time_s, .samples_per_s = {}}, .bytes = row.bytes});
  return all;
}

struct Beside {
  std::vector<Explained> all;
  std::string log;  // its path; empty: a rate
  std::vector<std::string> notes;
};

Beside of_log(std::vector<Section> sections, const std::string& path, int at_once) {
  for (Section& section : sections) {
    for (const auto& [option, given] : section.options)
      require_meaning_for_all_reduce(option, given.where);
    section.options.try_emplace("exchange", Given{"nccl", "--exchange"});
  }
  const NcclLog log = read_nccl_log(path);
  Beside beside{.all = explanations_of(sections, telling_rows(log.rows), at_once),
                .log = brief_path(path),
                .notes = {}};
  const Explained& first = beside.all.front();
  if (const std::string wrong = other_ranks(beside.log, log.ranks, first.workers); !wrong.empty())
    throw std::runtime_error(wrong);
  if (log.nodes != first.nodes)
    beside.notes.push_back(fmt::format("the GPUs of the log are on {}, the workers on {}",
                                       counted(log.nodes, "node"), first.nodes));
  const auto has = [&](bool latency) {
    return std::ranges::find(beside.all, latency, &Explained::shows_latency) != beside.all.end();
  };
  if (!has(true))
    beside.notes.emplace_back("the log has no sizes so small that they show latency");
  if (!has(false))
    beside.notes.emplace_back("the log has no sizes so large that they show bandwidth");
  if (beside.all.size() == 2 && beside.all[0].shows_latency() == beside.all[1].shows_latency())
    beside.all.erase(beside.all.begin() + (beside.all[0].shows_latency() ? 0 : 1));
  return beside;
}

std::string text_of(const Beside& beside) {
  std::string text;
  for (const std::string& note : beside.notes)
    text += "note: " + note + "\n";
  for (const Explained& one : beside.all)
    text.append(&one == &beside.all.front() ? "" : "\n").append(text_of(one));
  return text;
}

std::string page_of(const Beside& beside, Json parts, const CommandLine& line,
                    const Scenario& scenario) {
  const std::string what = beside.log.empty() ? scenario.written.at("model") : "an all-reduce";
  MeasuredPage page{.lead = {},
                    .subject = what + " on " + scenario.written.at("platform"),
                    .notes = beside.notes,
                    .made_by = tool_version(),
                    .command = line.written,
                    .options = {{"reality's values", scenario.reality.described()}},
                    .text = text_of(beside)};
  for (const Explained& one : beside.all)
    page.lead.push_back(
        fmt::format("Measured: {}{}; the scenario gives {}.", one.shown(one.measured_s),
                    one.bytes > 0 ? " for " + bytes_shown(static_cast<double>(one.bytes)) : "",
                    one.shown(one.scenario_s)));
  for (const auto& [option, value] : scenario.written)
    page.options.emplace_back(option, value);
  return page_of(page, std::move(parts));
}

}  // namespace

int explain_measured(const CommandLine& line) {
  const std::string measured = line.flags.at("measured");
  std::vector<Section> sections = merged_with_file(line);
  // What machines usually leave of their nominal rates is one of the causes.
  for (Section& section : sections)
    section.options.try_emplace("reality", Given{nominal_reality, "--reality"});
  const std::optional<MeasuredRate> rate = measured_rate(measured);
  const bool is_log = !rate;
  if (std::error_code error; is_log && !std::filesystem::exists(measured, error))
    throw std::invalid_argument(
        fmt::format("--measured = {}: allowed are samples/s of all workers, such as 6679, the "
                    "seconds of an iteration, such as 153ms or 0.153s, or the path of a log of "
                    "nccl-tests",
                    brief(measured)));
  std::vector<std::string> read = line.arguments;
  read.push_back(is_log ? measured : "");
  for (const Section& section : sections)
    for (const char* option : {"platform", "model"})
      if (const auto given = section.options.find(option); given != section.options.end())
        read.push_back(given->second.value);
  OutputPaths places;
  for (const std::string& path : read)
    if (!path.empty())
      places.reserve(path, "what this command reads");
  const ReportFiles files = report_files(line, places);
  Beside beside;
  if (is_log)
    beside = of_log(sections, measured, jobs_of(line));
  else
    beside.all = explanations_of(sections, {{.rate = *rate}}, jobs_of(line));
  Json parts = Json::array();
  for (const Explained& one : beside.all)
    parts.push_back(as_json(one));
  if (!files.html.empty())
    write_atomically(files.html,
                     page_of(beside, parts, line, expand(sections, !is_log).cells.front()));
  if (line.has("json")) {
    const Explained& first = beside.all.front();
    print_json(is_log ? Json{{"log", beside.log},
                             {"workers", first.workers},
                             {"nodes", first.nodes},
                             {"notes", beside.notes},
                             {"parts", std::move(parts)}}
                      : parts.front());
    return 0;
  }
  std::fputs(text_of(beside).c_str(), stdout);
  if (!files.html.empty())
    std::printf("page: %s\n", printable(files.html).c_str());
  return 0;
}

}  // namespace syncline
