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
                 std::vector<std::string> Figures::*, std::vector<BusyLink> Figures::*,
                 std::map<std::int64_t, std::int64_t> Figures::*>;

enum class Unit { number, samples_per_s, share, seconds, duration, bytes, money, text };

struct Figure {
  std::string name;  // in JSON, and where it is a number in results.csv
  std::vector<std::string>
      titles;  // in tables and reports; the first is that of its column, or else the name
  std::string sentence;
  std::string more;
  FigureMember member;
  AllowedNumbers allowed = {};  // of a number
  Unit unit = Unit::number;

  // What happens with it; none of these by itself.
  struct Roles {
    bool column = false;      // of the table, and of the page's
    bool summary = false;     // a column in pull requests, too
    bool part = false;        // of an iteration: tables show it as a part of its seconds
    bool mean = false;        // of several runs it is the mean; otherwise that of the first
    bool explains = false;    // expected.csv keeps it, and it says why another figure moved
    bool if_learned = false;  // only results of what learns have it
  } roles = {};
  std::string words = {};  // of a part, or of what explains, in sentences

  // Where it is not shown as its unit says.
  std::string (*shown)(const Result&) = nullptr;
  // Where not all tables have its column: whether one with this result has.
  bool (*matters)(const Result&) = nullptr;
  // Where its title is not always the first.
  std::string (*title)(const std::vector<Result>&) = nullptr;

  bool is_number() const { return std::holds_alternative<NumberMember<Figures>>(member); }
};

const std::vector<Figure>& figure_rows();

// The row of this name; none where there is no such figure.
const Figure* find_figure(const std::string& name);

// Of a figure that is a number: its value; none where it is null or the result has it not.
std::optional<double> value_of(const Figure& figure, const Result& result);
std::optional<double> value_of(const std::string& figure, const Result& result);

}  // namespace syncline
