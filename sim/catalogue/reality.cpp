#include "sim/catalogue/reality.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/frameworks.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

constexpr const char* efficiency = "network-efficiency";
constexpr const char* most_rate = "most-Gbps";
constexpr const char* net_latency = "nccl-net-latency";  // an option, in seconds

bool is_of_networks(const std::string& quantity) {
  return quantity == efficiency || quantity == most_rate || quantity == net_latency;
}

// A row: what is known of one quantity of a kind of network, or of a framework.
struct Known {
  std::string kind, quantity;
  std::string low, middle, high;  // as written
  std::string source;

  double number() const { return *number_in<double>(middle); }
};

Known known_in(const Csv& csv, const Csv::Row& row) {
  const auto field = [&](const char* column) { return row.fields[csv.column(column)]; };
  Known known{field("kind"),   field("quantity"), field("low"),
              field("middle"), field("high"),     field("source")};
  if (known.kind.empty() || known.quantity.empty() || known.source.empty())
    refuse("no kind, quantity or source: allowed is a row with all three");
  double least = 0;
  for (const auto& [column, text] :
       {std::pair("low", known.low), {"middle", known.middle}, {"high", known.high}}) {
    const auto number = number_in<double>(text);
    if (!number || !(*number >= least))
      refuse("{} = {}: allowed are numbers from 0 with low <= middle <= high", column, brief(text));
    least = *number;
  }
  if (known.quantity == efficiency && !(known.number() > 0 && least <= 1))
    refuse("{} = {}: allowed are parts of a rate, above 0 and up to 1", efficiency, known.high);
  if (known.quantity == most_rate && !(known.number() > 0))
    refuse("{} = {}: allowed is more than 0 Gbit/s", most_rate, known.middle);
  return known;
}

std::vector<Known> rows_of(const Csv& csv) {
  std::vector<Known> all;
  std::set<std::pair<std::string, std::string>> seen;
  csv.for_each_row([&](const Csv::Row& row) {
    all.push_back(known_in(csv, row));
    if (!seen.emplace(all.back().kind, all.back().quantity).second)
      refuse("{} of {} is there twice: allowed is once", all.back().quantity,
             brief(all.back().kind));
  });
  return all;
}

// A kind with network-efficiency is one of networks; any other has to be a framework.
void check_kinds(const Csv& csv, const std::vector<Known>& all) {
  std::set<std::string> networks;
  for (const Known& known : all)
    if (known.quantity == efficiency)
      networks.insert(known.kind);
  csv.for_each_row([&, known = all.begin()](const Csv::Row&) mutable {
    if (!networks.contains(known->kind) && framework_called(known->kind).name != known->kind)
      refuse("kind = {}: allowed are frameworks without a version, and kinds of network with {}",
             brief(known->kind), efficiency);
    if (networks.contains(known->kind) != is_of_networks(known->quantity))
      refuse(
          "quantity = {} of {}: allowed are {}, {} and {} for a kind of network that has {}, and "
          "options for a framework",
          brief(known->quantity), known->kind, efficiency, most_rate, net_latency, efficiency);
    ++known;
  });
}

const Known* found_in(const std::vector<Known>& all, const std::string& kind,
                      const std::string& quantity) {
  const auto found = std::ranges::find_if(
      all, [&](const Known& one) { return one.kind == kind && one.quantity == quantity; });
  return found == all.end() ? nullptr : &*found;
}

Default default_of(const Known& known) {
  return {known.quantity, known.middle,
          fmt::format("{}, {} to {}: {}", known.kind, known.low, known.high, known.source)};
}

