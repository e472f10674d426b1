#include "sim/bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

int exchanging_ranks(const Setup& setup) {
  const Topology& topology = setup.cluster.topology;
  return Registered<Exchange>::find(setup.scenario.exchange).uses_servers ? topology.ranks()
                                                                          : topology.workers();
}

// What one rank does, but for the bytes: those share links with other ranks'.
ExchangeTime own_time(const Setup& setup, Routes& routes, const Plan& plan, int rank) {
  ExchangeTime time;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Phase& phase = plan[i];
    if (phase.messages > 0) {
      double& seconds = i == 0                 ? time.compress_s
                        : i + 1 == plan.size() ? time.decompress_s
                                               : time.between_s;
      seconds += setup.compression.seconds(rank, phase.name, phase.elements, phase.messages, -1);
      continue;
    }
    double latency_s = 0;
    for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
      for (const Transfer& transfer : *transfers)
        latency_s = std::max(latency_s, routes.between(rank, transfer.peer).latency_s);
    time.fixed_s += phase.steps * (latency_s + setup.scenario.step_overhead_s);
  }
  return time;
}

}  // namespace

ExchangeTime exchange_time(const Setup& setup, Routes& routes, const Payload& payload) {
  // Ranks are in the same phase when it has the same name for the same time.
  std::map<std::pair<std::string_view, int>, std::map<int, double>> link_bytes;
  ExchangeTime slowest;
  for (int rank = 0; rank < exchanging_ranks(setup); ++rank) {
    const Plan plan = setup.plan_of(payload, rank);
    std::map<std::string_view, int> seen;
    for (const Phase& phase : plan) {
      std::map<int, double>& loads = link_bytes[{phase.name, seen[phase.name]++}];
      for (const Transfer& send : phase.sends)
        for (const int link : routes.between(rank, send.peer).links)
          loads[link] += static_cast<double>(send.bytes);
    }
    const ExchangeTime own = own_time(setup, routes, plan, rank);
    slowest.compress_s = std::max(slowest.compress_s, own.compress_s);
    slowest.fixed_s = std::max(slowest.fixed_s, own.fixed_s);
    slowest.between_s = std::max(slowest.between_s, own.between_s);
    slowest.decompress_s = std::max(slowest.decompress_s, own.decompress_s);
  }
  for (const auto& [phase, loads] : link_bytes) {
    double busiest_s = 0;
    for (const auto& [link, load] : loads)
      busiest_s = std::max(busiest_s, load / routes.links()[index(link)].bandwidth_Bps);
    slowest.bytes_s += busiest_s;
  }
  return slowest;
}

std::vector<ExchangeTime> bucket_times(const Setup& setup, Routes& routes) {
  std::vector<ExchangeTime> times;
  for (const Bucket& bucket : setup.buckets)
    times.push_back(exchange_time(setup, routes, setup.payload_of(bucket, -1)));
  return times;
}

ExchangeCost gradient_cost(const Setup& setup, Routes& routes) {
  const double startup_s = exchange_time(setup, routes, dense(0)).exchange_s();
  const Payload whole = setup.payload_of(setup.whole, -1);
  const ExchangeTime time = exchange_time(setup, routes, whole);
  const auto bytes = static_cast<double>(whole.dense_bytes);
  return {startup_s, (time.exchange_s() - startup_s) / bytes, time.compress_s / bytes};
}

ExchangeCost message_cost(const Setup& setup, Routes& routes) {
  // Without elements nothing is priced but what moves.
  Payload payload{.bytes = 0,
                  .dense_bytes = setup.model_bytes(),
                  .summable = setup.compression.compressor().reducible};
  const double startup_s = exchange_time(setup, routes, payload).exchange_s();
  constexpr std::uint64_t megabyte = 1'000'000;
  payload.bytes = megabyte;
  const double seconds = exchange_time(setup, routes, payload).exchange_s();
  return {.startup_s = startup_s, .seconds_per_byte = (seconds - startup_s) / megabyte};
}

