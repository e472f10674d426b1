#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/io/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/commands/results_json.h"
#include "sim/gate/answer.h"
#include "sim/gate/bless.h"
#include "sim/gate/git.h"
#include "sim/gate/history.h"

namespace syncline {
namespace {

// Simulates and judges the folder; with --bless, rewrites its expected.csv before.
Answer checked(const CommandLine& line, const std::string& because) {
  const bool blesses = line.has("bless");
  CheckFolder folder = read_check_folder(line.arguments.front(), blesses);
  std::optional<CheckBase> base;
  if (const auto against = line.flag("against"))
    base = read_base(*against, folder);
  if (blesses)
    check_place(folder.csv());
  simulate(folder, line);
  Answer answer{.title = title_of_folder(folder.path)};
  if (blesses) {
    Blessed now = blessed(folder, because);
    answer.written = write_blessed(folder, now.file);
    answer.blessed = std::move(now.sentences);
  }
  answer.verdicts = judge(folder, folder.expected);
  if (base)
    answer.against = compared_with(*base, folder);
  return answer;
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("check", arguments);
  if (line.arguments.size() != 1 || !line.options.empty())
    throw std::invalid_argument(
        "check takes one folder with .cfg files and expected.csv, --against REF|FOLDER, --junit "
        "FILE, --md FILE, --history FILE, --github, --json, --jobs N, and --bless --because TEXT");
  const bool blesses = line.has("bless");
  const std::string because = reason_of(line.flag("because").value_or(""));
  if (blesses != line.has("because") || (blesses && because.empty()))
    throw std::invalid_argument(
        "--bless and --because TEXT belong together: every expectation has a reason");
  const std::string& folder = line.arguments.front();
  OutputPaths places;
  places.reserve(folder + "/expected.csv", "what this command reads");
  check_gate_files(line, places);
  const auto history = line.flag("history");
  std::string commit;
  if (history) {
    places.add("--history", *history, history_begin);
    history_in(*history);  // throws now if it is not a history
    commit = commit_of(folder);
  }
  const Answer answer =
      gated(line, title_of_folder(folder), [&] { return checked(line, because); });
  if (history)
    add_to_history(*history, commit, answer.verdicts);
  write_answer(line, answer);
  if (line.has("json"))
    print_json(answer_json(folder, answer));
  else
    std::fputs(answer_text(answer).c_str(), stdout);
  return exit_code_of(answer.verdicts);
}

}  // namespace syncline