// The part of the cards' nominal rate that collectives reach.
Default efficiency_of(const std::vector<Known>& all, const NetworkCards& cards) {
  const Known* part = found_in(all, cards.kind, efficiency);
  if (part == nullptr)
    refuse("network = {}: the file has no {} of it; allowed is a file that has one", cards.kind,
           efficiency);
  const Known* most = found_in(all, cards.kind, most_rate);
  if (most == nullptr)
    return default_of(*part);
  if (cards.rates_Bps.empty())
    refuse(
        "network = {}: what its cards reach depends on their rate, which the platform does not "
        "tell; allowed are links of single cards with the property kind = card, the option {}, or "
        "reality = nominal",
        cards.kind, efficiency);
  std::set<std::string> values;
  for (const double rate_Bps : cards.rates_Bps)
    values.insert(most->number() * 1e9 / 8 < part->number() * rate_Bps
                      ? fmt::format("{:.4g}", most->number() * 1e9 / 8 / rate_Bps)
                      : part->middle);
  if (values.size() > 1)
    refuse(
        "network = {}: cards of different rates reach different parts of them, {}; allowed are "
        "cards of one rate, the option {}, or reality = nominal",
        cards.kind, fmt::join(values, " and "), efficiency);
  Default found = default_of(*part);
  if (*values.begin() != part->middle) {
    found = default_of(*most);
    found.source = fmt::format("{} {} of a card's {:.4g}: {}", most->middle, most_rate,
                               cards.rates_Bps.front() * 8e-9, found.source);
  }
  found.option = efficiency;
  found.value = *values.begin();
  return found;
}

}  // namespace

std::string Reality::described() const {
  if (file.empty())
    return {};
  const std::string values = syncline::described(name, defaults);
  return printable(fmt::format("{}{}{}",
                               values.empty() ? name + ": nothing was left to take" : values,
                               unnamed.empty() ? "" : "; ", fmt::join(unnamed, "; ")));
}

std::string networks_file() {
  return data_root() + "/platforms/networks.csv";
}

std::vector<std::string> network_kinds() {
  std::vector<std::string> kinds;
  for (const Known& known : rows_of(read_csv(networks_file())))
    if (known.quantity == efficiency)
      kinds.push_back(known.kind);
  return kinds;
}

void require_network_kind(const std::string& kind) {
  if (const std::vector<std::string> kinds = network_kinds(); std::ranges::count(kinds, kind) == 0)
    refuse("there is no such kind of network: allowed are {}", listed(nearest(kind, kinds)));
}

UsualPart usual_part(const std::string& kind, double rate_Bps) {
  const std::vector<Known> all = rows_of(read_csv(networks_file()));
  UsualPart usual{.low = 1, .high = 0};
  for (const Known& part : all) {
    if (part.quantity != efficiency || !(kind.empty() || kind == part.kind))
      continue;
    double low = *number_in<double>(part.low), high = *number_in<double>(part.high);
    if (const Known* most = found_in(all, part.kind, most_rate); most != nullptr && rate_Bps > 0) {
      low = std::min(low, *number_in<double>(most->low) * 1e9 / 8 / rate_Bps);
      high = std::min(high, *number_in<double>(most->high) * 1e9 / 8 / rate_Bps);
    }
    usual = {.low = std::min(usual.low, low), .high = std::max(usual.high, high)};
  }
  return usual;
}

std::vector<Default> values_in_reality(const std::string& file, const std::string& framework,
                                       const NetworkCards& cards, bool with_efficiency) {
  const Csv csv = read_csv(file);
  const std::vector<Known> all = rows_of(csv);
  check_kinds(csv, all);
  std::vector<Default> values;
  if (!cards.kind.empty() && with_efficiency)
    values.push_back(efficiency_of(all, cards));
  if (const Known* latency = found_in(all, cards.kind, net_latency))
    values.push_back(default_of(*latency));
  for (const Known& known : all)
    if (!framework.empty() && known.kind == framework)
      values.push_back(default_of(known));
  return values;
}

std::vector<std::string> unknown_in_reality(const std::string& file, const std::string& framework) {
  const std::vector<Known> all = rows_of(read_csv(file));
  std::set<std::string> unknown;
  for (const Known& known : all)
    if (!is_of_networks(known.quantity) && found_in(all, framework, known.quantity) == nullptr)
      unknown.insert(known.quantity);
  return {unknown.begin(), unknown.end()};
}

}  // namespace syncline
