#include "sim/traffic/compression.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "kernels/io/text.h"
#include "kernels/philox.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

// A sparse message has an index and a value for each element that it keeps.
int pair_bytes(Precision precision) {
  return 4 + static_cast<int>(value_bytes(precision));
}

// True if the table has this operation, but only for more elements.
bool is_below(const CostTable& table, const CostQuestion& question) {
  double least = HUGE_VAL;
  for (const CostRow& row : table.rows)
    if (row.compressor == question.compressor->name && row.operation == question.operation)
      least = std::min(least, row.elements);
  return std::isfinite(least) && question.elements < least;
}

// The cost table for a host's device: the table of that name, or the only one for that device.
std::string table_for(const std::string& device) {
  const std::vector<std::string> names = names_in("kernels/profiles", ".csv");
  std::vector<std::string> fitting;
  for (const std::string& name : names)
    if (device_of(name) == device)
      fitting.push_back(name);
  if (std::ranges::find(names, device) != names.end())
    fitting = {device};
  if (fitting.size() > 1)
    refuse(
        "several cost tables are for device '{}': choose one, device = {} (or in the platform, as "
        "the hosts' property)",
        device, listed(fitting));
  if (fitting.empty())
    refuse(
        "no cost table for device '{0}': give device, one of `syncline list cost-tables`, a path, "
        "or "
        "none (it takes no time); to measure one, on that device: syncline-calibrate --out {0}.csv",
        device);
  return find_file("cost table", "kernels/profiles", ".csv", fitting.front(), "");
}

}  // namespace

Compression::Compression(const Scenario& scenario, const Cluster& cluster,
                         std::optional<double> start_bytes) {
  if (!scenario.compresses())
    return;
  compressor_ = scenario.compressor;
  read_as_ = scenario.read_as;
  precision_ = scenario.precision;
  seed_ = scenario.seed;
  asks_for_shapes_ =
      compressor_->asks_for_shapes(scenario.compressor_settings) && !scenario.learns();
  may_fuse_more_ = scenario.fusion.kind != Fusion::Kind::all;
  iterations_per_stage_ = scenario.epoch_iterations.value_or(1);
  // No stage sends less than after warm-up.
  for (const double density : scenario.warm_up_densities)
    warm_up_stages_.push_back(with_density(
        scenario.compressor_settings, std::max(density, density_of(scenario.compressor_settings))));
  warm_up_stages_.push_back(
      start_bytes ? compressor_->network_cost.settings(scenario.compressor_settings, *start_bytes)
                  : scenario.compressor_settings);
  read_tables(scenario, cluster);
  unpriced_momentum_ = scenario.learns() && has_momentum();
  if (unpriced_momentum_)
    provenance_ += "; " + compressor_->name + "'s momentum priced as 0";
  if (start_bytes)
    provenance_ += fmt::format("; {}'s messages priced by this network, a start worth {} bytes",
                               compressor_->name, std::llround(*start_bytes));
}

Compression Compression::of_part(double part) const {
  Compression same = *this;
  if (!on() || part == 1 || compressor_->network_cost.of_part == nullptr)
    return same;
  for (Settings& stage : same.warm_up_stages_)
    stage = compressor_->network_cost.of_part(stage, part);
  same.known_sizes_.clear();
  return same;
}

Compression Compression::with_start(double start_bytes) const {
  Compression same = *this;
  Settings& after_warm_up = same.warm_up_stages_.back();
  after_warm_up = compressor_->network_cost.settings(after_warm_up, start_bytes);
  same.known_sizes_.clear();
  same.known_seconds_.clear();
  return same;
}

bool Compression::is_range() const {
  return std::ranges::any_of(tables_, &CostTable::is_range);
}

Compression Compression::at_end(double CostRow::*end) const {
  Compression same = *this;
  same.figure_ = end;
  same.known_seconds_.clear();
  return same;
}

