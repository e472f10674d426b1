// One scenario, simulated in both fidelities and computed by the reference.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline::reference {

using Words = std::map<std::string, std::string>;  // as a user writes them

struct Cell {
  std::string what;      // "ps on nodes"
  std::string kind;      // of the platform
  std::string platform;  // its name
  std::string size;      // "1 MB"
  Words options;         // without fidelity
  // For each worker, the number of its network card in its node; then there are channels. Empty: a
  // single channel.
  std::vector<int> cards = {};
};

struct Outcome {
  double reference_s = 0;
  // The same with the program's channels, if there are any: the order in which a channel visits the
  // workers of one card is not defined, and a tree's chains depend on it.
  double in_its_channels_s = 0;
  // By what share the reference's answer changes if pushes come a millionth of an iteration later.
  // If this is large, some pushes arrive at the same moment, and the order of applying them is
  // arbitrary.
  double undecided = 0;
  double step_s = 0;
  double flow_s = 0;
  bool refused = false;  // the scenario is invalid on this platform
  bool warned = false;   // `flow` warns that it may be far off
  std::string error;     // any other error

  bool has_ended() const { return !refused && error.empty(); }
  bool is_decided() const { return undecided <= 0.0025; }
  double step_error() const { return step_s / reference_s - 1; }
  double flow_error() const { return flow_s / reference_s - 1; }
};

// The reference's seconds for a scenario, from a child process.
double reference_s(const Words& options);

// Runs the reference and each fidelity in child processes, `at_once` at a time. Reports each as it
// ends.
std::vector<Outcome> outcomes_of(const std::vector<Cell>& cells, int at_once);

std::string file_of(const std::string& text, const std::string& end);  // temporary
std::string model_file(const std::vector<std::uint64_t>& parameters);

}  // namespace syncline::reference
