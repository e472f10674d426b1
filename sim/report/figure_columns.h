// Figures as columns of tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"

namespace syncline {

// The value that a column has: a part of an iteration is a part of its seconds.
std::optional<double> column_value(const Figure& figure, const Result& result);

// The text that a table has.
std::string shown_in_table(const Figure& figure, const Result& result);
std::string title_of(const Figure& figure, const std::vector<Result>& results);

// The columns of a table of these results, in their order: of a pull request those with the role
// `summary`.
std::vector<const Figure*> columns_of(const std::vector<Result>& results,
                                      Figure::Role role = Figure::column);

// "node0-nic_UP 97 %"; "-" where none is used.
std::string busiest_link_shown(const Result& result);

}  // namespace syncline
