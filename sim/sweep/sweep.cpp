#include "sim/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "kernels/io/text.h"
#include "sim/catalogue/network.h"
#include "sim/engine/self_test.h"
#include "sim/platform/platform.h"
#include "sim/report/result_json.h"
#include "sim/simulate.h"
#include "sim/sweep/longest_first.h"
#include "sim/sweep/process.h"
#include "sim/sweep/progress.h"

namespace syncline {
namespace {

// The answer of a process that has put off its cell; the estimated seconds follow.
const std::string is_long = "long ";
// The answer of a process that could not write its files; the reason follows.
const std::string is_unwritten = "unwritten ";

std::string answer_of(const SimulatedCell& cell) {
  if (!cell.not_written.empty())
    return is_unwritten + cell.not_written;
  return cell.result ? text_of(*cell.result) : is_long + std::to_string(cell.waits_s);
}

std::string unquoted(const std::string& name) {
  const std::size_t quotes = name.starts_with('\'') ? 1 : 0;
  return name.substr(quotes, name.size() - quotes - (name.ends_with('\'') ? quotes : 0));
}

// The two hosts of SimGrid's "No route from 'a' to 'b'.". SimGrid finds this when a message is
// sent, which may be after all checks of the platform.
std::optional<std::pair<std::string, std::string>> without_route(const std::string& error) {
  for (const std::string begin :
       {"You're trying to send data from ", "No route from ", "Bad gateways for route from "}) {
    const std::size_t to = error.starts_with(begin) ? error.find(" to ", begin.size()) : error.npos;
    if (to == error.npos)
      continue;
    std::string last = error.substr(to + 4);
    if (const std::size_t end = last.find(" but there is no "); end != last.npos)
      last.resize(end);
    else if (last.ends_with('.'))
      last.pop_back();
    return std::pair(unquoted(error.substr(begin.size(), to - begin.size())), unquoted(last));
  }
  return std::nullopt;
}

}  // namespace

void test_simgrid() {
  std::string wrong;
  try {
    wrong = run_child([] { return self_test(find_network("exact")); });
  } catch (const std::runtime_error& error) {
    wrong = "this SimGrid (" + simgrid_version() + ") fails its self-test: " + error.what();
  }
  if (!wrong.empty())
    throw std::runtime_error(wrong);
}

void simulate_all(const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
                  const std::function<void(std::size_t, CellResult)>& ended) {
  if (cells.empty())
    return;
  test_simgrid();
  build_of_program();  // once, not in each process
  const int together = std::min(at_once, static_cast<int>(cells.size()));
  LongestFirst turns(cells.size(), together);
  std::vector<bool> looks(cells.size());
  LatestLoss latest;
  const auto next = [&]() -> std::optional<NumberedJob> {
    const auto turn = turns.next();
    if (!turn)
      return {};
    looks[turn->cell] = turn->may_wait;
    return NumberedJob{
        .number = turn->cell,
        .job = [&cell = cells[turn->cell], &limits, &latest, together, may_wait = turn->may_wait] {
          const auto say = [&](const CurvePoint& point) { latest.say(point.seconds, point.loss); };
          return answer_of(simulate_cell(cell, limits, together, may_wait, say));
        }};
  };

  const auto began = std::chrono::steady_clock::now();
  ProgressLine progress(cells.size(), isatty(STDERR_FILENO) == 1);
  std::size_t done = 0;
  const auto show = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    std::fputs(progress.text(done, elapsed.count(), latest.text()).c_str(), stderr);
  };
  const auto note = [&](std::size_t i, const Outcome& outcome) {
    if (looks[i])
      turns.looked();
    if (outcome.ok && outcome.output.starts_with(is_long)) {
      turns.found_long(i, std::stod(outcome.output.substr(is_long.size())));
      return true;
    }
    if (outcome.ok && outcome.output.starts_with(is_unwritten))
      throw std::runtime_error(outcome.output.substr(is_unwritten.size()));
    ++done;
    CellResult result;
    if (!outcome.ok)
      result.error = error_of(cells[i].scenario, outcome);
    else if (result.result = result_in(outcome.output); !result.result)
      result.error = "a figure of the result is no number: this is a bug, please report it";
    ended(i, std::move(result));
    show();
    return true;
  };
  try {
    run_children(next, at_once, note, show);
  } catch (...) {
    std::fputs(progress.clearing().c_str(), stderr);
    throw;
  }
  std::fputs(progress.clearing().c_str(), stderr);
}

std::string error_of(const Scenario& scenario, const Outcome& outcome) {
  if (const auto ends = without_route(outcome.error))
    return "platform " + scenario.platform + ": hosts " + brief(ends->first) + " and " +
           brief(ends->second) +
           " have no route between them: allowed are platforms with a route for each message";
  // The message of a thrown error names the file; SimGrid's output before an abort may not.
  if (!outcome.aborted)
    return outcome.error;
  const bool crashed = outcome.error.find("Segmentation fault") != std::string::npos;
  constexpr std::size_t most_bytes = 1000;  // it may contain names of any length
  return "platform " + scenario.platform +
         ": SimGrid refuses it: " + outcome.error.substr(0, most_bytes) +
         (crashed ? " If it has a <cluster> with a topology, SimGrid 4.1 needs a <zone "
                    "routing=\"Full\"> around that"
                  : "");
}

int print_left_out(const Sweep& sweep, const std::vector<std::string>& errors) {
  for (const std::string& note : sweep.left_out)
    std::fprintf(stderr, "left out: %s\n", printable(note).c_str());
  for (auto error = errors.begin(); error != errors.end(); ++error)
    // Cells of one platform have the same error.
    if (std::find(errors.begin(), error, *error) == error)
      std::fprintf(stderr, "syncline: cells left out: %s\n", printable(*error).c_str());
  return errors.empty() ? 0 : 2;
}

}  // namespace syncline
