// What moved a figure, derived from the notes that expected.csv keeps of a cell: the parts of an
// iteration, the load of the network and the devices in it, what a loss depends on, and the
// scenario's input.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/gate/verdict.h"
#include "sim/result.h"

namespace syncline {

// Notes that explain moves, by name: parts of an iteration, and the scenario's input.
using Notes = std::map<std::string, std::string>;

// Whether the figure is about learning.
bool is_of_learning(const std::string& figure);

// The number of a note; none if there is no such note.
std::optional<double> noted_number(const Notes& notes, const std::string& name);

// The names of notes that are not figures: `options`, files, and what learning depends on.
extern const std::vector<std::string> noted_inputs;
inline const std::string noted_runs = "runs";  // how many runs the figures are means of; none: one

// `inputs` are fingerprints by kind of file.
Notes notes_of(const Result& result, const Notes& inputs);

// Paths of the files that a cell reads, by kind, as a reader would look for them.
using InputPaths = std::map<std::string, std::string>;

// Notes of a cell: those in expected.csv, empty if there are none; those of this run; and the paths
// of its files.
struct CellNotes {
  Notes before;
  Notes now;
  InputPaths paths;
};

struct Explanation {
  Cause cause;
  std::vector<std::string> sentences;
};

// How a figure moved.
struct FigureMove {
  std::string figure;
  std::optional<bool> moved;     // none: not known, so the notes decide
  std::optional<double> change;  // as a part
  double by_seeds = 0;           // another seed moves it by up to this part
  bool by_any_cause = false;     // any change of the times at which workers meet does the same
};

// Why a figure has its present value. The program is a cause only if the figure has moved.
Explanation explanation_of(const FigureMove& move, const CellNotes& notes);

// Options and files that have changed.
Cause changes_between(const CellNotes& notes);

}  // namespace syncline
