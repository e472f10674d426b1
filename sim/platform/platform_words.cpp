#include "sim/platform/platform_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/registry.h"
#include "sim/catalogue/reality.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform_values.h"

namespace syncline {
namespace {

constexpr long long most_nodes = 1 << 20;
constexpr long long most_gpus = 1 << 20;
constexpr long long most_gpus_of_a_node = 128;
// A node is a zone, and SimGrid looks each name up in one zone after another. This many take
// seconds.
constexpr long long most_zones = 1000;
constexpr long long most_ways_inside = 500'000;  // each is a line of XML
constexpr long long most_sites = 64;

const std::string as_stated = "as said";

template <class Row>
std::vector<std::string> names_of_rows(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    names.push_back(row.name);
  return names;
}

std::string example_of_word(const std::string& word) {
  return std::ranges::find(platform_word_rows(), word, &PlatformWord::name)->example;
}

// Calls `read` with the value of a word. Adds the word and its value to an error message.
template <class Read>
auto of_word(const PlatformPlan& plan, const std::string& word, Read read) {
  const std::string& text = plan.text(word);
  try {
    return read(text);
  } catch (const std::invalid_argument& error) {
    refuse("{} = {}: {}", word, brief(text), error.what());
  }
}

// Reads a quantity as in XML, except that a number without a unit is an error.
template <class Read>
double with_its_unit(const std::string& text, Read read, const char* example) {
  const double value = read(text);
  if (text.find_first_not_of("0123456789.+-eE ") == std::string::npos)
    refuse("no unit: allowed are numbers with one, such as {}", example);
  return value;
}

double rate_Bps(const std::string& text) {
  return with_its_unit(text, bandwidth_Bps, "200Gbps or 25GBps");
}

double seconds_of(const std::string& text) {
  return with_its_unit(text, time_s, "14us or 30ms");
}

// Splits COUNTxWHAT. WHAT alone means a count of 1.
std::pair<long long, std::string> counted(const std::string& text, long long most) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos)
    return {1, text};
  return {whole_number(text.substr(0, times), 1, most), text.substr(times + 1)};
}

// Reads the kind of network after the cards, as in cards=8x400Gbps:ib.
void read_network_kind(PlatformPlan& plan, const std::string& kind) {
  try {
    require_network_kind(kind);
  } catch (const std::invalid_argument& error) {
    refuse("cards = {}:{}: {}, once after all cards", brief(plan.text("cards")), brief(kind),
           error.what());
  }
  plan.network = kind;
}

void read_values(PlatformPlan& plan) {
  const std::vector<std::string> parts = split(plan.words, ':');
  const std::vector<std::string> allowed = names_of_rows(platform_word_rows());
  std::set<std::string> given;
  std::string last;  // the word before
  plan.values = plan.family->values;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string word = trimmed(parts[i].substr(0, equals));
    const std::string before = std::exchange(last, word);
    const bool is_word = std::ranges::count(allowed, word) > 0;
    const bool is_bare = !is_word && equals == std::string::npos;
    if (is_bare && before == "cards") {
      read_network_kind(plan, word);
      continue;
    }
    if (is_bare && std::ranges::count(network_kinds(), word) > 0)
      refuse("'{}' is a kind of network: allowed is once, after the cards: cards=8x400Gbps:{}",
             word, word);
    if (!is_word)
      refuse("'{}' is no word of a platform: allowed are {}", brief(word),
             listed(nearest(word, allowed)));
    const std::string value =
        equals == std::string::npos ? "" : trimmed(parts[i].substr(equals + 1));
    if (value.empty())
      refuse("{} has no value: allowed is {}=VALUE, such as {}={}", word, word, word,
             example_of_word(word));
    if (!given.insert(word).second)
      refuse("{} is given twice: allowed is once", word);
    plan.values[word] = {value, as_stated};
  }
  if (given.contains("device") && !given.contains("speed"))
    plan.values.erase("speed");
}

// The number of nodes of each kind.
using Kinds = std::vector<long long>;

long long sum_of(const Kinds& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), 0LL);
}

