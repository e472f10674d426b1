// The long form of law 26: prints how far both fidelities are from the reference, by exchange and
// kind of platform. Flags: --only drawn|shipped, --seeds N of each kind of platform, --kinds "A;B",
// --exchanges "A;B", --sizes "A;B", --set OPTION=VALUE in all cells, --jobs N, --csv FILE of cells.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/reference/cells.h"
#include "tests/reference/scenarios.h"

namespace {

using namespace syncline::reference;

struct Asked {
  int seeds = 4;
  std::set<std::string> kinds, exchanges, sizes;  // empty: all
  std::string csv;
  Words set;  // options set in all cells
  bool drawn = true;
  bool shipped = true;
  int jobs = 2;
};

std::set<std::string> parts_of(const std::string& list) {
  std::set<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ';');)
    parts.insert(part);
  return parts;
}

Asked asked(int argc, char** argv) {
  Asked result;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc)
        throw std::invalid_argument(flag + " needs a value");
      return argv[i];
    };
    if (flag == "--seeds")
      result.seeds = std::stoi(value());
    else if (flag == "--kinds")
      result.kinds = parts_of(value());
    else if (flag == "--exchanges")
      result.exchanges = parts_of(value());
    else if (flag == "--sizes")
      result.sizes = parts_of(value());
    else if (flag == "--csv")
      result.csv = value();
    else if (flag == "--set") {
      const std::string option = value();
      result.set[option.substr(0, option.find('='))] = option.substr(option.find('=') + 1);
    } else if (flag == "--jobs")
      result.jobs = std::stoi(value());
    else if (flag == "--only") {
      const std::string which = value();
      result.drawn = which == "drawn";
      result.shipped = which == "shipped";
    } else {
      throw std::invalid_argument("unknown flag " + flag);
    }
  }
  return result;
}

bool wanted(const std::set<std::string>& names, const std::string& name) {
  return names.empty() || names.contains(name);
}

struct Errors {
  std::vector<double> errors;
  double worst = 0;
  std::string worst_cell;

  void add(double error, const Cell& cell) {
    errors.push_back(std::abs(error));
    if (std::abs(error) > std::abs(worst) || worst_cell.empty()) {
      worst = error;
      worst_cell = cell.platform + ", " + cell.size;
    }
  }
  double median() {
    std::ranges::sort(errors);
    return errors.empty() ? 0 : errors[errors.size() / 2];
  }
};

std::string word(const Cell& cell, const std::string& option) {
  const auto given = cell.options.find(option);
  return given == cell.options.end() ? "" : given->second;
}

// Of two exchanges that do the same, which is faster? Only where the reference's answers differ by
// 3 %.
void print_rankings(const std::vector<Cell>& cells, const std::vector<Outcome>& outcomes) {
  std::map<std::vector<std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (outcomes[i].has_ended() && outcomes[i].is_decided())
      groups[{cells[i].platform, cells[i].size, word(cells[i], "schedule"), word(cells[i], "cache"),
              word(cells[i], "compressor")}]
          .push_back(i);
  int pairs = 0;
  int in_steps = 0;
  int in_flows = 0;
  for (const auto& [key, group] : groups)
    for (const std::size_t a : group)
      for (const std::size_t b : group)
        if (outcomes[b].reference_s >= 1.03 * outcomes[a].reference_s) {
          ++pairs;
          in_steps += outcomes[b].step_s <= outcomes[a].step_s ? 1 : 0;
          in_flows += outcomes[b].flow_s <= outcomes[a].flow_s ? 1 : 0;
        }
  std::printf("%d pairs of exchanges 3 %% apart; in another order in steps: %d, in flows: %d\n",
              pairs, in_steps, in_flows);
}

