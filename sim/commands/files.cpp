#include "sim/commands/files.h"

#include <cstdio>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/page/svg.h"
#include "sim/sweep/out_folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// A flag's path; empty: the flag is not given.
std::string path_of(const CommandLine& line, const std::string& flag, const char* of) {
  const std::string path = line.flag(flag).value_or("");
  if (path.empty() && line.has(flag))
    throw std::invalid_argument("--" + flag + " is empty: allowed is the path of a " + of);
  return path;
}

// "c/ring.cfg" of "c/ring.cfg:3: ...", if that is a file.
std::string file_of_error(const std::string& error) {
  const std::string path = error.substr(0, error.find(':'));
  std::error_code none;
  return fs::is_regular_file(path, none) ? path : "";
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

std::string title_of_folder(const std::string& path) {
  const auto normal = [](const fs::path& written) {
    const fs::path shorter = written.lexically_normal();
    return shorter.has_filename() ? shorter : shorter.parent_path();
  };
  fs::path folder = normal(path);
  std::error_code error;
  if (folder == "." || folder.filename() == "..")
    if (const fs::path whole = normal(fs::absolute(path, error)); !error)
      folder = whole.has_filename() ? whole.filename() : whole;
  return printable(folder.string());
}

std::string place_of(const CommandLine& line, const std::string& flag, const std::string& begin,
                     Places& places) {
  const std::string path = path_of(line, flag, "file");
  if (!path.empty())
    places.add("--" + flag, path, begin);
  return path;
}

ReportFiles report_files(const CommandLine& line, Places& places) {
  ReportFiles files{.html = place_of(line, "html", page_begin, places),
                    .svg = path_of(line, "svg", "folder"),
                    .md = place_of(line, "md", summary_begin, places),
                    .command = line.written};
  if (!files.html.empty())
    require_page();
  files.places = places;
  return files;
}

std::string write_figures(const std::string& folder, const std::vector<Drawing>& figures,
                          const Places& places) {
  const MadeFolders made(folder, "--svg");
  for (const Drawing& figure : figures) {
    places.require_free("--svg", folder + "/" + figure.name);
    require_ours("--svg", folder + "/" + figure.name, svg_begin);
  }
  for (const Drawing& figure : figures)
    write_atomically(folder + "/" + figure.name, figure.svg);
  return "figures: " + std::to_string(figures.size()) + " in " + printable(folder) + "\n";
}

std::string write_report(const ReportFiles& files, const Findings& findings) {
  std::string where;
  if (!files.svg.empty())
    where += write_figures(files.svg, drawings_of(findings), files.places);
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

void check_gate_files(const CommandLine& line, Places& places) {
  place_of(line, "junit", junit_begin, places);
  place_of(line, "md", verdicts_begin, places);
}

void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts, const std::string& more) {
  if (const auto path = line.flag("junit"))
    write_atomically(*path, junit_xml(title, verdicts));
  if (const auto path = line.flag("md"))
    write_atomically(*path, verdicts_markdown(title, verdicts) + more);
  if (line.has("github"))
    std::fputs(annotations(verdicts).c_str(), stderr);
}

void write_gate_error(const CommandLine& line, const std::string& title, const std::string& error) {
  Verdict failed{.kind = Verdict::Kind::failed, .cell = title, .now = "not judged", .why = {error}};
  failed.cause.what = headline_of_error(error);
  failed.file = file_of_error(error);
  write_gate_files(line, title, {failed});
}

}  // namespace syncline