Kinds kinds_of_nodes(const std::string& text) {
  Kinds kinds;
  for (const std::string& kind : split(text, '+')) {
    kinds.push_back(whole_number(kind, 1, most_nodes));
    if (sum_of(kinds) > most_nodes)
      refuse("more than {} nodes: allowed are 1 to {}", most_nodes, most_nodes);
  }
  return kinds;
}

// The GPUs of each node, by the value of `gpus`: one number for each kind in `nodes`, or with
// counts of its own, which then set the kinds.
std::vector<int> gpus_of_nodes(const std::string& text, Kinds& kinds) {
  const std::vector<std::string> words = split(text, '+');
  const bool has_counts =
      text.find('x') != std::string::npos || (words.size() > 1 && words.size() != kinds.size());
  if (has_counts)
    kinds.clear();
  std::vector<int> gpus;
  for (std::size_t kind = 0; kind < (has_counts ? words.size() : kinds.size()); ++kind) {
    const std::string& word = words[words.size() == 1 ? 0 : kind];
    const auto [nodes, of_each] =
        has_counts ? counted(word, most_nodes) : std::pair(kinds[kind], word);
    const long long number = whole_number(of_each, 1, most_gpus_of_a_node);
    if (nodes + static_cast<long long>(gpus.size()) > most_nodes)
      refuse("more than {} nodes: allowed are 1 to {}", most_nodes, most_nodes);
    gpus.insert(gpus.end(), static_cast<std::size_t>(nodes), static_cast<int>(number));
    if (has_counts)
      kinds.push_back(nodes);
  }
  return gpus;
}

// Reads `nodes` and `gpus`; returns the number of nodes of each kind.
Kinds read_nodes(PlatformPlan& plan) {
  Kinds kinds = of_word(plan, "nodes", kinds_of_nodes);
  const long long stated = sum_of(kinds);
  plan.gpus =
      of_word(plan, "gpus", [&](const std::string& text) { return gpus_of_nodes(text, kinds); });
  if (plan.nodes() != stated && plan.values.at("nodes").source == as_stated)
    refuse("nodes = {}: gpus = {} names {} nodes; allowed is the same number, or no word nodes",
           plan.text("nodes"), plan.text("gpus"), plan.nodes());
  if (plan.nodes() != stated)
    plan.values["nodes"] = {std::to_string(plan.nodes()), "as gpus says"};
  if (plan.gpu_count() > most_gpus)
    refuse("{} nodes with gpus = {} have {} GPUs: allowed are 1 to {}", plan.nodes(),
           plan.text("gpus"), plan.gpu_count(), most_gpus);
  return kinds;
}

// Splits a text with + into its values for the kinds of nodes. A text without + applies to all
// kinds.
std::vector<std::string> by_kind(const std::string& text, const Kinds& kinds) {
  std::vector<std::string> words = split(text, '+');
  if (words.size() == 1)
    words.resize(kinds.size(), std::string(words.front()));
  if (words.size() != kinds.size())
    refuse(
        "{} kinds of nodes, but nodes and gpus name {}: allowed is the same number of kinds, such "
        "as nodes=4+16",
        words.size(), kinds.size());
  return words;
}

void read_cards(PlatformPlan& plan, const Kinds& kinds) {
  of_word(plan, "cards", [&](const std::string& text) {
    const std::vector<std::string> words = by_kind(text, kinds);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const auto [cards, rate] = counted(words[kind], most_gpus_of_a_node);
      const auto first = plan.gpus.begin() + std::ssize(plan.cards);
      if (const int least = *std::min_element(first, first + kinds[kind]); cards > least)
        refuse("more cards than GPUs: allowed are 1 to {}", least);
      plan.cards.insert(plan.cards.end(), static_cast<std::size_t>(kinds[kind]),
                        {static_cast<int>(cards), rate_Bps(rate)});
    }
    return 0;
  });
  const bool uses_sockets = plan.network == "tcp";
  if (plan.values.at("cards").source == as_stated &&
      plan.values.at("latency").source != as_stated && !uses_sockets)
    if (const FamilyValue latency = latency_of_cards(
            std::ranges::min_element(plan.cards, {}, &PlatformPlan::Cards::Bps)->Bps);
        !latency.text.empty())
      plan.values["latency"] = latency;
  const bool by_pcie = plan.text("nvlink") == "none";
  plan.nvlink = !by_pcie;
  if (plan.nvlink)
    of_word(plan, "nvlink", rate_Bps);
  of_word(plan, "pcie", rate_Bps);
  if (plan.values.contains("host")) {
    if (plan.nvlink)
      refuse("host = {}: GPUs with nvlink = {} do not go through the host; allowed is nvlink=none",
             brief(plan.text("host")), plan.text("nvlink"));
    plan.host_Bps = of_word(plan, "host", rate_Bps);
  }
  plan.inside_s = of_word(plan, "inside-latency", seconds_of);
  plan.network_s = of_word(plan, "latency", seconds_of);
  if (by_pcie && plan.network_s < plan.inside_s)
    refuse(
        "latency = {}: the way to the card is over PCIe, whose inside-latency is {}; allowed is "
        "this or more",
        plan.text("latency"), plan.text("inside-latency"));
}

