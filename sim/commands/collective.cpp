// `syncline collective`: how long an all-reduce takes by size, as all_reduce_perf of nccl-tests
// prints it.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/catalogue/network.h"
#include "sim/clock/lower_bounds.h"
#include "sim/commands/all_reduce.h"
#include "sim/commands/collective_table.h"
#include "sim/commands/commands.h"
#include "sim/commands/files.h"
#include "sim/commands/results_json.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/simulation.h"
#include "sim/import/nccl_log.h"
#include "sim/options/expand.h"
#include "sim/options/options.h"
#include "sim/options/resolve.h"
#include "sim/options/sizes.h"
#include "sim/page/svg.h"
#include "sim/setup/setup.h"
#include "sim/study/ordered_lists.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/nccl_choice.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::string default_sizes = "8,...,1G";

// A cell for each exchange. Throws std::invalid_argument if an option has no meaning here.
Sweep exchanges_of(const CommandLine& line) {
  if (!line.arguments.empty())
    throw std::invalid_argument(
        fmt::format("'{}': collective reads no file of options; allowed are options, such as "
                    "--platform dgx:nodes=2",
                    brief(line.arguments.front())));
  for (const auto& [name, given] : line.options) {
    require_meaning_for_all_reduce(name, "--" + name);
    if (name != "exchange" && !find_option(name)->is_list && values_of(given).size() > 1)
      throw std::invalid_argument(
          fmt::format("--{} {}: allowed is one value; exchange and sizes take lists", name,
                      brief(given.value)));
  }
  GivenOptions given = line.options;
  given.try_emplace("exchange", Given{fmt::format("nccl,{}", fmt::join(candidate_exchanges(), ",")),
                                      "--exchange"});
  given.try_emplace("fidelity", Given{"analytic", "--fidelity"});
  for (const std::string& name : values_of(given.at("exchange"))) {
    if (name == "auto")
      throw std::invalid_argument(
          "--exchange auto: allowed are nccl and names of exchanges, whose times the table "
          "compares");
    if (name != "nccl")
      Registered<Exchange>::find(name);  // throws if there is none of this name
  }
  return expand({{.name = {}, .options = given}}, false);
}

// From the first to the last activity of the exchange.
double simulated_s(const Setup& setup) {
  double from_s = -1, to_s = 0;
  for (const Row& row : simulate(setup).rows)
    if (row.bucket == 0 && row.stream != Stream::compute) {
      from_s = from_s < 0 ? row.start_s : std::min(from_s, row.start_s);
      to_s = std::max(to_s, row.end_s);
    }
  return to_s - std::max(from_s, 0.0);
}

std::vector<Payload> payloads_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<Payload> payloads;
  for (const std::uint64_t bytes : sizes)
    payloads.push_back(dense(bytes));
  return payloads;
}

// What a process finds out about one exchange: the times of these sizes and the bound of the
// largest, or why the exchange does not support this cluster.
Json timed(const Scenario& scenario, const std::vector<std::uint64_t>& sizes, const Limits& limits,
           int at_once) {
  const MemoryLimit limit(limits.memory_bytes);
  const PlatformFile platform = read_platform(scenario);
  require_room_for_platform(platform, scenario.platform, limits);
  const std::uint64_t largest = *std::ranges::max_element(sizes);
  try {
    Setup setup = prepare_all_reduce(scenario, platform, largest);
    choose_fidelity(setup);
    Routes routes = setup.traffic.cluster.routes();
    const bool by_arithmetic = setup.scenario.fidelity == Fidelity::analytic;
    Json times = Json::array(), about = Json::array(), ways = Json::array();
    if (by_arithmetic && scenario.nccl_chooses)
      setup.choices = choose_as_nccl(scenario, setup.traffic, routes, payloads_of(sizes));
    for (const std::uint64_t bytes : scenario.nccl_chooses ? sizes : std::vector<std::uint64_t>())
      ways.push_back(
          std::ranges::find(setup.choices, bytes, &ExchangeChoice::bytes)->seconds.front().first);
    for (const std::uint64_t bytes : by_arithmetic ? sizes : std::vector<std::uint64_t>()) {
      const ExchangeTime time = exchange_time(setup.traffic, routes, dense(bytes));
      times.push_back(time.exchange_s());
      about.push_back(time.about);
    }
    const Topology& topology = setup.traffic.cluster.topology;
    Json found{{"workers", topology.workers()},
               {"nodes", topology.nodes.size()},
               {"fidelity", fidelity_word(setup)},
               {"warnings", Json::array()}};
    for (const Warning& warning : setup.warnings)
      if (warning.kind != WarningKind::too_large)  // it counts a model's states, and there is none
        found["warnings"].push_back(warning.text);
    if (const std::vector<LinkLoad> loads = link_loads(setup, routes); !loads.empty()) {
      const PlatformLink& link = routes.link(loads.front().link);
      found["bound"] = {{"link", link.name},
                        {"Bps", link.bandwidth.most_Bps()},
                        {"seconds", loads.front().seconds}};
    }
    if (!by_arithmetic) {
      require_room(estimate(setup, limits.seconds), limits, at_once);
      times.push_back(simulated_s(setup));
      about.push_back(false);
    }
    found["times_s"] = std::move(times);
    found["about"] = std::move(about);
    found["ways"] = std::move(ways);
    return found;
  } catch (const std::invalid_argument& error) {
    return {{"refused", error.what()}};
  }
}

