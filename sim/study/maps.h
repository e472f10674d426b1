// Sweeps over two numbers and a choice: which choice wins where, and where they take as long.
#pragma once

#include <string>
#include <vector>

#include "sim/study/charts.h"

namespace syncline {

struct Tile {
  std::size_t x = 0, y = 0;  // of Map::xs and ys
  std::size_t winner = 0;    // of Map::choices
  double samples_per_s = 0;
  std::string runner_up;  // empty: there is one choice only
  double margin = 1;      // of the winner's throughput over the runner-up's
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
  std::vector<Series> choices;  // those that win anywhere: name and colour
  std::vector<Tile> tiles;
  std::vector<Crossing> crossings;
};

// Empty where cells do not differ in two numbers and a choice.
std::vector<Map> maps_of(const Study& study);

}  // namespace syncline
