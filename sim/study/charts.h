// Charts as values: what is drawn, and a sentence that says what the chart shows. The page draws
// them in a browser, --svg writes them as files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/study/comparison.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"
#include "sim/study/validation.h"

namespace syncline {

enum class Scale { linear, log2, log10 };

struct Axis {
  std::string title;
  std::string unit;  // of its numbers: "", "s", "%" (for fractions), "samples/s"
  Scale scale = Scale::linear;
};

constexpr int no_colour = -1;  // grey: a bound

struct Series {
  std::string name;
  int colour = no_colour;
  int dash = 0;
  std::vector<double> x;  // none for bars, which have one value per category in y
  std::vector<double> y;
  std::vector<std::string> notes;    // of points: details for a reader
  std::vector<SeedBand> bands = {};  // around y, for lines of pooled cells; else none
  bool is_dots = false;              // marks without a line, in files of figures
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
  std::string variant;  // tells charts of one id apart: "32 workers"
  Axis x, y;
  std::vector<std::string> categories;
  std::vector<int> colours;  // of the categories
  std::vector<Series> series;
};

// The charts of a case, in the order in which a reader needs them. The last variant is shown first.
std::vector<Chart> charts_of(const Comparison& compared, std::size_t in_case);

// The charts of loss and held-out accuracy among charts_of(). Each has a curve per cell, of the
// best twelve, thinned so that a page has room for all, and a variant for each quantity on the x
// axis.
std::vector<Chart> learning_charts(const Comparison& compared, std::size_t in_case);

// "; the 12 best of 60 are drawn": the end of a chart's sentence. Empty if all are drawn.
std::string of_more(std::size_t all, std::size_t most);

// Measured against simulated throughput: a series per folder.
Chart agreement_chart(const std::vector<ValidationRow>& rows);
std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows);

// Maps of sweeps over two numbers and a choice: which choice wins where, and where choices tie.
struct Tile {
  std::size_t x = 0, y = 0;           // index in Map::xs and ys
  std::optional<std::size_t> winner;  // index in Map::choices; none: there is a tie
  std::string first;                  // the fastest choice, also in a tie
  double samples_per_s = 0;           // of `first`
  std::vector<std::string> tied;      // the choices that tie with `first`
  std::string runner_up;              // empty: there is only one choice
  double margin = 1;                  // throughput of `first` over the runner-up's
  std::size_t in_case = 0;            // index in Comparison::cases, of `first`
};

// A piece of the line on which two choices are equally fast, in positions among xs and ys: 0.5 is
// half way between the first two.
struct Crossing {
  double from_x = 0, from_y = 0, to_x = 0, to_y = 0;
};

struct Map {
  std::string name;  // what all its cells share and other cells do not: "resnet50"
  std::string sentence;
  Axis x, y;
  std::vector<double> xs, ys;
  std::vector<Series> choices;  // the choices that win somewhere without a tie: name and colour
  std::vector<Tile> tiles;
  std::vector<Crossing> crossings;
};

// Empty if the cells do not differ in two numbers and a choice. The ranking of the same results
// says which leads are too small to count.
std::vector<Map> maps_of(const Comparison& compared, const Ranking& ranking);

}  // namespace syncline