// A process's part of the table.
struct Part {
  std::size_t cell = 0;
  std::vector<std::uint64_t> sizes;
};

// Closed forms of all sizes are one part; simulations are one part for each size.
std::vector<Part> parts_of(const Sweep& sweep, const std::vector<std::uint64_t>& sizes) {
  std::vector<Part> parts;
  for (std::size_t cell = 0; cell < sweep.cells.size(); ++cell)
    if (sweep.cells[cell].fidelity == Fidelity::analytic)
      parts.push_back({cell, sizes});
    else
      for (const std::uint64_t size : sizes)
        parts.push_back({cell, {size}});
  return parts;
}

void take(const Json& found, const std::vector<std::uint64_t>& sizes, CollectiveTable& table,
          CollectiveExchange& exchange) {
  table.workers = found.at("workers");
  table.nodes = found.at("nodes");
  if (const std::string fidelity = found.at("fidelity"); !is_among(fidelity, exchange.fidelities))
    exchange.fidelities.push_back(fidelity);
  for (const double time_s : found.at("times_s"))
    exchange.times_s.push_back(time_s);
  for (const bool about : found.at("about"))
    exchange.about.push_back(about);
  for (const std::string way : found.at("ways"))
    exchange.ways.push_back(way);
  for (const std::string warning : found.at("warnings"))
    if (!is_among(warning, table.warnings))
      table.warnings.push_back(warning);
  const CollectiveRow& largest = *std::ranges::max_element(table.rows, {}, &CollectiveRow::bytes);
  if (!found.contains("bound") || std::ranges::find(sizes, largest.bytes) == sizes.end())
    return;
  const Json& bound = found.at("bound");
  exchange.bound = {bound.at("link"), bound.at("Bps"),
                    table.busbw_Bps(largest, bound.at("seconds"))};
}

// Throws std::runtime_error if an exchange cannot be timed, or if the log has another number of
// GPUs than the cluster has workers. An exchange that the user has not named is left out instead if
// it does not support the cluster.
void time_all(const CommandLine& line, const std::optional<NcclLog>& log, Sweep& sweep,
              CollectiveTable& table) {
  std::vector<std::uint64_t> sizes;
  for (const CollectiveRow& row : table.rows)
    sizes.push_back(row.bytes);
  const Limits limits = limits_of(line);
  const std::vector<Part> parts = parts_of(sweep, sizes);
  const int at_once = jobs_of(line);
  std::vector<Job> jobs;
  for (const Part& part : parts)
    jobs.emplace_back(
        [&, part] { return timed(sweep.cells[part.cell], part.sizes, limits, at_once).dump(); });
  std::vector<Json> found(parts.size());
  std::string wrong;
  run_children(jobs, at_once, [&](std::size_t job, const Outcome& outcome) {
    if (!outcome.ok) {
      wrong = error_of(sweep.cells[parts[job].cell], outcome);
      return false;
    }
    found[job] = Json::parse(outcome.output);
    if (found[job].contains("refused"))
      wrong = line.options.contains("exchange") ? found[job]["refused"].get<std::string>() : "";
    else if (log)
      wrong = other_ranks(table.log, log->ranks, found[job]["workers"]);
    return wrong.empty();
  });
  if (!wrong.empty())
    throw std::runtime_error(wrong);
  for (std::size_t cell = 0; cell < sweep.cells.size(); ++cell) {
    CollectiveExchange exchange{.name = sweep.cells[cell].written.at("exchange")};
    std::string refused;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].cell == cell && found[i].contains("refused"))
        refused = found[i]["refused"];
      else if (parts[i].cell == cell)
        take(found[i], parts[i].sizes, table, exchange);
    if (refused.empty())
      table.exchanges.push_back(std::move(exchange));
    else
      sweep.left_out.push_back(refused);
  }
  if (table.exchanges.empty())
    throw std::runtime_error(sweep.left_out.back());
}

