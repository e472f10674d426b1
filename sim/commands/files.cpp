#include "sim/commands/files.h"

#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/page/svg.h"
#include "sim/sweep/out_folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// Throws if there is a file that does not begin as ours do. An empty one may be replaced.
void require_ours(const std::string& flag, const std::string& path, const std::string& begin) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return;
  if (const auto found = begin_of(path); !found || (!found->empty() && !found->starts_with(begin)))
    throw std::runtime_error(flag + " " + brief_path(path) +
                             ": is there and was not written by syncline: allowed is another " +
                             "name, or moving it away");
}

std::string place_of(const CommandLine& line, const std::string& flag, const std::string& begin) {
  if (!line.has(flag))
    return "";
  const std::string& path = line.flags.at(flag);
  if (path.empty())
    throw std::invalid_argument("--" + flag + " is empty: allowed is the path of a " +
                                (begin.empty() ? "folder" : "file"));
  if (!begin.empty()) {
    require_ours("--" + flag, path, begin);
    try {
      check_place(path);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("--" + flag + " " + error.what());
    }
  }
  return path;
}

void write_figures(const std::string& folder, const std::vector<Drawing>& figures) {
  const MadeFolders made(folder, "--svg");
  for (const Drawing& figure : figures)
    require_ours("--svg", folder + "/" + figure.name, svg_begin);
  for (const Drawing& figure : figures)
    write_atomically(folder + "/" + figure.name, figure.svg);
}

}  // namespace

std::vector<fs::path> entries_of(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw std::invalid_argument(brief_path(folder) + ": no such folder");
  std::vector<fs::path> paths;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    paths.push_back(entries->path());
  if (error)
    throw std::invalid_argument(brief_path(folder) + ": cannot be read: " + error.message());
  return paths;
}

ReportFiles report_files(const CommandLine& line) {
  ReportFiles files{.html = place_of(line, "html", page_begin),
                    .svg = place_of(line, "svg", ""),
                    .md = place_of(line, "md", summary_begin)};
  if (!files.html.empty())
    require_page_parts();
  return files;
}

std::string write_report(const ReportFiles& files, const Findings& findings) {
  std::string where;
  if (!files.svg.empty()) {
    const std::vector<Drawing> figures = drawings_of(findings);
    write_figures(files.svg, figures);
    where += "figures: " + std::to_string(figures.size()) + " in " + printable(files.svg) + "\n";
  }
  if (!files.md.empty()) {
    write_atomically(files.md, summary_of(findings));
    where += "summary: " + printable(files.md) + "\n";
  }
  if (!files.html.empty()) {
    write_atomically(files.html, page_of(findings));
    where += "page: " + printable(files.html) + "\n";
  }
  return where;
}

void check_gate_files(const CommandLine& line) {
  for (const std::string flag : {"junit", "md"})
    if (const auto path = line.flag(flag)) {
      if (path->empty())
        throw std::invalid_argument("--" + flag + " is empty: allowed is the path of a file");
      check_place(*path);
    }
}

void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts) {
  if (const auto path = line.flag("junit"))
    write_atomically(*path, junit_xml(title, verdicts));
  if (const auto path = line.flag("md"))
    write_atomically(*path, verdicts_markdown(title, verdicts));
}

}  // namespace syncline
