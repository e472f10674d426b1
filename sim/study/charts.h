// Charts as values: what is drawn, and the sentence that says what it shows. The page draws them in
// a browser, --svg writes them as files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
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
  std::vector<std::string> notes;    // of points, where a reader would ask further
  std::vector<SeedBand> bands = {};  // of lines of pooled cells, around y; else none
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

// "; the 12 best of 60 are drawn": the end of such a chart's sentence. Empty where all are.
std::string of_more(std::size_t all, std::size_t most);

// Measured against simulated throughput: a series per folder.
Chart agreement_chart(const std::vector<ValidationRow>& rows);
std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows);

// Sweeps over two numbers and a choice: which choice wins where, and where they take as long.
struct Tile {
  std::size_t x = 0, y = 0;           // of Map::xs and ys
  std::optional<std::size_t> winner;  // of Map::choices; none: the first ties
  std::string first;                  // the fastest, also of what ties
  double samples_per_s = 0;           // of the first
  std::vector<std::string> tied;      // what ties with the first
  std::string runner_up;              // empty: there is one choice only
  double margin = 1;                  // of the first's throughput over the runner-up's
  std::size_t in_case = 0;            // of Study::cases: that of the first
};

// A piece of the line where two choices are as fast, in places among xs and ys: 0.5 is half way
// between the first two.
struct Crossing {
  double from_x = 0, from_y = 0, to_x = 0, to_y = 0;
};

struct Map {
  std::string name;  // what all cells share where others do not: "resnet50"
  std::string sentence;
  Axis x, y;
  std::vector<double> xs, ys;
  std::vector<Series> choices;  // those that win anywhere, without a tie: name and colour
  std::vector<Tile> tiles;
  std::vector<Crossing> crossings;
};

// Empty where cells do not differ in two numbers and a choice. The ranking, of the same results,
// says which leads are none.
std::vector<Map> maps_of(const Study& study, const Ranking& ranking);

}  // namespace syncline