void Compression::read_tables(const Scenario& scenario, const Cluster& cluster) {
  if (scenario.free_compression) {
    provenance_ = "none: making and reading messages takes no time";
    return;
  }
  std::map<std::string, std::size_t> known;  // index in `tables_`, by path
  for (const HostFacts& host : cluster.workers) {
    if (scenario.cost_table.empty() && host.device.empty())
      refuse(
          "compressor = {} needs a cost table, and host {} has no `device`: give device, "
          "one of `syncline list cost-tables`, a path, or none (it takes no time)",
          compressor_->name, host.name);
    const std::string path =
        scenario.cost_table.empty() ? table_for(host.device) : scenario.cost_table;
    const auto [table, added] = known.emplace(path, tables_.size());
    if (added) {
      tables_.push_back(read_cost_table(path));
      provenance_ += fmt::format("{}{}, {}{}, {}", provenance_.empty() ? "" : "; ",
                                 printable(std::filesystem::path(path).filename().string()),
                                 tables_.back().about("provenance"),
                                 tables_.back().is_range() ? " (typical of a range)" : "",
                                 tables_.back().about("device"));
    }
    table_of_.push_back(table->second);
  }
  for (int shard = 0; shard < cluster.topology.servers; ++shard)
    table_of_.push_back(table_of_.front());
  for (const std::vector<int>& node : cluster.topology.nodes)
    table_of_.push_back(table_of_[index(node.front())]);
}

bool Compression::has_momentum() const {
  return on() && compressor_->momentum.of != nullptr && compressor_->momentum.of(settings(-1)) > 0;
}

int Compression::warm_up_stage(int iteration) const {
  const int last = static_cast<int>(warm_up_stages_.size()) - 1;
  return iteration < 0 ? last : std::min(iteration / iterations_per_stage_, last);
}

std::vector<int> Compression::first_iterations() const {
  std::vector<int> iterations;
  for (std::size_t stage = 0; stage < warm_up_stages_.size(); ++stage)
    iterations.push_back(static_cast<int>(stage) * iterations_per_stage_);
  return iterations;
}

WireSize Compression::message(std::uint64_t elements, int iteration) const {
  if (elements == 0)
    return {};
  const std::pair key(elements, warm_up_stage(iteration));
  auto known = known_sizes_.find(key);
  if (known == known_sizes_.end()) {
    const WireSize size = compressor_->wire_bytes(settings(iteration),
                                                  static_cast<std::size_t>(elements), precision_);
    known = known_sizes_.emplace(key, size).first;
  }
  return known->second;
}

WireSize Compression::message(const std::vector<TensorShape>& shapes, std::uint64_t elements,
                              int iteration) const {
  return asks_for_shapes_ && !shapes.empty()
             ? compressor_->by_tensor.wire_bytes(settings(iteration), shapes, precision_)
             : message(elements, iteration);
}

std::uint64_t Compression::drawn_bytes(const WireSize& size, int worker, int iteration,
                                       int bucket) const {
  constexpr std::uint32_t purpose = 1;  // jitter's is 0
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(worker),
              static_cast<std::uint32_t>(bucket), purpose},
             static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
  const double u = (words[0] + 0.5) * 0x1p-32;
  const double below = (size.high - size.bytes) / (size.high - size.low);
  const double bytes = u < below
                           ? size.low + (size.bytes - size.low) * u / below
                           : size.bytes + (size.high - size.bytes) * (u - below) / (1 - below);
  const int pair = pair_bytes(precision_);  // only sparse compressors leave the size open
  return static_cast<std::uint64_t>(std::llround(bytes / pair) * pair);
}

