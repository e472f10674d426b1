// What the figures of results and the columns of tables mean, for `syncline help`. sim/README.md
// has their formulas.
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct Figure {
  std::string name;                 // in a result's JSON, and where it is one number in results.csv
  std::vector<std::string> titles;  // in tables and reports
  std::string sentence;
  std::string more;
};

const std::vector<Figure>& figures();

}  // namespace syncline
