// The summary of a report in a pull request, and its figures as files.
#include <algorithm>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "sim/page/drawn_timeline.h"
#include "sim/page/page.h"
#include "sim/page/svg.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/charts.h"
#include "sim/study/ranking.h"
#include "sim/study/study.h"

namespace syncline {

const std::string summary_begin = "<!-- syncline report -->\n";

namespace {

constexpr std::size_t most_rows = 40;  // of a table in a pull request

// Escapes text for Markdown: nothing in it becomes markup, a link or a column.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (std::string("\\`*_{}[]()#+!|~$@").find(c) != std::string::npos)
      safe += '\\';
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return safe;
}

// "throughput", or "throughput-3" of the third case.
std::string file_name(const std::string& id, const Study& study, std::size_t in_case) {
  return fmt::format("{}{}.svg", id, study.cases.size() > 1 ? fmt::format("-{}", in_case + 1) : "");
}

std::string rows_of(const Findings& findings) {
  const Agreement figures = agreement(findings.rows);
  std::string text = agreement_chart(findings.rows).sentence +
                     "\n\n| row | measured | simulated | error |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < std::min(findings.rows.size(), most_rows); ++i) {
    const ValidationRow& row = findings.rows[i];
    text +=
        fmt::format("| {}{} | {} | {} | {:+.1f} % |\n", plain(row.label), row.fit ? " (fit)" : "",
                    count_shown(row.measured), count_shown(row.simulated), 100 * row.error());
  }
  if (findings.rows.size() > most_rows)
    text += fmt::format("\n{} more rows are not shown.\n", findings.rows.size() - most_rows);
  return text + fmt::format("\nrows {}, median {}, worst {}, tau {:.3f}\n", figures.rows,
                            percent(figures.median_error, 1), percent(figures.worst_error, 1),
                            figures.tau);
}

}  // namespace

std::string summary_of(const Findings& findings) {
  std::string text = summary_begin;
  if (!findings.rows.empty())
    return text + rows_of(findings);
  const Study study = study_of(findings.results);
  const Ranking ranking = rank(findings.results);
  for (const std::string& sentence : ranking.sentences)
    text += (text == summary_begin ? "**" + plain(sentence) + "**" : plain(sentence)) + "\n";
  const std::vector<const Figure*> columns = columns_of(findings.results, Figure::summary);
  text += "\n| cell |";
  for (const Figure* figure : columns)
    text += fmt::format(" {} |", title_of(*figure, findings.results));
  text += "\n|---|";
  for (const Figure* figure : columns)
    text += figure->unit == Unit::text ? "---|" : "---:|";
  text += "\n";
  for (std::size_t i = 0; i < std::min(ranking.cells.size(), most_rows); ++i) {
    const StudyCell& cell = study.cells[ranking.cells[i].result];
    text += "| " + plain(cell.name) + " |";
    for (const Figure* figure : columns)
      text += fmt::format(" {} |", plain(shown_in_table(*figure, *cell.result)));
    text += "\n";
  }
  text += "\nSimulated as " + plain(how_simulated(findings.results)) + ".\n";
  if (ranking.cells.size() > most_rows)
    text += fmt::format("\n{} slower cells are not shown.\n", ranking.cells.size() - most_rows);
  std::string warnings;
  for (const std::string& line : findings.missing)
    warnings += "- " + plain(line) + "\n";
  for (const std::string& warning : warnings_of(study))
    warnings += "- " + plain(warning) + "\n";
  if (!warnings.empty())
    text += "\nWarnings:\n\n" + warnings;
  return text;
}

std::vector<Drawing> drawings_of(const Findings& findings) {
  std::vector<Drawing> figures;
  if (!findings.rows.empty())
    return figures;
  const Study study = study_of(findings.results);
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const std::vector<Chart> charts = charts_of(study, i);
    for (const char* id : {"throughput", "efficiency", "loss", "accuracy", "breakdown", "links"}) {
      // The variant that the page begins with is the last.
      const auto chart = std::find_if(charts.rbegin(), charts.rend(),
                                      [&](const Chart& one) { return one.id == id; });
      if (chart != charts.rend())
        figures.push_back({file_name(id, study, i), svg_of(*chart)});
    }
  }
  std::size_t timelines = 0;
  for (const RankedCell& ranked : rank(findings.results).cells)
    if (auto drawn = timelines < most_timelines
                         ? drawn_timeline(study.cells[ranked.result].result->timeline)
                         : std::nullopt) {
      ++timelines;
      drawn->sentence = study.cells[ranked.result].name + ": " + drawn->sentence;
      figures.push_back({fmt::format("timeline-{}.svg", timelines), svg_of(*drawn)});
    }
  return figures;
}

}  // namespace syncline
