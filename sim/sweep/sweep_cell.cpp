#include "sim/sweep/sweep_cell.h"

#include <filesystem>
#include <fstream>

#include "kernels/io/whole_file.h"
#include "sim/catalogue/fingerprint.h"
#include "sim/platform/platform.h"
#include "sim/report/learned_tables.h"
#include "sim/report/result_json.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/out_folder.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

bool is_file_of(const std::string& text, const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) != text.size())
    return false;
  std::ifstream file(path, std::ios::binary);
  std::string there(text.size(), '\0');
  return file.read(there.data(), static_cast<std::streamsize>(there.size())) && there == text;
}

}  // namespace

std::vector<std::string> SweepCell::kept_files() const {
  std::vector<std::string> files;
  if (!result_path.empty())
    files.push_back(result_path);
  if (!trace_csv.empty())
    files.insert(files.end(), {trace_csv, exports.trace});
  if (!learned_path.empty() && scenario.learns())
    for (const LearnedTable& table : learned_tables())
      files.push_back(learned_path + "." + table.name + ".csv");
  return files;
}

std::string tool_version() {
  return "syncline " SYNCLINE_VERSION;
}

std::string build_of_program() {
  static const std::string fingerprint = fingerprint_of_files({"/proc/self/exe"});
  return fingerprint;
}

void write_files(const SweepCell& cell, const Setup& setup, const Trace& trace, Result& result) {
  if (!cell.trace_csv.empty())
    write_atomically(cell.trace_csv, [&](std::ostream& out) { write_csv(trace, out); });
  write_exports(cell.exports, setup, trace);
  keep_learned(cell, result);
  if (!cell.trace_csv.empty())
    result.trace = fingerprint_of_files({cell.trace_csv, cell.exports.trace});
  if (!cell.result_path.empty())
    write_atomically(cell.result_path, text_of(result));
}

bool is_finished(const SweepCell& cell, const Result& result) {
  const bool has_trace =
      cell.trace_csv.empty()
          ? !cell.exports.any()
          : result.trace == fingerprint_of_files({cell.trace_csv, cell.exports.trace});
  return result.schema == result_schema && result.tool == tool_version() &&
         result.build == build_of_program() && result.simgrid == simgrid_version() &&
         result.options == written_options(cell.scenario) &&
         result.inputs == inputs_of(cell.scenario, read_platform(cell.scenario)) && has_trace;
}

void keep_learned(const SweepCell& cell, const Result& result) {
  if (cell.learned_path.empty())
    return;
  for (const LearnedTable& table : learned_tables()) {
    const std::string path = cell.learned_path + "." + table.name + ".csv";
    const std::string text = result.learned ? table_csv(*result.learned, table) : "";
    if (text.empty())
      remove_if_ours(path);
    else if (!is_file_of(text, path))
      write_atomically(path, text);
  }
}

}  // namespace syncline
