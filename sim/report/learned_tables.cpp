#include "sim/report/learned_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "sim/report/allowed.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 1'000'000;
constexpr AllowedNumbers edge{.least = -100, .most = 100, .null = true};

template <class Row>
struct Column {
  const char* name;
  AllowedNumbers allowed;
  std::function<std::optional<double>(const Row&)> value;
};

struct Table {
  std::string name;
  std::string begin;    // of its first line, by contract: other columns come after these
  const char* nothing;  // a null, in CSV
  bool always;          // has a file even without rows
  std::vector<std::pair<std::string, AllowedNumbers>> columns;
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
                      {{"seconds", any_count, &Point::seconds},
                       {"samples", any_count, &Point::samples},
                       {"bytes", any_count, &Point::bytes},
                       {"loss", any_loss, &Point::loss},
                       {"accuracy", any_share.or_null(), &Point::accuracy},
                       {"iterations", any_count, &Point::iterations},
                       {"train_accuracy", any_share.or_null(), &Point::train_accuracy},
                       {"heldout_loss", any_loss, &Point::heldout_loss}},
                      &Learned::curve),
      table_of<Iteration>(
          "compression", "iteration,messages,values,sent_values", "", false,
          {{"iteration", any_count, &Iteration::iteration},
           {"messages", any_count,
            [](const Iteration& i) { return static_cast<double>(i.means.messages); }},
           {"values", any_count, [](const Iteration& i) { return i.means.values; }},
           {"sent_values", any_count, [](const Iteration& i) { return i.means.sent_values; }},
           {"least_sent_values", any_count,
            [](const Iteration& i) { return i.means.least_sent_values; }},
           {"most_sent_values", any_count,
            [](const Iteration& i) { return i.means.most_sent_values; }},
           {"target_values", any_count.or_null(),
            [](const Iteration& i) { return i.means.target_values; }},
           {"left_out", any_amount, [](const Iteration& i) { return i.means.left_out; }},
           {"left_out_bound", any_amount.or_null(),
            [](const Iteration& i) { return i.means.left_out_bound; }},
           {"left_out_bound_squared", any_amount.or_null(),
            [](const Iteration& i) { return i.means.left_out_bound_squared; }},
           {"bits_per_value", any_count, [](const Iteration& i) { return i.means.bits_per_value; }},
           {"bits_bound", any_count.or_null(),
            [](const Iteration& i) { return i.means.bits_bound; }}},
          &Learned::each_compressed),
      table_of<Bin>("histogram", "iteration,from,to,share", "", false,
                    {{"iteration", any_count, &Bin::iteration},
                     {"from", edge, &Bin::from},
                     {"to", edge, &Bin::to},
                     {"share", any_share, &Bin::share},
                     {"square_share", any_share, &Bin::square_share},
                     {"normal_share", any_share, &Bin::normal_share},
                     {"normal_square_share", any_share, &Bin::normal_square_share}},
                    &Learned::histogram)};
  return all;
}

const Table& table_named(const std::string& name) {
  return *std::ranges::find(tables(), name, &Table::name);
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
      if (!allowed.has(value))
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
