#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/check_folder.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/options/user_input.h"
#include "sim/setup/fingerprint.h"
#include "sim/sweep/inputs.h"

namespace syncline {
namespace {

// Fingerprints by kind; empty where no file of it is read.
Notes inputs_noted(const Scenario& scenario) {
  Notes notes;
  for (const auto& [kind, files] : input_files(scenario, read_platform(scenario.platform)))
    if (!files.empty() || kind != "data_file")
      notes[kind] = files.empty() ? "none" : fingerprint_of_files(files);
  return notes;
}

void simulate(CheckFolder& folder, const CommandLine& line) {
  std::vector<SweepCell> cells;
  for (CheckedCell& cell : folder.cells) {
    cells.push_back(cell.cell);
    cell.notes = inputs_noted(cell.cell.scenario);  // before they are read
  }
  simulate_all(cells, jobs_of(line), limits_of(line), [&](std::size_t i, CellResult simulated) {
    CheckedCell& cell = folder.cells[i];
    cell.error = std::move(simulated.error);
    if (simulated.result) {
      cell.result = std::move(*simulated.result);
      cell.notes = notes_of(cell.result, cell.notes);
    }
  });
}

constexpr std::size_t most_expected_bytes = 10'000'000;  // as read_lines allows

// Rewrites expected.csv, or leaves it where a cell could not be simulated.
void bless(CheckFolder& folder, const std::string& because) {
  for (const CheckedCell& cell : folder.cells)
    if (!cell.error.empty())
      throw std::runtime_error(cell.name + ": " + cell.error);
  const std::string path = folder.path + "/expected.csv";
  folder.expected = blessed(folder, because);
  const std::string text = expected_text(folder.expected);
  std::error_code error;
  if (!std::filesystem::exists(path, error) || text_of_file(path, most_expected_bytes) != text)
    write_atomically(path, text);
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("check", arguments);
  if (line.arguments.size() != 1 || !line.options.empty())
    throw std::invalid_argument(
        "check takes one folder with .cfg files and expected.csv, --junit FILE, --md FILE, --json, "
        "--jobs N, and --bless --because TEXT");
  const bool blesses = line.has("bless");
  const std::string because = trimmed(line.flag("because").value_or(""));
  if (blesses != line.has("because") || (blesses && because.empty()))
    throw std::invalid_argument(
        "--bless and --because TEXT belong together: what is expected has a reason");
  Places places;
  places.reserve(line.arguments.front() + "/expected.csv", "what this command reads");
  check_gate_files(line, places);

  CheckFolder folder = read_check_folder(line.arguments.front(), blesses);
  if (blesses)
    check_place(folder.path + "/expected.csv");
  simulate(folder, line);
  if (blesses)
    bless(folder, printable(because));
  const std::vector<Verdict> verdicts = judge(folder);
  namespace fs = std::filesystem;
  const fs::path normal = fs::path(folder.path + "/").lexically_normal().parent_path();
  const std::string title =
      printable((normal == "." ? fs::current_path().filename() : normal).string());
  write_gate_files(line, title, verdicts);
  if (line.has("json"))
    print_json({{"folder", printable(folder.path)},
                {"summary", summary_of(verdicts)},
                {"verdicts", verdicts_json(verdicts)}});
  else
    std::printf("%s%s\n", verdicts_table(verdicts).c_str(), summary_of(verdicts).c_str());
  return exit_code_of(verdicts);
}

}  // namespace syncline
