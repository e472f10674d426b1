// What moved a figure, told from notes that expected.csv keeps of a cell: of an iteration its parts
// and what the network and the devices have to do in it, of learning what the loss depends on, and
// what the scenario reads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/verdict.h"

namespace syncline {

// Notes explain a move, by name: parts of an iteration, and what the scenario reads.
using Notes = std::map<std::string, std::string>;

// Whether it is a figure of what was learned.
bool is_of_learning(const std::string& figure);

// The number of a note; none where there is none.
std::optional<double> noted_number(const Notes& notes, const std::string& name);

// The names of notes that are no figures: `options`, files, and what was learned from.
extern const std::vector<std::string> noted_inputs;
inline const std::string noted_runs = "runs";  // of which the figures are means; none: one

// `inputs` are fingerprints by kind of file.
Notes notes_of(const Result& result, const Notes& inputs);

// The path of a file that a cell reads, by its kind, where a reader would look for it.
using InputPaths = std::map<std::string, std::string>;

struct Explanation {
  Cause cause;
  std::vector<std::string> sentences;
};

// How a figure moved.
struct FigureMove {
  std::string figure;
  std::optional<bool> moved;     // none: nobody knows, and the notes tell
  std::optional<double> change;  // as a part
  double by_seeds = 0;           // another seed moves it by up to this part,
  bool by_any_cause = false;     // and so does whatever makes workers meet at other times
};

// Why a figure is now what it is. Only what has moved may be laid to the program's charge.
Explanation explanation_of(const FigureMove& move, const Notes& before, const Notes& now,
                           const InputPaths& paths);

// Options and files that are not as they were.
Cause changes_between(const Notes& before, const Notes& now, const InputPaths& paths);

}  // namespace syncline
