#include "sim/commands/files.h"

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/page/svg.h"
#include "sim/sweep/out_folder.h"

namespace syncline {

ReportFiles report_files(const CommandLine& line, OutputPaths& places) {
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
                          const OutputPaths& places) {
  const MadeFolders made(folder, "--svg");
  for (const Drawing& figure : figures) {
    places.require_free("--svg", folder + "/" + figure.name);
    require_ours("--svg", folder + "/" + figure.name, svg_begin);
  }
  for (const Drawing& figure : figures)
    write_atomically(folder + "/" + figure.name, figure.svg);
  return "figures: " + std::to_string(figures.size()) + " in " + printable(folder) + "\n";
}

std::string write_report(const ReportFiles& files, const PageContent& content) {
  std::string where;
  if (!files.svg.empty())
    where += write_figures(files.svg, drawings_of(content), files.places);
  if (!files.md.empty()) {
    write_atomically(files.md, summary_of(content));
    where += "summary: " + printable(files.md) + "\n";
  }
  if (!files.html.empty()) {
    write_atomically(files.html, page_of(content));
    where += "page: " + printable(files.html) + "\n";
  }
  return where;
}

}  // namespace syncline
