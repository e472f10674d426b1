#include "sim/compression.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "kernels/philox.h"
#include "sim/files.h"

namespace syncline {
namespace {

// Densities of the first epochs, before the compressor's own (algorithms.md 1.3).
const std::map<std::string, std::vector<std::string>> warm_up_densities = {
    {"none", {}},
    {"gaussiank", {"0.015625", "0.004"}},
    {"dgc", {"0.25", "0.0625", "0.015625", "0.004"}},
};

// Of the rows of a compressor; 0 where it has none that name one.
double lowest_density(const CostTable& table, const std::string& compressor) {
  double lowest = 1;
  bool any = false;
  for (const CostRow& row : table.rows) {
    const std::size_t at = row.parameters.find("density=");
    if (row.compressor != compressor || at == std::string::npos)
      continue;
    lowest = std::min(lowest, std::stod(row.parameters.substr(at + 8)));
    any = true;
  }
  return any ? lowest : 0;
}

// The table of a host's device: the one of that name, or the only one that is about it.
std::string table_for(const std::string& device) {
  const std::vector<std::string> names = names_in("kernels/profiles", ".csv");
  std::vector<std::string> fitting;
  for (const std::string& name : names)
    if (device_of(name) == device)
      fitting.push_back(name);
  if (std::ranges::find(names, device) != names.end())
    fitting = {device};
  if (fitting.size() > 1)
    throw std::invalid_argument("several cost tables are about device '" + device +
                                "': say which, device = " + listed(fitting) +
                                " (or in the platform, as the hosts' property)");
  if (fitting.empty())
    throw std::invalid_argument(
        "no cost table for device '" + device + "': give device, a path or " + listed(names) +
        "; to measure one, on that device: syncline-calibrate --out " + device + ".csv");
  return find_file("cost table", "kernels/profiles", ".csv", fitting.front(), "");
}

}  // namespace

std::string device_of(const std::string& table) {
  std::string name = std::filesystem::path(table).filename().string();
  for (const char* ending : {".csv", "-measured", "-published", "-modelled"})
    if (name.ends_with(ending))
      name.resize(name.size() - std::string(ending).size());
  return name;
}

Compression::Compression(const Scenario& scenario, const Cluster& cluster) {
  if (scenario.compressor == "none")
    return;
  compressor_ = &Registered<Compressor>::find(scenario.compressor);
  words_ = scenario.words;
  precision_ = scenario.precision == "fp16" ? Precision::fp16 : Precision::fp32;
  seed_ = scenario.seed;
  network_prices_ = scenario.network_prices;
  if (const auto found = words_.find("warm-up-densities"); found != words_.end()) {
    iterations_per_stage_ = static_cast<int>(scenario.schedule_settings.number("epoch-iterations"));
    for (const std::string& density : warm_up_densities.at(found->second)) {
      std::map<std::string, std::string> given = words_;
      given["density"] = density;
      stages_.emplace_back(compressor_->parameters, given);
    }
  }
  stages_.push_back(scenario.compressor_settings);

  std::map<std::string, std::size_t> known;  // tables by path
  for (const HostFacts& host : cluster.workers) {
    if (scenario.cost_table.empty() && host.device.empty())
      throw std::invalid_argument("compressor = " + scenario.compressor +
                                  " needs a cost table, and host " + host.name +
                                  " has no `device`: give device, a path or " +
                                  listed(names_in("kernels/profiles", ".csv")));
    const std::string path =
        scenario.cost_table.empty() ? table_for(host.device) : scenario.cost_table;
    const auto [table, added] = known.emplace(path, tables_.size());
    if (added) {
      tables_.push_back(read_cost_table(path));
      provenance_ += (provenance_.empty() ? "" : "; ") +
                     std::filesystem::path(path).filename().string() + ", " +
                     tables_.back().about("provenance") + ", " + tables_.back().about("device");
    }
    table_of_.push_back(table->second);
  }
  for (int shard = 0; shard < cluster.topology.servers; ++shard)
    table_of_.push_back(table_of_.front());
  for (const std::vector<int>& node : cluster.topology.nodes)
    table_of_.push_back(table_of_[static_cast<std::size_t>(node.front())]);
}

void Compression::price_network(double startup_s, double seconds_per_byte) {
  // In bytes: only ratios of costs matter to the rule.
  words_["cost"] = "affine";
  words_["packet-bits"] = "8";
  words_["packet-cost"] = "1";
  const double start_bytes = seconds_per_byte > 0 ? startup_s / seconds_per_byte : 0;
  words_["fixed-cost"] = std::to_string(std::llround(std::min(start_bytes, 1e12)));
  stages_ = {Settings(compressor_->parameters, words_)};
  known_sizes_.clear();
  provenance_ += "; " + compressor_->name + "'s messages priced by this network, a start worth " +
                 words_["fixed-cost"] + " bytes";
}

int Compression::stage(int iteration) const {
  const int last = static_cast<int>(stages_.size()) - 1;
  return iteration < 0 ? last : std::min(iteration / iterations_per_stage_, last);
}

std::vector<int> Compression::first_iterations() const {
  std::vector<int> iterations;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    iterations.push_back(static_cast<int>(stage) * iterations_per_stage_);
  return iterations;
}

WireSize Compression::message(std::uint64_t elements, int iteration) const {
  if (elements == 0)
    return {};
  const std::pair key(elements, stage(iteration));
  auto known = known_sizes_.find(key);
  if (known == known_sizes_.end())
    known =
        known_sizes_
            .emplace(key, compressor_->wire_bytes(stages_[static_cast<std::size_t>(key.second)],
                                                  static_cast<std::size_t>(elements), precision_))
            .first;
  return known->second;
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
  const double pair_bytes = precision_ == Precision::fp16 ? 6 : 8;  // those that aim are sparse
  return static_cast<std::uint64_t>(std::llround(bytes / pair_bytes) * std::llround(pair_bytes));
}

double Compression::seconds(int rank, std::string_view work, std::uint64_t elements, int messages,
                            int iteration) const {
  if (elements == 0)
    return 0;
  const std::size_t table = table_of_[static_cast<std::size_t>(rank)];
  const bool encode = work == "compress";
  const std::tuple key(table, encode, elements, stage(iteration));
  auto known = known_seconds_.find(key);
  if (known == known_seconds_.end()) {
    const CostQuestion asked = question(tables_[table], encode, elements, iteration);
    known = known_seconds_
                .emplace(key, tables_[table].seconds(*asked.compressor, asked.settings,
                                                     asked.operation, asked.elements))
                .first;
  }
  return messages * known->second;
}

std::string Compression::unpriced(const std::vector<Work>& works) const {
  using Key = std::tuple<bool, std::uint64_t, int>;
  std::vector<std::set<Key>> seen(tables_.size());
  std::vector<std::vector<CostQuestion>> questions(tables_.size());
  for (const Work& work : works) {
    const std::size_t table = table_of_[static_cast<std::size_t>(work.rank)];
    const bool encode = work.verb == "compress";
    if (work.elements > 0 &&
        seen[table].emplace(encode, work.elements, stage(work.iteration)).second)
      questions[table].push_back(question(tables_[table], encode, work.elements, work.iteration));
  }
  std::string text;
  for (std::size_t table = 0; table < tables_.size(); ++table)
    if (const std::string lacking = tables_[table].lacking(questions[table]); !lacking.empty())
      text += (text.empty() ? "" : "; ") + lacking;
  return text;
}

std::vector<int> Compression::one_worker_of_each_table() const {
  std::vector<int> ranks(tables_.size());
  for (std::size_t table = 0; table < tables_.size(); ++table)
    ranks[table] = static_cast<int>(std::ranges::find(table_of_, table) - table_of_.begin());
  return ranks;
}

CostQuestion Compression::question(const CostTable& table, bool encode, std::uint64_t elements,
                                   int iteration) const {
  const auto n = static_cast<double>(elements);
  if (encode || compressor_->name != "cat")
    return {compressor_, stages_[static_cast<std::size_t>(stage(iteration))],
            encode ? "encode" : "decode", n};
  // How long CAT's message takes to read depends on how much CAT chose to send: it is read as a
  // top-k message of that many elements, or of the fewest that the table has.
  const double sent = message(elements, iteration).bytes / (precision_ == Precision::fp16 ? 6 : 8);
  const Compressor& topk = Registered<Compressor>::find("topk");
  char density[32];
  std::snprintf(density, sizeof density, "%.12g",
                std::clamp(sent / n, lowest_density(table, topk.name), 1.0));
  return {&topk, Settings(topk.parameters, {{"density", density}}), "decode", n};
}

}  // namespace syncline
