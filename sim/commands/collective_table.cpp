#include "sim/commands/collective_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/io/text.h"
#include "sim/commands/all_reduce.h"
#include "sim/report/readable.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/validation.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double same = 1e-6;  // times and errors that differ by less count as equal

// The mark of a cell in a table of several exchanges.
const char* mark(bool is_marked, const CollectiveTable& table) {
  return is_marked && table.exchanges.size() > 1 ? "*" : " ";
}

bool is_fastest(const CollectiveTable& table, const CollectiveExchange& exchange, std::size_t row) {
  return exchange.times_s[row] <= table.fastest_s(row) * (1 + same);
}

bool is_nearest(const CollectiveTable& table, const CollectiveExchange& exchange, std::size_t row) {
  return std::abs(table.error(exchange, row)) <= table.nearest(row) + same;
}

// Microseconds with as many digits as nccl-tests prints.
std::string time_text(double time_s, bool about) {
  const double us = 1e6 * time_s;
  return fmt::format(" {}{:8.{}f}", about ? "~" : " ", us, us >= 10'000 ? 0 : us >= 100 ? 1 : 2);
}

std::string rate_text(double Bps) {
  return fmt::format("{:7.2f}", Bps / 1e9);
}

double algbw_Bps(const CollectiveRow& row, double time_s) {
  return time_s > 0 ? static_cast<double>(row.bytes) / time_s : 0;
}

// A block of columns: its title, its columns' names and units, and its text in each row.
struct Block {
  std::string title;
  std::string names;
  std::string units;
  std::vector<std::string> rows;
};

Block size_block(const CollectiveTable& table) {
  Block block{"", "#       size         count    type", "#        (B)    (elements)        ", {}};
  for (const CollectiveRow& row : table.rows)
    block.rows.push_back(fmt::format("{:12}  {:12}  {:>6}", row.bytes, row.elements, row.type));
  return block;
}

Block measured_block(const CollectiveTable& table) {
  Block block{"measured", "      time    busbw", "      (us)   (GB/s)", {}};
  for (const CollectiveRow& row : table.rows)
    block.rows.push_back(time_text(*row.measured_s, false) + "  " +
                         rate_text(table.busbw_Bps(row, *row.measured_s)));
  return block;
}

Block exchange_block(const CollectiveTable& table, const CollectiveExchange& exchange) {
  Block block{exchange.name, "      time    algbw    busbw ", "      (us)   (GB/s)   (GB/s) ", {}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CollectiveRow& row = table.rows[i];
    const double time_s = exchange.times_s[i];
    block.rows.push_back(
        time_text(time_s, exchange.about[i]) + "  " + rate_text(algbw_Bps(row, time_s)) + "  " +
        rate_text(table.busbw_Bps(row, time_s)) + mark(is_fastest(table, exchange, i), table));
  }
  return block;
}

// Beside measured times: an exchange's error instead of its bandwidths.
Block error_block(const CollectiveTable& table, const CollectiveExchange& exchange) {
  Block block{exchange.name, "      time    error ", "      (us)      (%) ", {}};
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    block.rows.push_back(time_text(exchange.times_s[i], exchange.about[i]) +
                         fmt::format("  {:+7.1f}", 100 * table.error(exchange, i)) +
                         mark(is_nearest(table, exchange, i), table));
  return block;
}

std::string table_of(const std::vector<Block>& blocks) {
  std::string titles = "#", names, units;
  for (const Block& block : blocks) {
    const std::size_t width = block.names.size() - (&block == &blocks.front() ? 1 : 0);
    titles += fmt::format("{:^{}}", block.title, width);
    names += block.names;
    units += block.units;
  }
  std::string text;
  for (std::string* line : {&titles, &names, &units})
    text += line->substr(0, line->find_last_not_of(' ') + 1) + "\n";
  for (std::size_t i = 0; i < blocks.front().rows.size(); ++i) {
    std::string line;
    for (const Block& block : blocks)
      line += block.rows[i];
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::size_t largest_row(const CollectiveTable& table) {
  return static_cast<std::size_t>(std::ranges::max_element(table.rows, {}, &CollectiveRow::bytes) -
                                  table.rows.begin());
}

// How near the largest measured size comes to the rate of the busiest link.
std::optional<double> part_of_bound(const CollectiveTable& table,
                                    const CollectiveExchange& exchange) {
  const CollectiveRow& row = table.rows[largest_row(table)];
  return exchange.bound
             ? std::optional(table.busbw_Bps(row, *row.measured_s) / exchange.bound->busbw_Bps)
             : std::nullopt;
}

std::string comparison_text(const CollectiveTable& table) {
  std::string text;
  for (const CollectiveExchange& exchange : table.exchanges) {
    const CollectiveErrors errors = errors_of(table, exchange);
    text += fmt::format(
        "# {}: off by {} in median, {:+.1f} % at worst ({} B); nearest for {} of {} sizes\n",
        exchange.name, percent(errors.median, 1), 100 * errors.worst,
        table.rows[errors.worst_row].bytes, errors.nearest_rows, table.rows.size());
  }
  const CollectiveRow& row = table.rows[largest_row(table)];
  for (const CollectiveExchange& exchange : table.exchanges)
    if (const auto part = part_of_bound(table, exchange))
      text += fmt::format(
          "# {} B measured: busbw {:.2f} GB/s, {} of the {:.2f} GB/s with which {} would fill {} "
          "({:.4g} GB/s){}\n",
          row.bytes, table.busbw_Bps(row, *row.measured_s) / 1e9, percent(*part, 1),
          exchange.bound->busbw_Bps / 1e9, exchange.name, printable(exchange.bound->link),
          exchange.bound->link_Bps / 1e9,
          *part > 1.005 ? ": it ran another algorithm, or on faster links" : "");
  return text;
}

// "ring LL up to 262144 B, ring Simple": the ways of an exchange, by size.
std::string ways_text(const CollectiveTable& table, const CollectiveExchange& exchange) {
  std::map<std::uint64_t, std::string> by_size;
  for (std::size_t i = 0; i < exchange.ways.size(); ++i)
    by_size[table.rows[i].bytes] = exchange.ways[i];
  std::string text;
  for (auto row = by_size.begin(); row != by_size.end(); ++row)
    if (const auto next = std::next(row); next == by_size.end())
      text += row->second;
    else if (next->second != row->second)
      text += fmt::format("{} up to {} B, ", row->second, row->first);
  return text;
}

// "16 workers on 2 nodes, by closed form": how the times were found.
std::string described(const CollectiveTable& table) {
  std::vector<std::string> ways;
  for (const CollectiveExchange& exchange : table.exchanges)
    for (const std::string& fidelity : exchange.fidelities)
      found_or_added(ways, fidelity);
  return fmt::format(
      "{} workers on {}, {}", table.workers, counted(table.nodes, "node"),
      ways.front() == "analytic" ? "by closed form" : "simulated as " + and_listed(ways));
}

}  // namespace

double CollectiveTable::busbw_Bps(const CollectiveRow& row, double time_s) const {
  return bus_bandwidth_Bps(workers, static_cast<double>(row.bytes), time_s);
}

double CollectiveTable::fastest_s(std::size_t row) const {
  double least_s = exchanges.front().times_s[row];
  for (const CollectiveExchange& exchange : exchanges)
    least_s = std::min(least_s, exchange.times_s[row]);
  return least_s;
}

double CollectiveTable::error(const CollectiveExchange& exchange, std::size_t row) const {
  return exchange.times_s[row] / *rows[row].measured_s - 1;
}

double CollectiveTable::nearest(std::size_t row) const {
  double least = std::abs(error(exchanges.front(), row));
  for (const CollectiveExchange& exchange : exchanges)
    least = std::min(least, std::abs(error(exchange, row)));
  return least;
}

CollectiveErrors errors_of(const CollectiveTable& table, const CollectiveExchange& exchange) {
  CollectiveErrors errors;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double error = table.error(exchange, i);
    sizes.push_back(std::abs(error));
    if (i == 0 || std::abs(error) > std::abs(errors.worst)) {
      errors.worst = error;
      errors.worst_row = i;
    }
    errors.nearest_rows += is_nearest(table, exchange, i) ? 1 : 0;
  }
  errors.median = median(std::move(sizes));
  return errors;
}

std::string collective_text(const CollectiveTable& table) {
  std::vector<Block> blocks{size_block(table)};
  if (table.is_measured())
    blocks.push_back(measured_block(table));
  for (const CollectiveExchange& exchange : table.exchanges)
    blocks.push_back(table.is_measured() ? error_block(table, exchange)
                                         : exchange_block(table, exchange));
  std::string text = "# an all-reduce alone, of " + described(table) + "\n";
  if (table.is_measured())
    text += "# measured: the in-place times of " + table.log + "\n";
  if (!table.reality.empty())
    text += "# reality: " + table.reality + "\n";
  for (const std::string& warning : table.warnings)
    text += "# warning: " + printable(warning) + "\n";
  text += table_of(blocks);
  for (const CollectiveExchange& exchange : table.exchanges)
    if (!exchange.ways.empty())
      text += fmt::format("# {}: {}\n", exchange.name, ways_text(table, exchange));
  if (table.exchanges.size() > 1)
    text += table.is_measured() ? "# *: nearest to the measured time\n" : "# *: the fastest\n";
  if (std::ranges::any_of(table.exchanges, [](const CollectiveExchange& exchange) {
        return std::ranges::find(exchange.about, true) != exchange.about.end();
      }))
    text += "# ~: about, because there are too many messages to follow each\n";
  return table.is_measured() ? text + comparison_text(table) : text;
}

Json collective_json(const CollectiveTable& table) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CollectiveRow& row = table.rows[i];
    const auto rates = [&](double time_s) {
      return Json{{"time_s", time_s},
                  {"algbw_Bps", algbw_Bps(row, time_s)},
                  {"busbw_Bps", table.busbw_Bps(row, time_s)}};
    };
    Json exchanges = Json::array();
    for (const CollectiveExchange& exchange : table.exchanges) {
      Json one{{"exchange", exchange.name}};
      one.update(rates(exchange.times_s[i]));
      one["about"] = static_cast<bool>(exchange.about[i]);
      one["way"] = exchange.ways.empty() ? Json(nullptr) : Json(exchange.ways[i]);
      one["fastest"] = is_fastest(table, exchange, i);
      if (row.measured_s) {
        one["error"] = table.error(exchange, i);
        one["nearest"] = is_nearest(table, exchange, i);
      }
      exchanges.push_back(std::move(one));
    }
    rows.push_back({{"bytes", row.bytes},
                    {"elements", row.elements},
                    {"type", row.type},
                    {"measured", row.measured_s ? rates(*row.measured_s) : Json(nullptr)},
                    {"exchanges", std::move(exchanges)}});
  }
  Json exchanges = Json::array();
  for (const CollectiveExchange& exchange : table.exchanges) {
    Json one{{"exchange", exchange.name},
             {"simulated_as", and_listed(exchange.fidelities)},
             {"busiest_link", nullptr}};
    if (exchange.bound)
      one["busiest_link"] = {{"name", printable(exchange.bound->link)},
                             {"bandwidth_Bps", exchange.bound->link_Bps},
                             {"full_at_busbw_Bps", exchange.bound->busbw_Bps}};
    if (table.is_measured()) {
      const CollectiveErrors errors = errors_of(table, exchange);
      const auto part = part_of_bound(table, exchange);
      one["error_median"] = errors.median;
      one["error_worst"] = errors.worst;
      one["error_worst_bytes"] = table.rows[errors.worst_row].bytes;
      one["nearest_rows"] = errors.nearest_rows;
      one["largest_of_busiest_link"] = part ? Json(*part) : Json(nullptr);
    }
    exchanges.push_back(std::move(one));
  }
  return {{"workers", table.workers},
          {"nodes", table.nodes},
          {"reality", table.reality.empty() ? Json(nullptr) : Json(table.reality)},
          {"warnings", table.warnings},
          {"exchanges", std::move(exchanges)},
          {"rows", std::move(rows)}};
}

