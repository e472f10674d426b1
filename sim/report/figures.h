// A row for each figure of a result: what it is called, what it means, where it is and where it is
// shown. JSON, results.csv, tables, pages, the gate, help and the schema go through these rows.
// sim/report/README.md has the formulas.
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
  // Uses that a figure can have beside JSON, results.csv and help.
  enum Role : unsigned {
    none = 0,
    column = 1,       // tables have it, and the page's
    summary = 2,      // the table in a pull request has it, too
    part = 4,         // it is a part of an iteration, and tables show it as a part of its seconds
    mean = 8,         // of several runs it is their mean; any other is that of the first
    explains = 16,    // expected.csv keeps it, and it says why another figure moved
    if_learned = 32,  // only results of what learns have it
  };
  // Properties that only some figures have.
  struct Traits {
    std::vector<std::string> titles = {};  // other names in tables and reports; first its column's
    std::string words = {};                // of a part, or of what explains, in sentences
    AllowedNumbers allowed = {};
    // A table shows it with this, if not as its unit says.
    std::string (*shown)(const Result&) = nullptr;
    // If not all tables have its column: whether one with this result has it.
    bool (*matters)(const Result&) = nullptr;
    // If its title is not always the first.
    std::string (*title)(const std::vector<Result>&) = nullptr;
  };

  std::string name;  // in JSON, and where it is a number in results.csv
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

// What stands beside a name in the lists of figures: in JSON by these names.
const std::vector<NamedNumber<WorkerFigures>>& numbers_of(const WorkerFigures& worker);
const std::vector<NamedNumber<BusyLink>>& numbers_of(const BusyLink& link);

// The row of this name; none where there is no such figure.
const Figure* find_figure(const std::string& name);

// The value of a figure that is a number; none where it is null or the result has it not.
std::optional<double> value_of(const Figure& figure, const Result& result);
std::optional<double> value_of(const std::string& figure, const Result& result);

// The value that a column has: a part of an iteration is a part of its seconds.
std::optional<double> column_value(const Figure& figure, const Result& result);

// The text that a table has.
std::string shown_in_table(const Figure& figure, const Result& result);
std::string title_of(const Figure& figure, const std::vector<Result>& results);

// The columns of a table of these results, in their order: of a pull request those with the role
// `summary`.
std::vector<const Figure*> columns_of(const std::vector<Result>& results,
                                      Figure::Role role = Figure::column);

// Results of before did not say these: they had one run, and servers whose software took no time.
bool may_be_missing(const Figure& figure);

}  // namespace syncline
