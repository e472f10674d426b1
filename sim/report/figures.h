// A row for each figure of a result: its names, its meaning, its member and where it is shown.
// JSON, results.csv, tables, pages, the gate, help and the schema are made from these rows.
// sim/report/figures.md has the formulas.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/report/number_member.h"
#include "sim/result.h"

namespace syncline {

using FigureMember =
    std::variant<NumberMember<Figures>, std::string Figures::*, std::vector<double> Figures::*,
                 std::vector<Warning> Figures::*, std::vector<BusyLink> Figures::*,
                 std::vector<WorkerFigures> Figures::*,
                 std::map<std::int64_t, std::int64_t> Figures::*>;

enum class Unit { number, samples_per_s, share, seconds, duration, bytes, money, text };

struct Figure {
  // Uses of a figure besides JSON, results.csv and help.
  enum Role : unsigned {
    none = 0,
    column = 1,       // in tables, and in the page's table
    summary = 2,      // also in the table in a pull request
    part = 4,         // a part of an iteration, which tables show as a part of its seconds
    mean = 8,         // of several runs it is their mean; other figures are of the first run
    explains = 16,    // expected.csv keeps it, to explain why another figure moved
    if_learned = 32,  // only in results of runs that learn
  };
  // Properties that only some figures have.
  struct Traits {
    // Other names in tables and reports; the first is the column's.
    std::vector<std::string> titles = {};
    std::string words = {};  // its name in sentences, for a part or a figure that explains
    AllowedNumbers allowed = {};
    // Its text in a table. Null: as its unit says.
    std::string (*shown)(const Result&) = nullptr;
    // Whether a table with this result has its column. Null: every table has.
    bool (*matters)(const Result&) = nullptr;
    // The title of its column. Null: the first of `titles`.
    std::string (*title)(const std::vector<Result>&) = nullptr;
  };

  std::string name;  // in JSON, and in results.csv if it is a number
  FigureMember member;
  Unit unit = Unit::number;
  unsigned roles = none;
  std::string sentence;
  std::string more;
  Traits traits = {};

  bool has(Role role) const { return (roles & role) != 0; }
  bool is_number() const { return std::holds_alternative<NumberMember<Figures>>(member); }
};

const std::vector<Figure>& figure_rows();

// The numbers beside `name` in the lists of figures, by their names in JSON.
const std::vector<NamedNumber<WorkerFigures>>& numbers_of(const WorkerFigures& worker);
const std::vector<NamedNumber<BusyLink>>& numbers_of(const BusyLink& link);

// Null if there is no figure of this name.
const Figure* find_figure(const std::string& name);

// The value of a figure that is a number; none if it is null or not in the result.
std::optional<double> value_of(const Figure& figure, const Result& result);
std::optional<double> value_of(const std::string& figure, const Result& result);

// The value in a column: a part of an iteration is divided by the iteration's seconds.
std::optional<double> column_value(const Figure& figure, const Result& result);

// The text in a table.
std::string shown_in_table(const Figure& figure, const Result& result);
std::string title_of(const Figure& figure, const std::vector<Result>& results);

// The columns of a table of these results, in their order; with the role `summary`, of the table in
// a pull request.
std::vector<const Figure*> columns_of(const std::vector<Result>& results,
                                      Figure::Role role = Figure::column);

// Whether results of older versions may lack this figure.
bool may_be_missing(const Figure& figure);

}  // namespace syncline