void read_switches(PlatformPlan& plan) {
  const bool rails = of_word(plan, "rails", [](const std::string& text) {
    if (text != "on" && text != "off")
      refuse("allowed are on or off");
    return text == "on";
  });
  const double over = of_word(plan, "oversubscription", [](const std::string& text) {
    const auto number = number_in<double>(text);
    if (!number || !(*number >= 1 && *number <= 1000))
      refuse("allowed are numbers from 1 to 1000");
    return *number;
  });
  if (!plan.values.contains("leaf")) {
    if (plan.values.at("oversubscription").source == as_stated)
      refuse(
          "oversubscription = {}: it needs two levels of switches; allowed with leaf, the cards on "
          "a leaf switch, such as leaf=32",
          plan.text("oversubscription"));
    return;
  }
  const PlatformPlan::Cards own = plan.cards.front();
  if (std::ranges::any_of(plan.cards, [&](const PlatformPlan::Cards& cards) {
        return cards.count != own.count || cards.Bps != own.Bps;
      }))
    refuse("leaf = {}: it needs nodes with the same cards; allowed is one kind of cards",
           plan.text("leaf"));
  const long long leaf = of_word(plan, "leaf", [&](const std::string& text) {
    const long long cards = whole_number(text, 1, 100'000);
    if (!rails && cards % own.count != 0)
      refuse("all {} cards of a node are on one leaf switch: allowed are multiples of {}",
             own.count, own.count);
    return cards;
  });
  plan.nodes_per_leaf = static_cast<int>(rails ? leaf : leaf / own.count);
  plan.uplink_Bps = plan.nodes_per_leaf * own.count * own.Bps / over;
}

void read_sites(PlatformPlan& plan) {
  plan.sites = static_cast<int>(of_word(plan, "sites", [&](const std::string& text) {
    return whole_number(text, 1, std::min<long long>(most_sites, plan.nodes()));
  }));
  plan.distance_s = of_word(plan, "distance", seconds_of);
  of_word(plan, "line", rate_Bps);
  for (const std::string word : {"distance", "line"})
    if (plan.sites == 1 && plan.values.at(word).source == as_stated)
      refuse(
          "{} = {}: it applies between sites, but there is one site; allowed with sites=2 or more",
          word, brief(plan.text(word)));
}

// The values of these devices, joined by +, and their sources.
template <class ValueOf>
FamilyValue of_devices(const std::vector<std::string>& devices, ValueOf value_of) {
  FamilyValue all;
  for (const std::string& device : devices) {
    const FamilyValue value = value_of(device);
    all.text += (all.text.empty() ? "" : "+") + value.text;
    if (all.source.find(value.source) == std::string::npos)
      all.source += (all.source.empty() ? "" : "; ") + value.source;
  }
  return all;
}

void read_devices_of(PlatformPlan& plan, const Kinds& kinds) {
  const std::vector<std::string> device = of_word(plan, "device", [&](const std::string& text) {
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_+") != std::string::npos ||
        text.find("--") != std::string::npos || text.size() > 64)
      refuse("allowed are small letters, digits, '.', '_' and single '-'");
    return by_kind(text, kinds);
  });
  const std::vector<std::string> named = split(plan.text("device"), '+');
  const bool says_speed = plan.values.contains("speed");
  if (!says_speed)
    plan.values["speed"] = of_devices(named, [](const std::string& one) {
      const FamilyValue speed = speed_of_device(one);
      if (speed.text.empty())
        refuse("device = {}: its speed is not known here; allowed with speed, such as speed=67Tf",
               one);
      return speed;
    });
  else
    of_word(plan, "speed", [](const std::string& text) {
      if (text.find(',') != std::string::npos)
        refuse("several speeds: allowed is one");
      return with_its_unit(text, speed_flops, "67Tf");
    });
  const bool says_slot = plan.values.at("pcie").source == as_stated;
  if (!says_slot)
    plan.values["pcie"] = of_devices(named, [&](const std::string& one) {
      const FamilyValue slot =
          one == plan.family->values.at("device").text ? FamilyValue{} : slot_of_device(one);
      return slot.text.empty() ? plan.family->values.at("pcie") : slot;
    });
  const auto of_each = [&](const std::string& word, bool is_said) {
    return is_said ? std::vector(kinds.size(), plan.text(word)) : by_kind(plan.text(word), kinds);
  };
  const std::vector<std::string> speed = of_each("speed", says_speed);
  const std::vector<std::string> slot = of_each("pcie", says_slot);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    plan.gpu_kinds.insert(plan.gpu_kinds.end(), static_cast<std::size_t>(kinds[kind]),
                          {device[kind], speed[kind], slot[kind]});
}

}  // namespace