std::map<int, double> link_bytes_per_iteration(const Setup& setup, Routes& routes) {
  std::map<int, double> loads;
  const auto add = [&](int from, int to, std::uint64_t bytes) {
    for (const int link : routes.between(from, to).links)
      loads[link] += static_cast<double>(bytes);
  };
  const Topology& topology = setup.cluster.topology;
  const Schedule& schedule = Registered<Schedule>::find(setup.scenario.schedule);
  if (schedule.aggregator != nullptr) {
    for (int rank = 0; rank < topology.workers(); ++rank) {
      const int node = setup.cluster.aggregator_of(topology.node_of[index(rank)]);
      add(rank, node, setup.model_bytes());
      add(node, rank, setup.model_bytes());
    }
  } else if (schedule.server != nullptr) {
    for (int rank = 0; rank < topology.workers(); ++rank)
      for (int s = 0; s < topology.servers; ++s)
        for (const Bucket& bucket : setup.buckets) {
          const Payload payload = setup.payload_of(bucket, -1);
          add(rank, topology.workers() + s,
              share(payload.bytes + payload.beside, topology.servers, s));
          add(topology.workers() + s, rank,
              share(setup.pulled_bytes(payload), topology.servers, s));
        }
  } else {
    for (const Bucket& bucket : setup.buckets)
      for (int rank = 0; rank < exchanging_ranks(setup); ++rank)
        for (const Phase& phase : setup.plan_of(setup.payload_of(bucket, -1), rank))
          for (const Transfer& send : phase.sends)
            add(rank, send.peer, send.bytes);
  }
  return loads;
}

double iteration_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth) {
  const double compute_s = std::ranges::max(setup.times.solo_s);
  const double flop = setup.model.forward_flop();
  const bool beside = setup.cluster.workers.front().cores > 1;  // a stream free for compression

  // When each message is made, were there no exchanges.
  double computed_s = setup.scenario.overlap ? compute_s / 3 : compute_s;
  double compressed_s = 0;
  std::vector<double> made_s;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (setup.scenario.overlap)
      computed_s += compute_s * 2 / 3 * setup.buckets[i].forward_flop / flop;
    compressed_s = std::max(compressed_s, computed_s) + buckets[i].compress_s;
    if (!beside)
      computed_s = compressed_s;
    made_s.push_back(compressed_s);
  }
  double held_up_s = 0;  // computing, by what exchanges do in between
  double free_s = 0;
  std::vector<double> exchanged_s;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double start_s = std::max(free_s, made_s[i] + held_up_s);
    const double computing_s = std::max(0.0, computed_s + held_up_s - start_s);
    const double shared_s = beside ? 0 : std::min(buckets[i].between_s, computing_s);
    free_s = start_s + buckets[i].fixed_s + buckets[i].between_s + shared_s +
             buckets[i].bytes_s / bandwidth;
    held_up_s += shared_s;
    exchanged_s.push_back(free_s);
  }
  const double computing_ends_s = computed_s + held_up_s;
  double end_s = beside ? 0 : computing_ends_s;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    end_s = std::max(end_s, exchanged_s[i]) + buckets[i].decompress_s;
  return std::max(end_s, computing_ends_s);
}

namespace {

// `excess`: compressed less dense seconds at a multiple of the bandwidth.
template <class Excess>
BreakEven::Where crossing(Excess excess) {
  using Pays = BreakEven::Pays;
  double low = 1e-9;
  double high = 1e9;
  const bool pays_low = excess(low) < 0;
  const bool pays_high = excess(high) < 0;
  if (pays_low == pays_high)
    return {pays_low ? Pays::always : Pays::never, 0};
  while (high / low > 1 + 1e-9) {
    const double middle = std::sqrt(low * high);
    ((excess(middle) < 0) == pays_low ? low : high) = middle;
  }
  return {pays_low ? Pays::below : Pays::above, low};
}

}  // namespace

BreakEven break_even(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times) {
  BreakEven result{.rival = setup};
  Scenario& scenario = result.rival.scenario;
  scenario.schedule = "bsp";
  scenario.exchange = "ring";
  scenario.exchange_settings = {};
  scenario.compressor = "none";
  result.rival.compression = {};
  result.compressed = std::move(times);
  result.dense = bucket_times(result.rival, routes);

  double saved_s = 0;
  double spent_s = 0;
  for (std::size_t i = 0; i < result.dense.size(); ++i) {
    const ExchangeTime& ours = result.compressed[i];
    saved_s += result.dense[i].bytes_s - ours.bytes_s;
    spent_s += ours.compress_s + ours.between_s + ours.decompress_s + ours.fixed_s -
               result.dense[i].fixed_s;
  }
  using Pays = BreakEven::Pays;
  if (saved_s > 0)
    result.without_overlap = spent_s > 0 ? BreakEven::Where{Pays::below, saved_s / spent_s}
                                         : BreakEven::Where{Pays::always, 0};
  else
    result.without_overlap = spent_s < 0 ? BreakEven::Where{Pays::above, saved_s / spent_s}
                                         : BreakEven::Where{Pays::never, 0};
  result.with_overlap = crossing([&](double bandwidth) {
    return iteration_seconds(setup, result.compressed, bandwidth) -
           iteration_seconds(result.rival, result.dense, bandwidth);
  });
  return result;
}

}  // namespace syncline
