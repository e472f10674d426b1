// What tells the cells of a sweep apart: which of them share a chart, which compete, and what each
// is called. Charts, maps, rankings and pages read this one value.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/result.h"
#include "sim/study/ordered_lists.h"

namespace syncline {

using Results = std::vector<Result>;
using Indices = std::vector<std::size_t>;  // of results

constexpr std::size_t most_series = 12;  // more cannot be told apart in a chart

struct ComparedCell {
  const Result* result = nullptr;
  double x = 0;             // value of Comparison::x_option; 0 without such an option
  std::size_t in_case = 0;  // index in Comparison::cases
  std::string series;       // "bsp ring": the choices that tell the series of a case apart
  std::string name;         // "bsp ring, 32 workers": tells it apart from all others
  int colour = 0;           // one per schedule, if schedules differ
  int dash = 0;             // tells series of one colour apart

  double throughput() const { return result->figures.throughput_samples_per_s; }
  double efficiency() const { return result->figures.scaling_efficiency; }
};

// Results that compete: a user may choose among them.
struct Contest {
  std::vector<std::pair<std::string, std::string>> setting;  // tells this contest from others
  std::vector<std::pair<std::size_t, std::string>> choices;  // places and "bsp over ring with topk"
};

struct Contests {
  Words differing;             // the options in which results differ
  Words settings;              // those of them that tell contests apart
  std::string purchase;        // the setting whose values compete by their bests; empty: none
  std::vector<Contest> all;    // in the order of the results
  bool none_competes = false;  // each result is alone in its contest
};

struct Comparison {
  std::string x_option;             // the option on the x axis of curves; empty: none
  Words telling_options;            // see telling_options()
  Words series_options;             // those of them that are choices
  Words cases;                      // "resnet50, gbe-32x1": the options that are not choices
  std::vector<ComparedCell> cells;  // in the order of the results
  Contests contests;                // of the results that did not diverge
  const Results* results = nullptr;

  // "1,024 workers": a place on the x axis; empty without an x axis.
  std::string at(double x) const;
  // "bsp ring, 32 workers": tells the cell apart from others of its case.
  std::string name_in_case(const ComparedCell& cell) const;
  std::vector<const ComparedCell*> cells_of(std::size_t in_case) const;
};

// The comparison refers to these results, which must outlive it.
Comparison comparison_of(const Results& results);
Comparison comparison_of(Results&&) = delete;

// The places of all results: 0, 1, 2, ...
Indices all_places(const Results& results);

// The contests of the results at these places alone.
Contests contests_among(const Results& results, const Indices& places);

// Each option in which results differ that agree in all earlier options. A parameter that only one
// schedule has is among them only if it has several values.
Words telling_options(const Results& results);

// For each result, the values of these options that tell it from the others. Among results that are
// alike so far, an option with a single value is left out.
Words names_of(const Results& results, const Words& options, const char* between);

// The values of the option in these results; none if one of them is not a finite number.
std::set<double> numbers_of(const Results& results, const std::string& option);

// A key of all options but these: results that differ only in these have the same key.
std::string options_but(const Result& result, const Words& but);

// These options, then the others in which the results differ, in alphabetical order, including
// options that nobody wrote, such as the exchange that a compressor needs. An option that only some
// of the results have is among them if those have different values of it.
Words with_differing(Words options, const Results& results);

// A warning, and the names of its cells: "bsp, 8 workers; bsp, 16 workers; 2 more". Cells that do
// not fit into memory share one warning, with the arithmetic of the first.
struct WarnedCells {
  std::string cells;
  std::string text;
};
std::vector<WarnedCells> warnings_of(const Comparison& compared);

}  // namespace syncline