// The rows of the log, or those of the given sizes; without a log, the given sizes.
std::vector<CollectiveRow> rows_of(const CommandLine& line, const std::optional<NcclLog>& log) {
  const auto given = line.flag("sizes");
  std::vector<CollectiveRow> rows;
  for (const NcclRow& row : log ? log->rows : std::vector<NcclRow>())
    rows.push_back({row.bytes, row.elements, row.type, row.time_s});
  if (log && !given)
    return rows;
  std::vector<CollectiveRow> chosen;
  for (const std::uint64_t bytes : message_sizes({given.value_or(default_sizes), "--sizes"})) {
    const auto row = std::ranges::find(rows, bytes, &CollectiveRow::bytes);
    if (log && row == rows.end())
      throw std::invalid_argument(fmt::format("--sizes: {} has no row of {} bytes",
                                              brief_path(*line.flag("measured")), bytes));
    chosen.push_back(log ? *row : CollectiveRow{bytes, bytes / value_of_message_bytes});
  }
  return chosen;
}

// A simulation has whole floats; a closed form any bytes.
void require_floats(const Sweep& sweep, const CollectiveTable& table, const std::string& path) {
  const auto odd = std::ranges::find_if(
      table.rows, [](const CollectiveRow& row) { return row.bytes % value_of_message_bytes != 0; });
  if (odd != table.rows.end() && sweep.cells.front().fidelity != Fidelity::analytic)
    throw std::invalid_argument(
        fmt::format("{}: a row of {} bytes: --fidelity {} allows multiples "
                    "of 4 bytes; analytic allows all",
                    path, odd->bytes, sweep.cells.front().written.at("fidelity")));
}

}  // namespace

int collective_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("collective", arguments);
  Sweep sweep = exchanges_of(line);
  const std::string measured = brief_path(line.flag("measured").value_or(""));
  if (line.has("measured") && measured.empty())
    throw std::invalid_argument("--measured is empty: allowed is the path of a log");
  OutputPaths places;
  for (const std::string& path : {line.flag("measured").value_or(""), sweep.cells.front().platform})
    if (!path.empty())
      places.reserve(path, "what this command reads");
  const std::string csv = place_of(line, "csv", collective_csv_begin, places);
  const std::string svg = place_of(line, "svg", svg_begin, places);
  std::optional<NcclLog> log;
  if (line.has("measured"))
    log = read_nccl_log(line.flags.at("measured"));
  CollectiveTable table{.rows = rows_of(line, log),
                        .log = measured,
                        .reality = sweep.cells.front().reality.described()};
  require_floats(sweep, table, measured);
  if (sweep.cells.front().fidelity != Fidelity::analytic)
    test_simgrid();
  time_all(line, log, sweep, table);
  if (log && log->nodes != table.nodes)
    table.warnings.push_back(fmt::format("the GPUs of the log are on {}, the workers on {}",
                                         counted(log->nodes, "node"), table.nodes));
  if (!csv.empty())
    write_atomically(csv, collective_csv(table));
  if (!svg.empty())
    write_atomically(svg, svg_of(collective_chart(table), sweep.cells.front().platform));
  if (line.has("json")) {
    Json json = collective_json(table);
    json["left_out"] = sweep.left_out;
    print_json(json);
  } else {
    std::fputs(collective_text(table).c_str(), stdout);
  }
  return print_left_out(sweep, {});
}

}  // namespace syncline
