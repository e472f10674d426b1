// Figures as columns of tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"

namespace syncline {

// As a column has it: parts of an iteration as such.
std::optional<double> column_value(const Figure& figure, const Result& result);

// As a table has it.
std::string shown_in_table(const Figure& figure, const Result& result);
std::string title_of(const Figure& figure, const std::vector<Result>& results);

// The columns of a table of these results, in their order: of a pull request those with the role
// `summary`.
std::vector<const Figure*> columns_of(const std::vector<Result>& results,
                                      bool Figure::Roles::*role = &Figure::Roles::column);

// "node0-nic_UP 97 %"; "-" where none is used.
std::string busiest_link_shown(const Result& result);

}  // namespace syncline
