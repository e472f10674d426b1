// The answer of the command collective: times of an all-reduce by size and exchange, beside
// measured ones if there are any, as text, JSON, CSV and a chart.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/charts.h"

namespace syncline {

// The busiest link of an exchange, and the bus bandwidth at which it would be full.
struct CollectiveBound {
  std::string link;
  double link_Bps = 0;
  double busbw_Bps = 0;
};

struct CollectiveExchange {
  std::string name;
  std::vector<std::string> fidelities = {};  // analytic, or step or flow or both
  std::vector<double> times_s = {};          // by row
  std::vector<bool> about = {};        // by row: the closed form is approximate (exchange_time.h)
  std::vector<std::string> ways = {};  // by row: NCCL's algorithm and protocol; empty: not nccl
  std::optional<CollectiveBound> bound = {};  // of the largest size; none: no link is used
};

struct CollectiveRow {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  std::string type = "float";
  std::optional<double> measured_s = {};  // in all rows or in none
};

struct CollectiveTable {
  int workers = 0;
  int nodes = 0;
  std::vector<CollectiveRow> rows;
  std::vector<CollectiveExchange> exchanges;  // at least one
  std::vector<std::string> warnings;
  std::string log;      // path of the measured times; empty: there are none
  std::string reality;  // what it lowers, and its sources; empty: rates are nominal

  bool is_measured() const { return rows.front().measured_s.has_value(); }
  double busbw_Bps(const CollectiveRow& row, double time_s) const;
  // The least time of a row.
  double fastest_s(std::size_t row) const;
  // Simulated time over measured time, less 1.
  double error(const CollectiveExchange& exchange, std::size_t row) const;
  // The least error of a row, without its sign.
  double nearest(std::size_t row) const;
};

// The errors of an exchange: median without signs, and the worst with its sign and its row.
struct CollectiveErrors {
  double median = 0;
  double worst = 0;
  std::size_t worst_row = 0;
  std::size_t nearest_rows = 0;  // rows for which no other exchange is nearer
};
CollectiveErrors errors_of(const CollectiveTable& table, const CollectiveExchange& exchange);

std::string collective_text(const CollectiveTable& table);
nlohmann::ordered_json collective_json(const CollectiveTable& table);
extern const std::string collective_csv_begin;  // the line of column names
std::string collective_csv(const CollectiveTable& table);
Chart collective_chart(const CollectiveTable& table);

}  // namespace syncline
