// A sweep as a job array of Slurm: each task simulates its share of the cells into one folder.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"

namespace syncline {

// A share has one of each `of` cells in a row, and each time another one. All shares therefore have
// long and short cells, also where a list has as many values as there are shares.
struct Share {
  std::size_t number = 1;  // from 1
  std::size_t of = 1;

  static std::size_t with(std::size_t cell, std::size_t of) { return (cell + cell / of) % of + 1; }
  bool has(std::size_t cell) const { return with(cell, of) == number; }
};

// The flag --share I/N; all cells without it.
Share share_of(const CommandLine& line);

// The number of tasks of the flag --slurm; 0 without it.
std::size_t tasks_of(const CommandLine& line);

// Submits the tasks that have one of these cells, by sbatch, and prints what was submitted. Throws
// if there is no sbatch, or if it refuses.
void submit(const CommandLine& line, const std::vector<std::size_t>& cells);

// The word in quotes, for the shell.
std::string quoted(const std::string& word);
// The same, but without quotes if the word needs none.
std::string in_shell(const std::string& word);

// "1-3,7" for sorted numbers.
std::string ranges(const std::vector<std::size_t>& numbers);

}  // namespace syncline
