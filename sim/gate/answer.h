// What a gate answers, and its writers: for a terminal, for a pull request (Markdown), for
// continuous integration (JUnit XML, annotations), and for programs (JSON).
#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/gate/compared_base.h"
#include "sim/gate/verdict.h"
#include "sim/options/user_input.h"
#include "sim/sweep/output_paths.h"

namespace syncline {

struct Answer {
  std::string title;
  std::vector<Verdict> verdicts;
  std::vector<std::string> blessed = {};  // sentences
  std::string written = {};               // says what blessing has written
  std::optional<BaseComparison> against = {};
};

std::string answer_text(const Answer& answer);
std::string answer_markdown(const Answer& answer);
std::string junit_xml(const Answer& answer);
// Lines for GitHub Actions, one for each cause. Each shows a verdict beside its line of a pull
// request.
std::string annotations(const Answer& answer);

// {folder, summary, verdicts, blessed, against}; unknown numbers are null.
nlohmann::ordered_json answer_json(const std::string& folder, const Answer& answer);
nlohmann::ordered_json verdicts_json(const std::vector<Verdict>& verdicts);

// Throws at once if a file of a gate (--junit and --md) cannot be written.
void check_gate_files(const CommandLine& line, OutputPaths& places);

// Writes the gate's files, and with --github prints annotations to stderr.
void write_answer(const CommandLine& line, const Answer& answer);
// Writes the files of a gate that could not judge.
void write_gate_error(const CommandLine& line, const std::string& title, const std::string& error);

// Returns what `judge` returns. If it throws, writes the error into the gate's files before the
// error goes on: their readers have to see that nothing was judged.
template <class Judge>
auto gated(const CommandLine& line, const std::string& title, Judge judge) {
  try {
    return judge();
  } catch (const std::exception& error) {
    write_gate_error(line, title, error.what());
    throw;
  }
}

}  // namespace syncline
