// Charts as values: what is drawn, and the sentence that says what it shows. The page draws them in
// a browser, --svg writes them as files.
#pragma once

#include <string>
#include <vector>

#include "sim/study/study.h"
#include "sim/study/validation.h"

namespace syncline {

enum class Scale { linear, log2, log10 };

struct Axis {
  std::string title;
  std::string unit;  // of its numbers: "", "s", "%" (of parts of one), "samples/s"
  Scale scale = Scale::linear;
};

constexpr int no_colour = -1;  // grey: a bound

struct Series {
  std::string name;
  int colour = no_colour;
  int dash = 0;
  std::vector<double> x;  // of bars: one value per category in y, and none here
  std::vector<double> y;
  std::vector<std::string> notes;  // of points, where a reader would ask further
};

struct Chart {
  enum class Kind {
    lines,
    curves,   // lines of many points, without marks
    stack,    // horizontal bars, one per category, whose parts are the series
    bars,     // horizontal bars, one per category, of the only series
    columns,  // a small chart per series, of x and y
    points    // measured against simulated
  } kind = Kind::lines;
  std::string id;  // "throughput": also the name of its file
  std::string title;
  std::string sentence;
  std::string variant;  // where there are several of one id: "32 workers"
  Axis x, y;
  std::vector<std::string> categories;
  std::vector<int> colours;  // of the categories
  std::vector<Series> series;
};

// The charts of a case are in the order in which a reader needs them. The variant to begin with is
// the last.
std::vector<Chart> charts_of(const Study& study, std::size_t in_case);

// Those of them that show loss and held-out accuracy of what learns: a curve per cell, of the best
// twelve, each thinned so that a page has room for all; a variant for each thing that they are
// drawn against.
std::vector<Chart> learning_charts(const Study& study, std::size_t in_case);

// Measured against simulated throughput: a series per folder.
Chart agreement_chart(const std::vector<ValidationRow>& rows);
std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows);

}  // namespace syncline
