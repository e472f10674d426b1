#include "sim/report/learned_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double most_of_a_count = 1e18;  // so that each can be printed
constexpr double any = std::numeric_limits<double>::max();
constexpr std::size_t most_rows = 1'000'000;

struct Allowed {
  double least = 0, most = most_of_a_count;
  bool null = false;
};
constexpr Allowed count{};
constexpr Allowed amount{.most = any};  // of what may be anything from 0
constexpr Allowed share{.most = 1};
constexpr Allowed loss{.least = -any, .most = any, .null = true};
constexpr Allowed edge{.least = -100, .most = 100, .null = true};

constexpr Allowed or_null(Allowed allowed) {
  allowed.null = true;
  return allowed;
}

template <class Row>
struct Column {
  const char* name;
  Allowed allowed;
  std::function<std::optional<double>(const Row&)> value;
};

struct Table {
  std::string name;
  std::string begin;    // of its first line, by contract: other columns come after these
  const char* nothing;  // a null, in CSV
  bool always;          // has a file even without rows
  std::vector<std::pair<std::string, Allowed>> columns;
  std::function<Json(const Learned&)> made;
};

template <class Row>
Table table_of(const char* name, const char* begin, const char* nothing, bool always,
               const std::vector<Column<Row>>& columns, std::vector<Row> Learned::*rows) {
  Table table{.name = name, .begin = begin, .nothing = nothing, .always = always};
  for (const Column<Row>& column : columns)
    table.columns.emplace_back(column.name, column.allowed);
  table.made = [columns, rows](const Learned& learned) {
    Json made = Json::object();
    for (const Column<Row>& column : columns) {
      Json& values = made[column.name] = Json::array();
      for (const Row& row : learned.*rows) {
        const std::optional<double> value = column.value(row);
        values.push_back(value && std::isfinite(*value) ? Json(*value) : Json(nullptr));
      }
    }
    return made;
  };
  return table;
}

const std::vector<Table>& tables() {
  using Point = CurvePoint;
  using Iteration = CompressedIteration;
  using Bin = HistogramBin;
  static const std::vector<Table> all{
      table_of<Point>("curve", "seconds,samples,bytes,loss,accuracy", "nan", true,
                      {{"seconds", count, &Point::seconds},
                       {"samples", count, &Point::samples},
                       {"bytes", count, &Point::bytes},
                       {"loss", loss, &Point::loss},
                       {"accuracy", or_null(share), &Point::accuracy},
                       {"iterations", count, &Point::iterations},
                       {"train_accuracy", or_null(share), &Point::train_accuracy},
                       {"heldout_loss", loss, &Point::heldout_loss}},
                      &Learned::curve),
      table_of<Iteration>(
          "compression", "iteration,messages,values,sent_values", "", false,
          {{"iteration", count, &Iteration::iteration},
           {"messages", count,
            [](const Iteration& i) { return static_cast<double>(i.means.messages); }},
           {"values", count, [](const Iteration& i) { return i.means.values; }},
           {"sent_values", count, [](const Iteration& i) { return i.means.sent_values; }},
           {"least_sent_values", count,
            [](const Iteration& i) { return i.means.least_sent_values; }},
           {"most_sent_values", count, [](const Iteration& i) { return i.means.most_sent_values; }},
           {"target_values", or_null(count),
            [](const Iteration& i) { return i.means.target_values; }},
           {"left_out", amount, [](const Iteration& i) { return i.means.left_out; }},
           {"left_out_bound", or_null(amount),
            [](const Iteration& i) { return i.means.left_out_bound; }},
           {"left_out_bound_squared", or_null(amount),
            [](const Iteration& i) { return i.means.left_out_bound_squared; }},
           {"bits_per_value", count, [](const Iteration& i) { return i.means.bits_per_value; }},
           {"bits_bound", or_null(count), [](const Iteration& i) { return i.means.bits_bound; }}},
          &Learned::each_compressed),
      table_of<Bin>("histogram", "iteration,from,to,share", "", false,
                    {{"iteration", count, &Bin::iteration},
                     {"from", edge, &Bin::from},
                     {"to", edge, &Bin::to},
                     {"share", share, &Bin::share},
                     {"square_share", share, &Bin::square_share},
                     {"normal_share", share, &Bin::normal_share},
                     {"normal_square_share", share, &Bin::normal_square_share}},
                    &Learned::histogram)};
  return all;
}

const Table& table_named(const std::string& name) {
  return *std::ranges::find(tables(), name, &Table::name);
}

bool is_allowed(const Json& value, const Allowed& allowed) {
  if (value.is_null())
    return allowed.null;
  return value.is_number() && value.get<double>() >= allowed.least &&
         value.get<double>() <= allowed.most;
}

// The fewest digits that read back to the same double.
std::string exact_text(double number) {
  const std::string text = Json(number).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

const std::vector<std::string> learned_tables{"curve", "compression", "histogram"};

Json learned_table(const std::string& name, const Learned& learned) {
  return table_named(name).made(learned);
}

bool is_learned_table(const std::string& name, const Json& json) {
  const Table& table = table_named(name);
  if (!json.is_object() || json.size() != table.columns.size())
    return false;
  std::optional<std::size_t> rows;
  for (const auto& [column, allowed] : table.columns) {
    const auto found = json.find(column);
    if (found == json.end() || !found->is_array() || found->size() > most_rows ||
        found->size() != rows.value_or(found->size()))
      return false;
    rows = found->size();
    for (const Json& value : *found)
      if (!is_allowed(value, allowed))
        return false;
  }
  return true;
}

std::string table_csv(const Json& result, const std::string& name) {
  const Table& table = table_named(name);
  const Json& json = result["learning"][name];
  std::string text;
  std::vector<const Json*> columns;
  for (const auto& [column, allowed] : table.columns) {
    text += (columns.empty() ? "" : ",") + column;
    columns.push_back(&json[column]);
  }
  text += "\n";
  const std::size_t rows = columns.front()->size();
  if (rows == 0 && !table.always)
    return "";
  for (std::size_t row = 0; row < rows; ++row)
    for (const Json* column : columns) {
      const Json& value = (*column)[row];
      text += (value.is_null() ? table.nothing : exact_text(value)) +
              std::string(column == columns.back() ? "\n" : ",");
    }
  return text;
}

std::string table_csv_begin(const std::string& name) {
  return table_named(name).begin + ",";
}

}  // namespace syncline
