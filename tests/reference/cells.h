// One scenario, simulated in both fidelities and worked out by the reference.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline::reference {

using Words = std::map<std::string, std::string>;  // options as a user writes them

struct Cell {
  std::string what;      // "ps on nodes"
  std::string kind;      // of platform
  std::string platform;  // its name
  std::string size;      // "1 MB"
  Words options;         // without fidelity
  // By worker, the number of its network card in its node: it has channels. Empty: it has one.
  std::vector<int> cards = {};
};

struct Outcome {
  double reference_s = 0;
  // Where there are channels, the same with those that the program found: in which order a channel
  // goes through the workers of one card is left open, and a tree's chains notice.
  double in_its_channels_s = 0;
  // By which part of it the reference's own answer changes where pushes come a millionth of an
  // iteration later. If by much, then some come at one moment, and whose is applied first is
  // anybody's choice.
  double undecided = 0;
  double step_s = 0;
  double flow_s = 0;
  bool refused = false;  // the scenario has no meaning on this platform
  bool warned = false;   // `flow` says that it may be far off
  std::string error;     // of anything else

  bool has_ended() const { return !refused && error.empty(); }
  bool is_decided() const { return undecided <= 0.0025; }
  double step_error() const { return step_s / reference_s - 1; }
  double flow_error() const { return flow_s / reference_s - 1; }
};

// Seconds that the reference alone finds for a scenario, in a child process.
double reference_s(const Words& options);

// The reference and each fidelity in child processes, so many at a time. Tells of each as it ends.
std::vector<Outcome> outcomes_of(const std::vector<Cell>& cells, int at_once);

std::string file_of(const std::string& text, const std::string& end);  // temporary
std::string model_file(const std::vector<std::uint64_t>& parameters);

}  // namespace syncline::reference
