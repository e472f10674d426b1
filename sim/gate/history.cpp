#include "sim/gate/history.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/csv.h"
#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "kernels/registry.h"
#include "sim/gate/expectation.h"
#include "sim/report/readable.h"
#include "sim/report/result_json.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

Chart chart_of_lines(const std::string& figure, std::vector<HistoryLine> lines,
                     const std::vector<std::string>& commits) {
  const std::size_t all = lines.size();
  std::ranges::stable_sort(lines, [](const HistoryLine& a, const HistoryLine& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  if (lines.size() > most_series)
    lines.resize(most_series);
  const std::string title = title_of_figure(figure);
  Chart chart{
      .kind = Chart::Kind::lines,
      .id = "history-" + figure,
      .title = title + " over commits",
      .x = {.title = fmt::format("commits, from {} to {}", commits.front(), commits.back()),
            .unit = "",
            .scale = Scale::linear},
      .y = {.title = title + ", of the first commit's", .unit = "%", .scale = Scale::linear}};
  for (const HistoryLine& line : lines) {
    Series series{.name = line.cell, .colour = static_cast<int>(chart.series.size())};
    for (std::size_t i = 0; i < line.values.size(); ++i) {
      series.x.push_back(line.at[i]);
      series.y.push_back(line.values[i] / line.values.front());
    }
    chart.series.push_back(std::move(series));
  }
  const HistoryLine& most = lines.front();
  chart.sentence = std::abs(most.change()) < 1e-6
                       ? fmt::format("Nothing moved over {} commits", commits.size())
                       : fmt::format("{} moved most over {} commits, by {}", most.cell,
                                     commits.size(), part_shown(most.change()));
  chart.sentence += of_more(all, most_series) + ".";
  return chart;
}

}  // namespace

double HistoryLine::change() const {
  return values.front() == 0 ? 0 : values.back() / values.front() - 1;
}

History with_commit(History history, const std::string& commit,
                    const std::vector<Verdict>& verdicts) {
  std::set<std::pair<std::string, std::string>> got;
  for (const Verdict& verdict : verdicts)
    if (verdict.got)
      got.emplace(verdict.cell, verdict.figure);
  std::erase_if(history, [&](const HistoryRow& row) {
    return row.commit == commit && got.contains({row.cell, row.figure});
  });
  for (const Verdict& verdict : verdicts)
    if (verdict.got)
      history.push_back({commit, verdict.cell, verdict.figure, *verdict.got});
  return history;
}

const std::string history_begin = "commit,cell,figure,value\n";

History read_history(const std::string& path) {
  History history;
  read_csv_lines(path, CsvFields::quoted, [&](const CsvLine& line) {
    using Kind = CsvLine::Kind;
    if (line.kind == Kind::columns && line.text + "\n" != history_begin)
      throw std::invalid_argument("not a file of check --history: allowed are the columns " +
                                  trimmed(history_begin));
    if (line.kind != Kind::row)
      return;
    if (line.fields.size() != 4)
      throw std::invalid_argument(std::to_string(line.fields.size()) +
                                  " fields: allowed are commit,cell,figure,value");
    history.push_back(
        {line.fields[0], line.fields[1], line.fields[2],
         checked_number({.name = "value", .minimum = -1e18, .maximum = 1e18}, line.fields[3])});
  });
  return history;
}

std::string history_text(const History& history) {
  std::string text = history_begin;
  for (const HistoryRow& row : history)
    text += fmt::format("{},{},{},{}\n", first_field(row.commit), csv_field(row.cell),
                        csv_field(row.figure), exact_text(row.value));
  return text;
}

History history_in(const std::string& path) {
  std::error_code error;
  const bool has_any =
      std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
  return has_any ? read_history(path) : History();
}

void add_to_history(const std::string& path, const std::string& commit,
                    const std::vector<Verdict>& verdicts) {
  const FileLock lock(path);
  write_atomically(path, history_text(with_commit(history_in(path), commit, verdicts)));
}

std::vector<std::string> commits_of(const History& history) {
  LongList<std::string> commits;
  for (const HistoryRow& row : history)
    commits.found_or_added(row.commit);
  return std::move(commits.all);
}

std::vector<HistoryLine> lines_of(const History& history) {
  LongList<std::string> commits;
  LongList<std::pair<std::string, std::string>> cells_and_figures;
  std::vector<HistoryLine> lines;
  for (const HistoryRow& row : history) {
    const std::size_t place = cells_and_figures.place_of({row.cell, row.figure});
    if (place == lines.size())
      lines.push_back({.cell = row.cell, .figure = row.figure, .at = {}, .values = {}});
    lines[place].at.push_back(static_cast<double>(commits.place_of(row.commit)) + 1);
    lines[place].values.push_back(row.value);
  }
  return lines;
}

std::vector<Chart> history_charts(const History& history) {
  const std::vector<std::string> commits = commits_of(history);
  LongList figures(&std::pair<std::string, std::vector<HistoryLine>>::first);
  for (const HistoryLine& line : lines_of(history))
    if (line.values.front() != 0)  // changes are parts of the first value
      figures.found_or_added(line.figure).second.push_back(line);
  std::vector<Chart> charts;
  for (auto& [figure, lines] : figures.all)
    charts.push_back(chart_of_lines(figure, std::move(lines), commits));
  return charts;
}

std::string history_table(const History& history) {
  std::vector<Column> columns;
  for (const char* title : {"cell", "figure"})
    columns.push_back({.title = title, .cells = {}, .left = true});
  for (const char* title : {"commits", "first", "last", "change"})
    columns.push_back({.title = title, .cells = {}, .left = false});
  const std::vector<HistoryLine> lines = lines_of(history);
  for (const HistoryLine& line : lines) {
    columns[0].cells.push_back(line.cell);
    columns[1].cells.push_back(line.figure);
    columns[2].cells.push_back(std::to_string(line.values.size()));
    columns[3].cells.push_back(fmt::format("{:.6g}", line.values.front()));
    columns[4].cells.push_back(fmt::format("{:.6g}", line.values.back()));
    columns[5].cells.push_back(line.values.front() == 0 ? "-" : part_shown(line.change()));
  }
  return aligned(columns, lines.size());
}

}  // namespace syncline
