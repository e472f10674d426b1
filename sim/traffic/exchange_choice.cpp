#include "sim/traffic/exchange_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/catalogue/network.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/nccl_choice.h"

namespace syncline {

std::vector<ExchangeChoice> choose_exchanges(const std::vector<CandidateExchange>& candidates,
                                             Traffic& traffic, Routes& routes,
                                             const std::vector<Bucket>& buckets) {
  std::map<std::uint64_t, ExchangeChoice> by_bytes;
  for (const Bucket& bucket : buckets) {
    ExchangeChoice& choice = by_bytes[traffic.bytes_of(bucket)];
    if (choice.buckets++ > 0)
      continue;
    choice.bytes = traffic.bytes_of(bucket);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Traffic by = traffic;
      by.picked = {{choice.bytes, {.candidate = i}}};
      by.candidates = candidates;
      try {
        const double seconds =
            exchange_time(by, routes, traffic.payload_of(bucket, -1)).exchange_s();
        choice.seconds.emplace_back(candidates[i].exchange->name, seconds);
      } catch (const std::invalid_argument&) {  // the exchange needs nodes of one size
      }
    }
    std::ranges::stable_sort(choice.seconds, {}, &std::pair<std::string, double>::second);
  }
  std::vector<ExchangeChoice> choices;
  for (auto& [bytes, choice] : by_bytes) {
    const auto best = std::ranges::find(
        candidates, choice.seconds.front().first,
        [](const CandidateExchange& candidate) { return candidate.exchange->name; });
    traffic.picked[bytes] = {.candidate = static_cast<std::size_t>(best - candidates.begin())};
    choices.push_back(std::move(choice));
  }
  traffic.candidates = candidates;
  return choices;
}

std::vector<ExchangeChoice> exchanges_chosen(const Scenario& scenario, Traffic& traffic,
                                             const std::vector<Bucket>& buckets,
                                             const std::vector<Bucket>& tensors) {
  if (scenario.candidates.empty())
    return {};
  Routes routes = traffic.cluster.routes();
  traffic.picks_nearest = !tensors.empty();
  if (!scenario.nccl_chooses)
    return choose_exchanges(scenario.candidates, traffic, routes, buckets);
  const auto choose = [&](const std::vector<Payload>& payloads) {
    return choose_as_nccl(scenario, traffic, routes, payloads);
  };
  std::vector<Payload> payloads;
  for (const Bucket& bucket : buckets)
    payloads.push_back(traffic.payload_of(bucket, -1));
  std::vector<ExchangeChoice> choices = choose(payloads);
  if (tensors.empty() || choices.empty())
    return choices;
  // Sizes of groups that a run may make of the tensors, each at most a quarter longer than the one
  // before.
  payloads.clear();
  std::uint64_t bytes = choices.back().bytes;
  for (const Bucket& tensor : tensors)
    bytes = std::min(bytes, traffic.bytes_of(tensor));
  for (; bytes < choices.back().bytes; bytes += bytes / 4 + 1)
    payloads.push_back(dense(bytes));
  choose(payloads);
  return choices;
}

std::string described(const std::vector<ExchangeChoice>& choices) {
  struct Taken {
    int buckets = 0;
    std::uint64_t least = 0, most = 0;
    double seconds = 0;                       // of all these buckets
    std::map<std::string, double> of_others;  // the same, by other exchanges
  };
  std::map<std::string, Taken> by_name;
  for (const ExchangeChoice& choice : choices) {
    Taken& taken = by_name[choice.seconds.front().first];
    taken.least = taken.buckets == 0 ? choice.bytes : taken.least;  // choices come in order of size
    taken.most = choice.bytes;
    taken.buckets += choice.buckets;
    taken.seconds += choice.buckets * choice.seconds.front().second;
    for (const auto& [name, seconds] : choice.seconds)
      taken.of_others[name] += choice.buckets * seconds;
  }
  std::string text;
  for (const auto& [name, taken] : by_name) {
    const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    text += fmt::format("{}{} for {} of {:.3g}", text.empty() ? "" : "; ", name,
                        counted(taken.buckets, "bucket"), megabytes(taken.least));
    text += taken.most == taken.least ? " MB" : fmt::format(" to {:.3g} MB", megabytes(taken.most));
    std::string others;
    for (const auto& [other, seconds] : taken.of_others)
      if (other != name && taken.seconds > 0)
        others +=
            fmt::format("{}{} {:.3g}", others.empty() ? "" : ", ", other, seconds / taken.seconds);
    if (!others.empty())
      text += " (others, times as long: " + others + ")";
  }
  return text;
}

}  // namespace syncline
