// The cells of a sweep as a reader compares them: what tells them apart, what belongs into one
// chart, and which colour each has on the whole page.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

constexpr std::size_t most_series = 12;  // that a reader can tell apart in a chart

struct StudyCell {
  const Result* result = nullptr;
  double x = 0;             // value of Study::x_option; 0 where there is none
  std::size_t in_case = 0;  // of Study::cases
  std::string series;       // "bsp ring": the choices, as short as tells series of a case apart
  std::string name;         // "bsp ring, 32 workers": tells it apart from all others
  int colour = 0;           // one per schedule, where schedules differ
  int dash = 0;             // tells series of one colour apart

  double throughput() const { return result->figures.throughput_samples_per_s; }
  double efficiency() const { return result->figures.scaling_efficiency; }
};

struct Study {
  std::string x_option;                      // what curves are drawn against; empty: nothing
  std::vector<std::string> telling_options;  // see telling_options()
  std::vector<std::string> series_options;   // those of them that are choices
  std::vector<std::string> cases;            // "resnet50, gbe-32x1": what is not a choice
  std::vector<StudyCell> cells;              // in the order of the results
  const std::vector<Result>* results = nullptr;
};

// Its cells are of these results, which have to live as long.
Study study_of(const std::vector<Result>& results);
Study study_of(std::vector<Result>&&) = delete;

// The options whose values differ although those before them are the same: a parameter that only
// one schedule has is not among them.
std::vector<std::string> telling_options(const std::vector<Result>& results);

// The values of these options that tell results apart, and no others: where all that are alike so
// far have one value of the next option, it says nothing.
std::vector<std::string> names_of(const std::vector<Result>& results,
                                  const std::vector<std::string>& options, const char* between);

// The value as a finite number; none if it is not one.
std::optional<double> number_of(const std::string& value);

// The values that the option has in these results; none if one of them is no finite number.
std::set<double> numbers_of(const std::vector<Result>& results, const std::string& option);

// "32 workers", "density 0.01", "asp": a value as people say it.
std::string said(const std::string& option, const std::string& value);
// What the values that an option has in these results are said to be, by value, and no two alike.
// The shortest names of platforms in words are of what tells them apart.
std::map<std::string, std::string> names_of_values(const std::vector<Result>& results,
                                                   const std::string& option, bool shortest);

// "workers-8_schedule-bsp" from the swept options of a cell; "result" without any.
std::string cell_name(const std::map<std::string, std::string>& written,
                      const std::vector<std::string>& swept);

// "bsp, 8 workers; bsp, 16 workers; 2 more": what its cells are warned of, and the names of those
// that are. Those that do not fit into memory are together, with the arithmetic of the first.
struct StudyWarning {
  std::string cells;
  std::string text;
};
std::vector<StudyWarning> warnings_of(const Study& study);

// The places of all results: 0, 1 and so on.
std::vector<std::size_t> all_places(const std::vector<Result>& results);

// The options that two of the results in these places have with different values, in alphabetical
// order: also those that nobody wrote, as the exchange that a compressor needs. Not those that mean
// something to some of them only.
std::vector<std::string> differing_options(const std::vector<Result>& results,
                                           const std::vector<std::size_t>& places);

// A key of all options but these: results that differ in these only have the same.
std::string options_but(const Result& result, const std::vector<std::string>& but);

// These options, and then the others in which the results differ.
std::vector<std::string> with_differing(std::vector<std::string> options,
                                        const std::vector<Result>& results);

}  // namespace syncline