void print(const std::vector<Cell>& cells, const std::vector<Outcome>& outcomes) {
  std::map<std::pair<std::string, std::string>, std::pair<Errors, Errors>> rows;
  int refused = 0;
  int failed = 0;
  int right_in_steps = 0;
  int right_in_flows = 0;
  int above_ten = 0;
  int undecided = 0;
  int compared = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    refused += outcome.refused ? 1 : 0;
    if (!outcome.error.empty() && !outcome.refused) {  // the reference refuses nothing
      std::printf("failed: %s, %s, %s: %s\n", cells[i].what.c_str(), cells[i].platform.c_str(),
                  cells[i].size.c_str(), outcome.error.c_str());
      ++failed;
    }
    if (!outcome.has_ended())
      continue;
    if (!outcome.is_decided()) {
      ++undecided;
      continue;
    }
    ++compared;
    auto& [step, flow] = rows[{cells[i].what, cells[i].kind}];
    step.add(outcome.step_error(), cells[i]);
    flow.add(outcome.flow_error(), cells[i]);
    right_in_steps += std::abs(outcome.step_error()) <= 0.005 ? 1 : 0;
    right_in_flows += std::abs(outcome.flow_error()) <= 0.03 ? 1 : 0;
    above_ten += std::abs(outcome.flow_error()) > 0.1 ? 1 : 0;
  }
  std::printf("%-18s %-16s %5s  %9s %9s  %9s %9s  worst in steps; in flows\n", "exchange",
              "platform", "cells", "step med", "worst", "flow med", "worst");
  for (auto& [key, errors] : rows) {
    auto& [step, flow] = errors;
    std::printf("%-18s %-16s %5zu  %8.2f%% %8.2f%%  %8.2f%% %8.2f%%  %s; %s\n", key.first.c_str(),
                key.second.c_str(), step.errors.size(), 100 * step.median(), 100 * step.worst,
                100 * flow.median(), 100 * flow.worst, step.worst_cell.c_str(),
                flow.worst_cell.c_str());
  }
  std::printf(
      "%d cells compared, %d refused (nodes of several sizes), %d undecided (some come at "
      "one moment), %d failed; step within 0.5 %%: %d; flow within 3 %%: %d, beyond 10 %%: %d\n",
      compared, refused, undecided, failed, right_in_steps, right_in_flows, above_ten);
}

void write_csv(const std::string& path, const std::vector<Cell>& cells,
               const std::vector<Outcome>& outcomes) {
  std::ofstream csv(path);
  csv.precision(9);
  csv << "exchange,kind,platform,size,reference_s,undecided,step_s,flow_s,step_error,flow_error,"
         "remark\n";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const Outcome& outcome = outcomes[i];
    csv << '"' << cell.what << "\"," << cell.kind << ',' << cell.platform << ',' << cell.size
        << ',';
    if (!outcome.has_ended())
      csv << ",,,,,," << (outcome.refused ? "refused" : "failed") << '\n';
    else
      csv << outcome.reference_s << ',' << outcome.undecided << ',' << outcome.step_s << ','
          << outcome.flow_s << ',' << outcome.step_error() << ',' << outcome.flow_error() << ','
          << (!outcome.is_decided() ? "undecided"
              : outcome.warned      ? "warned"
                                    : "")
          << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Asked what = asked(argc, argv);
    std::vector<Cell> cells;
    const auto add = [&](const std::vector<Cell>& some) {
      for (const Cell& cell : some)
        if (wanted(what.exchanges, cell.what) && wanted(what.kinds, cell.kind) &&
            wanted(what.sizes, cell.size))
          cells.push_back(cell);
    };
    for (const std::string& kind : kinds_of_platforms())
      for (int seed = 0; what.drawn && seed < what.seeds; ++seed)
        add(drawn_cells(drawn_platform(kind, static_cast<std::uint64_t>(seed))));
    if (what.drawn)
      add(long_rings());
    if (what.shipped)
      add(shipped_cells());
    for (Cell& cell : cells)
      for (const auto& [name, value] : what.set)
        cell.options[name] = value;
    const std::vector<Outcome> outcomes = outcomes_of(cells, what.jobs);
    print(cells, outcomes);
    print_rankings(cells, outcomes);
    if (!what.csv.empty())
      write_csv(what.csv, cells, outcomes);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
