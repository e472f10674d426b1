// The summary of a report in a pull request, and its figures as files.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "sim/page/drawn_timeline.h"
#include "sim/page/page.h"
#include "sim/page/svg.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/charts.h"
#include "sim/study/comparison.h"
#include "sim/study/names.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"

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

// "throughput-resnet50-batch-32-gbe-32x1.svg": the chart and its subject. If there are several
// cases, `what` has the case's number, because subjects may be equal.
std::string file_name(const std::string& what, const std::string& subject) {
  constexpr std::size_t most = 120;
  std::string name = what;
  for (const char c : subject)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_')
      name += c;
    else if (!name.ends_with('-'))
      name += '-';
  return name.substr(0, most) + ".svg";
}

std::string rows_of(const PageContent& content) {
  const Agreement figures = agreement(content.rows);
  std::string text = agreement_chart(content.rows).sentence +
                     "\n\n| row | measured | simulated | error |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < std::min(content.rows.size(), most_rows); ++i) {
    const ValidationRow& row = content.rows[i];
    text +=
        fmt::format("| {}{} | {} | {} | {:+.1f} % |\n", plain(row.label), row.fit ? " (fit)" : "",
                    count_shown(row.measured), count_shown(row.simulated), 100 * row.error());
  }
  if (content.rows.size() > most_rows)
    text += fmt::format("\n{} more rows are not shown.\n", content.rows.size() - most_rows);
  return text + fmt::format("\nrows {}, median {}, worst {}, tau {:.3f}\n", figures.rows,
                            percent(figures.median_error, 1), percent(figures.worst_error, 1),
                            figures.tau);
}

}  // namespace

std::string summary_of(const PageContent& content) {
  std::string text = summary_begin;
  if (!content.rows.empty())
    return text + rows_of(content);
  const Comparison compared = comparison_of(content.results);
  const Ranking ranking = rank(compared, content.without);
  for (const std::string& sentence : ranking.sentences)
    text += (text == summary_begin ? "**" + plain(sentence) + "**" : plain(sentence)) + "\n";
  text += "\nOf " + plain(subject_of(compared)) + ".\n";
  const std::vector<const Figure*> columns = columns_of(content.results, Figure::summary);
  text += "\n| cell |";
  for (const Figure* figure : columns)
    text += fmt::format(" {} |", title_of(*figure, content.results));
  text += "\n|---|";
  for (const Figure* figure : columns)
    text += figure->unit == Unit::text ? "---|" : "---:|";
  text += "\n";
  for (std::size_t i = 0; i < std::min(ranking.cells.size(), most_rows); ++i) {
    const ComparedCell& cell = compared.cells[ranking.cells[i].result];
    text += "| " + plain(cell.name) + " |";
    for (const Figure* figure : columns)
      text += fmt::format(" {} |", plain(shown_with_range(*figure, *cell.result)));
    text += "\n";
  }
  text += "\nSimulated as " + plain(how_simulated(content.results));
  for (const std::string& note : content.notes)
    text += fmt::format("; {}", plain(note));
  text += ".\n";
  if (ranking.cells.size() > most_rows)
    text += fmt::format("\n{} slower cells are not shown.\n", ranking.cells.size() - most_rows);
  std::string warnings;
  for (const std::string& line : content.missing)
    warnings += "- " + plain(line) + "\n";
  for (const auto& [cells, text] : warnings_of(compared))
    warnings += "- " + plain(cells + ": " + text) + "\n";
  if (!warnings.empty())
    text += "\nWarnings:\n\n" + warnings;
  return text;
}

std::vector<Drawing> drawings_of(const PageContent& content) {
  std::vector<Drawing> figures;
  if (!content.rows.empty())
    return figures;
  const Comparison compared = comparison_of(content.results);
  for (std::size_t i = 0; i < compared.cases.size(); ++i) {
    const std::vector<Chart> charts = charts_of(compared, i);
    for (const char* id : {"throughput", "efficiency", "loss", "accuracy", "breakdown", "links"}) {
      // The last variant is the one that the page shows first.
      const auto chart = std::find_if(charts.rbegin(), charts.rend(),
                                      [&](const Chart& one) { return one.id == id; });
      if (chart != charts.rend())
        figures.push_back({file_name(compared.cases.size() > 1 ? fmt::format("{}-{}-", id, i + 1)
                                                               : std::string(id) + "-",
                                     subject_of(compared, i)),
                           svg_of(*chart, subject_of(compared, i))});
    }
  }
  const Ranking ranking = rank(compared, content.without);
  for (const Map& map : maps_of(compared, ranking)) {
    const std::string subject = (map.name.empty() ? "" : map.name + ": ") + subject_of(compared);
    figures.push_back({file_name("map-", subject), svg_of(map, subject)});
  }
  std::size_t timelines = 0;
  std::vector<std::size_t> places = drawn_cells(compared, ranking);
  std::ranges::sort(places);
  for (const std::size_t place : places) {
    const ComparedCell& cell = compared.cells[ranking.cells[place].result];
    auto drawn = drawn_timeline(cell.result->timeline, cell.result->figures);
    if (!drawn)
      continue;
    drawn->sentence = cell.name + ": " + drawn->sentence;
    const std::string subject = subject_of({cell.result}, *compared.results);
    figures.push_back({file_name(fmt::format("timeline-{}-", ++timelines), subject),
                       svg_of(*drawn, cell.name + ": " + subject)});
  }
  return figures;
}

}  // namespace syncline