const std::string collective_csv_begin =
    "bytes,elements,type,exchange,time_s,algbw_Bps,busbw_Bps,measured_s,error,way\n";

std::string collective_csv(const CollectiveTable& table) {
  std::string text = collective_csv_begin;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const CollectiveExchange& exchange : table.exchanges) {
      const CollectiveRow& row = table.rows[i];
      const double time_s = exchange.times_s[i];
      text +=
          fmt::format("{},{},{},{},{},{},{},", row.bytes, row.elements, csv_field(row.type),
                      exchange.name, time_s, algbw_Bps(row, time_s), table.busbw_Bps(row, time_s));
      text +=
          row.measured_s ? fmt::format("{},{}", *row.measured_s, table.error(exchange, i)) : ",";
      text += fmt::format(",{}\n", exchange.ways.empty() ? "" : exchange.ways[i]);
    }
  return text;
}

Chart collective_chart(const CollectiveTable& table) {
  Chart chart{.id = "bus-bandwidth",
              .title = "Bus bandwidth of an all-reduce",
              .sentence = described(table),
              .x = {"message, bytes", "", Scale::log2},
              .y = {"bus bandwidth, GB/s", "", Scale::linear}};
  const auto add = [&](const std::string& name, auto time_s) {
    Series series{.name = name, .colour = static_cast<int>(chart.series.size())};
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      series.x.push_back(static_cast<double>(table.rows[i].bytes));
      series.y.push_back(table.busbw_Bps(table.rows[i], time_s(i)) / 1e9);
    }
    chart.series.push_back(std::move(series));
  };
  for (const CollectiveExchange& exchange : table.exchanges)
    add(exchange.name, [&](std::size_t row) { return exchange.times_s[row]; });
  if (table.is_measured()) {
    add("measured", [&](std::size_t row) { return *table.rows[row].measured_s; });
    chart.series.back().is_dots = true;
  }
  return chart;
}

}  // namespace syncline