double Compression::seconds(int rank, const Work& work, int iteration) const {
  if (work.elements == 0 || tables_.empty())
    return 0;
  const std::size_t table = table_of_[index(rank)];
  const std::tuple key(table, work.kind, work.elements, warm_up_stage(iteration));
  auto known = known_seconds_.find(key);
  if (known == known_seconds_.end())
    known = known_seconds_.emplace(key, priced(tables_[table], work, iteration)).first;
  const Price& price = known->second;
  if (work.messages <= 1)
    return work.messages * price.first_s;
  return price.first_s + (work.messages - 1) * price.further_s.value_or(price.first_s);
}

Compression::Price Compression::priced(const CostTable& table, const Work& work,
                                       int iteration) const {
  CostQuestion asked = question(table, work, iteration);
  const auto seconds = [&] {
    return table.seconds(*asked.compressor, asked.settings, asked.operation, asked.elements,
                         table.is_range() ? figure_ : &CostRow::seconds);
  };
  Price price{.first_s = seconds()};
  if (work.kind == Work::Kind::decode) {
    asked.operation = further_operation;
    if (table.lacking({asked}).empty())
      price.further_s = seconds();
  }
  return price;
}

std::string Compression::provenance() const {
  return priced_alone_ ? provenance_ +
                             "; each of several messages priced as one alone, where the "
                             "table has no decode-further"
                       : provenance_;
}

std::string Compression::unpriced(const std::vector<CostLookup>& lookups) const {
  if (tables_.empty())
    return {};
  std::vector<std::set<std::tuple<Work::Kind, std::uint64_t, int, bool>>> seen(tables_.size());
  std::vector<std::vector<CostQuestion>> questions(tables_.size());
  for (const auto& [rank, work, iteration] : lookups) {
    const std::size_t table = table_of_[index(rank)];
    const bool several = work.kind == Work::Kind::decode && work.messages > 1;
    if (work.elements == 0 ||
        !seen[table].emplace(work.kind, work.elements, warm_up_stage(iteration), several).second)
      continue;
    questions[table].push_back(question(tables_[table], work, iteration));
    if (!several || priced_alone_)
      continue;
    CostQuestion further = questions[table].back();
    further.operation = further_operation;
    priced_alone_ = !tables_[table].lacking({further}).empty();
  }
  std::string text;
  for (std::size_t table = 0; table < tables_.size(); ++table)
    if (const std::string lacking = tables_[table].lacking(questions[table]); !lacking.empty()) {
      const std::filesystem::path path(tables_[table].path);
      const std::string modelled = path.stem().string() + "-modelled";
      text += (text.empty() ? "" : "; ") + lacking;
      if (std::filesystem::exists(path.parent_path() / (modelled + ".csv")))
        text += "; modelled seconds are in device = " + modelled;
      if (may_fuse_more_ && std::ranges::any_of(questions[table], [&](const CostQuestion& asked) {
            return is_below(tables_[table], asked);
          }))
        text += "; larger buckets, as with bucket-bytes = all, may be in the table";
    }
  return text;
}

std::vector<int> Compression::one_worker_of_each_table() const {
  std::vector<int> ranks(tables_.size());
  for (std::size_t table = 0; table < tables_.size(); ++table)
    ranks[table] = static_cast<int>(std::ranges::find(table_of_, table) - table_of_.begin());
  return ranks;
}

CostQuestion Compression::question(const CostTable& table, const Work& work, int iteration) const {
  const auto n = static_cast<double>(work.elements);
  const bool encodes = work.kind == Work::Kind::encode;
  if (encodes || read_as_ == compressor_) {
    const Settings& own = settings(iteration);
    return {compressor_, unpriced_momentum_ ? compressor_->momentum.with(own, 0) : own,
            encodes ? "encode" : "decode", n};
  }
  // Decoding takes as long as a message of the other compressor with equally many values, or with
  // the lowest density in the table.
  const double sent = message(work.elements, iteration).bytes / pair_bytes(precision_);
  const double density = std::clamp(sent / n, table.lowest_density(*read_as_), 1.0);
  return {read_as_, with_density(Settings(read_as_->options, {}), density), "decode", n};
}

}  // namespace syncline
