// What a report says in a pull request, and its figures as files.
#include <algorithm>
#include <set>

#include "kernels/text.h"
#include "sim/report/charts.h"
#include "sim/report/drawn_timeline.h"
#include "sim/report/learning.h"
#include "sim/report/page.h"
#include "sim/report/result.h"
#include "sim/report/runs.h"
#include "sim/report/shown.h"
#include "sim/report/study.h"
#include "sim/report/svg.h"

namespace syncline {

const std::string summary_begin = "<!-- syncline report -->\n";

namespace {

constexpr std::size_t most_rows = 40;  // of a table in a pull request
constexpr std::size_t most_timelines = 12;

// As text of Markdown: nothing in it becomes markup, a link or a column.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (std::string("\\`*_{}[]()#+!|~$@").find(c) != std::string::npos)
      safe += '\\';
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return safe;
}

std::string percent(double part) {
  return format("%.1f %%", 100 * part);
}

// "throughput", or "throughput-3" of the third case.
std::string file_name(const std::string& id, const Study& study, std::size_t in_case) {
  return id + (study.cases.size() > 1 ? "-" + std::to_string(in_case + 1) : "") + ".svg";
}

std::string rows_of(const Findings& findings) {
  const Agreement figures = agreement(findings.rows);
  std::string text = agreement_chart(findings.rows).sentence +
                     "\n\n| row | measured | simulated | error |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < std::min(findings.rows.size(), most_rows); ++i) {
    const ValidationRow& row = findings.rows[i];
    text += "| " + plain(row.label) + (row.fit ? " (fit)" : "") + " | " +
            count_shown(row.measured) + " | " + count_shown(row.simulated) + " | " +
            format("%+.1f %%", 100 * row.error()) + " |\n";
  }
  if (findings.rows.size() > most_rows)
    text += "\n" + std::to_string(findings.rows.size() - most_rows) + " more rows are not shown.\n";
  return text + format("\nrows %d, ", figures.rows) + "median " + percent(figures.median_error) +
         ", worst " + percent(figures.worst_error) + format(", tau %.3f\n", figures.tau);
}

}  // namespace

std::string summary_of(const Findings& findings) {
  std::string text = summary_begin;
  if (!findings.rows.empty())
    return text + rows_of(findings);
  const Study study = study_of(findings.results);
  const Ranking ranking = rank(findings.results);
  for (const std::string& sentence : ranking.sentences)
    text += (&sentence == &ranking.sentences.front() ? "**" + plain(sentence) + "**"
                                                     : plain(sentence)) +
            "\n";
  const bool learned = std::ranges::any_of(findings.results, learns);
  text += std::string("\n| cell |") + (learned ? " loss | accuracy | target |" : "") +
          " samples/s | scaling | iteration | exposed | waiting | bottleneck |\n|---|" +
          (learned ? "---:|---:|---:|" : "") + "---:|---:|---:|---:|---:|---|\n";
  for (std::size_t i = 0; i < std::min(ranking.cells.size(), most_rows); ++i) {
    const StudyCell& cell = study.cells[ranking.cells[i].result];
    const auto& f = cell.result["figures"];
    const double iteration_s = f["iteration_mean_s"];
    text += "| " + plain(cell.name) + " | " +
            (learned ? loss_shown(cell.result) + " | " + accuracy_shown(cell.result) + " | " +
                           target_shown(cell.result) + " | "
                     : "") +
            count_shown(f["throughput_samples_per_s"].get<double>()) + " | " +
            percent(f["scaling_efficiency"].get<double>()) + " | " + seconds_shown(iteration_s) +
            " | " + percent(f["exposed_communication_s"].get<double>() / iteration_s) + " | " +
            percent(f["waiting_s"].get<double>() / iteration_s) + " | " +
            plain(f["bottleneck"].get<std::string>()) + " |\n";
  }
  text += "\nSimulated as " + plain(how_simulated(findings.results)) + ".\n";
  if (ranking.cells.size() > most_rows)
    text +=
        "\n" + std::to_string(ranking.cells.size() - most_rows) + " slower cells are not shown.\n";
  std::set<std::string> warned;
  std::string warnings;
  for (const std::string& line : findings.missing)
    warnings += "- " + plain(line) + "\n";
  for (const StudyCell& cell : study.cells)
    for (const auto& warning : cell.result["figures"]["warnings"])
      if (warned.insert(warning.get<std::string>()).second)
        warnings += "- " + plain(cell.name) + ": " + plain(warning.get<std::string>()) + "\n";
  if (!warnings.empty())
    text += "\nWarnings:\n\n" + warnings;
  return text;
}

std::vector<Drawing> figures_of(const Findings& findings) {
  std::vector<Drawing> figures;
  if (!findings.rows.empty())
    return figures;
  const Study study = study_of(findings.results);
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const std::vector<Chart> charts = charts_of(study, i);
    for (const char* id : {"throughput", "efficiency", "loss", "accuracy", "breakdown", "links"}) {
      // Of variants, the one that the page begins with.
      const auto chart = std::find_if(charts.rbegin(), charts.rend(),
                                      [&](const Chart& one) { return one.id == id; });
      if (chart != charts.rend())
        figures.push_back({file_name(id, study, i), svg_of(*chart)});
    }
  }
  std::size_t timelines = 0;
  for (const RankedCell& ranked : rank(findings.results).cells)
    if (auto drawn = timelines < most_timelines ? drawn_timeline(study.cells[ranked.result].result)
                                                : std::nullopt) {
      ++timelines;
      drawn->sentence = study.cells[ranked.result].name + ": " + drawn->sentence;
      figures.push_back({"timeline-" + std::to_string(timelines) + ".svg", svg_of(*drawn)});
    }
  return figures;
}

}  // namespace syncline
