// The cells of a sweep as a reader compares them: what tells them apart, which share a chart, and
// the colour that each has on the whole page.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

constexpr std::size_t most_series = 12;  // more cannot be told apart in a chart

struct StudyCell {
  const Result* result = nullptr;
  double x = 0;             // value of Study::x_option; 0 without such an option
  std::size_t in_case = 0;  // index in Study::cases
  std::string series;       // "bsp ring": the choices that tell the series of a case apart
  std::string name;         // "bsp ring, 32 workers": tells it apart from all others
  int colour = 0;           // one per schedule, if schedules differ
  int dash = 0;             // tells series of one colour apart

  double throughput() const { return result->figures.throughput_samples_per_s; }
  double efficiency() const { return result->figures.scaling_efficiency; }
};

struct Study {
  std::string x_option;                      // the option on the x axis of curves; empty: none
  std::vector<std::string> telling_options;  // see telling_options()
  std::vector<std::string> series_options;   // those of them that are choices
  std::vector<std::string> cases;  // "resnet50, gbe-32x1": the options that are not choices
  std::vector<StudyCell> cells;    // in the order of the results
  const std::vector<Result>* results = nullptr;
};

// The study refers to these results, which must outlive it.
Study study_of(const std::vector<Result>& results);
Study study_of(std::vector<Result>&&) = delete;

// Each option in which results differ that agree in all earlier options. A parameter that only one
// schedule has is among them only if it has several values.
std::vector<std::string> telling_options(const std::vector<Result>& results);

// For each result, the values of these options that tell it from the others. Among results that are
// alike so far, an option with a single value is left out.
std::vector<std::string> names_of(const std::vector<Result>& results,
                                  const std::vector<std::string>& options, const char* between);

// The value as a finite number; none if it is not one.
std::optional<double> number_of(const std::string& value);

// The values of the option in these results; none if one of them is not a finite number.
std::set<double> numbers_of(const std::vector<Result>& results, const std::string& option);

// "32 workers", "density 0.01", "asp": a value in words.
std::string said(const std::string& option, const std::string& value);
// The names of an option's values in these results, by value, all different. `shortest`: names of
// platforms in words have only what tells them apart.
std::map<std::string, std::string> names_of_values(const std::vector<Result>& results,
                                                   const std::string& option, bool shortest);

// "workers-8_schedule-bsp" from the swept options of a cell; "result" without any.
std::string cell_name(const std::map<std::string, std::string>& written,
                      const std::vector<std::string>& swept);

// A warning, and the names of its cells: "bsp, 8 workers; bsp, 16 workers; 2 more". Cells that do
// not fit into memory share one warning, with the arithmetic of the first.
struct StudyWarning {
  std::string cells;
  std::string text;
};
std::vector<StudyWarning> warnings_of(const Study& study);

// The places of all results: 0, 1, 2, ...
std::vector<std::size_t> all_places(const std::vector<Result>& results);

// The options in which two of the results at these places differ, in alphabetical order, including
// options that nobody wrote, such as the exchange that a compressor needs. An option that only some
// of the results have is among them if those have different values of it.
std::vector<std::string> differing_options(const std::vector<Result>& results,
                                           const std::vector<std::size_t>& places);

// A key of all options but these: results that differ only in these have the same key.
std::string options_but(const Result& result, const std::vector<std::string>& but);

// These options, then the others in which the results differ.
std::vector<std::string> with_differing(std::vector<std::string> options,
                                        const std::vector<Result>& results);

}  // namespace syncline
