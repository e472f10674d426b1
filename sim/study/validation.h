// Agreement: how much simulated and measured throughput differ, over the rows of a validation
// folder.
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct ValidationRow {
  std::string folder;
  std::string label;  // identifies the row
  int line = 0;       // in measured.csv
  bool fit = false;   // used to choose factors, so figures leave it out
  double measured = 0;
  double simulated = 0;
  double perfect = 0;  // throughput of as many workers alone, added up; 0: not known
  // "BSP-A2A, 8 workers, batch 64": the values in which the folder's rows differ, in words.
  std::string named = {};

  double error() const { return simulated / measured - 1; }
};

struct Agreement {
  int rows = 0;
  double median_error = 0;  // of |error|
  double worst_error = 0;
  // The median error if only computation took time: what a simulation has to beat.
  double perfect_median_error = 0;
  double tau = 0;  // Kendall's tau-b of measured against simulated: 1 is the same ranking
};

// The row with role `report` that is furthest off; a null pointer without such rows.
const ValidationRow* worst_of(const std::vector<ValidationRow>& rows);

// Over the rows with role `report`.
Agreement agreement(const std::vector<ValidationRow>& rows);

// Kendall's tau-b, which allows for ties (to 1e-9); 0 where it is undefined.
double kendall_tau(const std::vector<double>& a, const std::vector<double>& b);
// Of one value or more.
double median(std::vector<double> values);

}  // namespace syncline