bool is_platform_words(const std::string& platform) {
  return platform_family(trimmed(platform.substr(0, platform.find(':')))) != nullptr;
}

int PlatformPlan::gpu_count() const {
  return std::accumulate(gpus.begin(), gpus.end(), 0);
}

std::vector<std::string> slow_words(const PlatformPlan& plan, double least_Bps) {
  const auto slot_Bps = [](const PlatformPlan::Gpu& gpu) { return bandwidth_Bps(gpu.slot); };
  std::vector<std::pair<std::string, double>> rates{
      {"cards", std::ranges::min_element(plan.cards, {}, &PlatformPlan::Cards::Bps)->Bps},
      {"pcie", slot_Bps(*std::ranges::min_element(plan.gpu_kinds, {}, slot_Bps))}};
  if (plan.nvlink)
    rates.emplace_back("nvlink", bandwidth_Bps(plan.text("nvlink")));
  if (plan.host_Bps > 0)
    rates.emplace_back("host", plan.host_Bps);
  if (plan.sites > 1)
    rates.emplace_back("line", bandwidth_Bps(plan.text("line")));
  if (plan.nodes_per_leaf > 0)
    rates.emplace_back("oversubscription", plan.uplink_Bps);
  std::erase_if(rates, [&](const auto& rate) { return rate.second >= least_Bps; });
  std::vector<std::string> warnings;
  for (const auto& [word, Bps] : rates)
    warnings.push_back(fmt::format("platform: {} = {} is less than 1 Mbit/s: is the unit right?",
                                   word, brief(plan.text(word))));
  return warnings;
}

void require_for_simgrid(const PlatformPlan& plan) {
  constexpr const char* elsewhere =
      ", and more with fidelity = analytic, for schedules without servers";
  if (plan.nodes() > most_zones)
    refuse("{} nodes: allowed are 1 to {} for SimGrid{}", plan.nodes(), most_zones, elsewhere);
  long long ways = 0;
  for (const long long gpus : plan.gpus)
    ways += (gpus + 1) * (gpus + 2) / 2;
  if (ways > most_ways_inside)
    refuse(
        "{} nodes with gpus = {} have {} routes inside nodes: allowed are up to {} for SimGrid{}",
        plan.nodes(), plan.text("gpus"), ways, most_ways_inside, elsewhere);
}

PlatformPlan platform_plan(const std::string& words) {
  PlatformPlan plan{.words = trimmed(words)};
  const std::string family = trimmed(words.substr(0, words.find(':')));
  plan.family = platform_family(family);
  if (plan.family == nullptr)
    refuse("'{}' is no family of platforms: allowed are {}", brief(family),
           listed(nearest(family, names_of_rows(platform_families()))));
  read_values(plan);
  const Kinds kinds = read_nodes(plan);
  read_cards(plan, kinds);
  read_switches(plan);
  read_sites(plan);
  read_devices_of(plan, kinds);
  return plan;
}

}  // namespace syncline
