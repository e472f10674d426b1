#include "sim/engine/estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/clock/round.h"
#include "sim/clock/run_length.h"
#include "sim/collectives.h"
#include "sim/engine/alike_servers.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/learning_need.h"
#include "sim/engine/shared_flows.h"
#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/setup/repeated_runs.h"
#include "sim/trace.h"

namespace syncline {
namespace {

// Measured with the cases of experiments/scale and some others, on the machine of its README, with
// 128 workers.
constexpr double seconds_per_row = 2e-6;
constexpr double seconds_per_flow = 11e-6;
constexpr double seconds_per_step = 5.5e-6;  // of a collective whose steps, or pieces, are messages
constexpr double seconds_per_ring_step = 3.3e-6;  // the same of a ring
// The same where SharedFlows move it: a flow, and a piece in a pipeline.
constexpr double seconds_per_shared_flow = 7.5e-6;
constexpr double seconds_per_shared_piece = 2.2e-6;
constexpr double seconds_per_push = 12e-6;  // to a server, to or from a node, and back
// The same where SharedFlows move it, and its further cost for each group of flows under way.
constexpr double seconds_per_shared_push = 6e-6;
constexpr double seconds_per_pair_beside = 10e-9;
// With more workers everything takes longer, because their data no longer fit in a cache.
double crowded(double workers) {
  return (1 + 6 * workers / (workers + 1500)) / 1.47;
}
// Cost per flow on the same link: SimGrid recomputes the shares of a link whenever one of its flows
// begins or ends.
constexpr double seconds_per_flow_beside = 90e-9;
constexpr double tied_servers = 16;  // this many servers double that cost
// The same cost where all workers push a bucket to servers together. Flows of the workers of one
// node end together. All flows end together if each worker has a node of its own and sends the same
// bytes to each server.
constexpr double seconds_per_share_beside = 60e-9;
constexpr double seconds_per_alike_share_beside = 5e-9;
constexpr double seconds_per_host = 15e-6;
constexpr double program_bytes = 37e6;
constexpr double bytes_per_host = 3000;
constexpr double bytes_per_actor = 12'000;  // its stack, as far as it is used
constexpr double bytes_per_flow_in_flight = 2000;
constexpr double bytes_per_action = 400;             // of a plan
constexpr double bytes_per_row = 1.5 * sizeof(Row);  // a growing vector
// With `fidelity = analytic`: measured with 8,192 to 131,072 workers on nodes of 8 and of 4, with
// ring and hierarchical. Exchanges that are followed message by message take longer.
constexpr double seconds_per_idle_host = 10e-6;
constexpr double seconds_per_analytic_worker = 20e-6;
constexpr double seconds_per_analytic_row = 0.25e-6;
constexpr double bytes_per_idle_host = 900;
constexpr double bytes_per_analytic_worker = 700;
constexpr double bytes_per_analytic_row = 80;  // the row, and its share of the report
constexpr double bytes_per_message = 1.5 * sizeof(TracedMessage);

// Bytes that --trace writes, CSV and JSON together.
constexpr double written_bytes_per_row = 210;
constexpr double written_bytes_per_message = 220;

// Plans are made for at most this many ranks, because a rank's plan can be as long as there are
// ranks.
constexpr int most_sampled = 64;

// Evenly spaced indices below `count`, from 0.
std::vector<int> sampled(int count) {
  std::vector<int> some(static_cast<std::size_t>(std::min(count, most_sampled)));
  for (std::size_t i = 0; i < some.size(); ++i)
    some[i] = static_cast<int>(static_cast<std::size_t>(count) * i / some.size());
  return some;
}

// A bucket's `backward` is one row. All other work of a worker on a bucket that is sent takes as
// long as two more rows.
constexpr double rows_of_sending = 2;

// The work of all ranks in one iteration.
struct Load {
  double flows = 0;
  double flows_s = 0;  // seconds that SimGrid takes for them, if no link is shared
  double rows = 0;
  double actors = 0;
  double plan_actions = 0;  // kept for the whole run
  double beside_s = 0;      // for each flow: new shares of others when it begins or ends
  double in_flight = 0;     // flows under way at a time
};

bool on_different_hosts(const Setup& setup, int from, int to) {
  const std::vector<std::string>& hosts = setup.traffic.cluster.rank_hosts;
  return hosts[index(from)] != hosts[index(to)];
}

// How often a rank goes through the transfers of a phase, and the rows that this makes.
struct Passes {
  double transfers = 0;
  double rows = 0;
};

Passes passes_of(const Setup& setup, const Phase& phase) {
  if (phase.stage.stages > 1) {
    const bool every_step = setup.traffic.every_step;
    const int workers = setup.traffic.cluster.topology.workers();
    const int pieces = pieces_of(phase.stage, every_step);
    Passes passes{.transfers = static_cast<double>(pieces), .rows = 3.0 * pieces};
    if (phase.group_size == 0)
      return passes;
    if (every_step)
      passes.transfers *= phase.steps;
    else
      for (int p = 0; p < pieces; ++p) {
        const Phase piece = piece_of(phase, p, every_step);
        passes.transfers += is_fused(piece, every_step, workers) ? 0 : piece.steps - 1;
      }
    return passes;
  }
  return {.transfers = is_one_flow(setup, phase) ? 1.0 : phase.steps, .rows = 2};
}

// Seconds that a share of a bucket, on its way to a server or back, costs because of all other
// shares that are under way over full links.
double seconds_beside(const Setup& setup, const Phase& phase, int rank) {
  const std::size_t peers = phase.sends.size();
  if (phase.stage.stages == 1 || peers < 2)
    return 0;
  const Topology& topology = setup.traffic.cluster.topology;
  const bool to_servers = rank < topology.workers();
  const double under_way =
      2.0 * static_cast<double>(peers) * (to_servers ? topology.workers() : topology.servers);
  const double of_a_node =
      static_cast<double>(topology.workers()) / static_cast<double>(topology.nodes.size());
  const bool alike =
      of_a_node == 1 && peers == index(to_servers ? topology.servers : topology.workers());
  return under_way *
         (alike ? seconds_per_alike_share_beside : seconds_per_share_beside / std::sqrt(of_a_node));
}

bool in_stages(const Phase& phase) {
  return phase.stage.stages > 1 && phase.group_size == 0;
}

// If no link is shared.
double seconds_per_message(const Phase& phase, bool one_flow, bool shared_flows) {
  if (one_flow)
    return shared_flows ? seconds_per_shared_flow : seconds_per_flow;
  if (is_ring(phase))
    return seconds_per_ring_step;
  return shared_flows && in_stages(phase) ? seconds_per_shared_piece : seconds_per_step;
}

// The load of one rank when it averages one bucket. Links of servers are full for `busy` of the
// time.
Load load_of(const Setup& setup, const Plan& plan, int rank, double busy) {
  Load load;
  load.plan_actions = static_cast<double>(plan.size());
  const bool shared = SharedFlows::move_messages_of(setup);
  for (const auto& action : plan) {
    const Phase* phase = std::get_if<Phase>(&action);
    if (phase == nullptr) {
      load.rows += 1;
      continue;
    }
    const Passes passes = passes_of(setup, *phase);
    double flows = 0;
    for (const Transfer& send : phase->sends)
      flows += on_different_hosts(setup, rank, send.peer) ? passes.transfers : 0;
    load.flows += flows;
    const bool one_flow = !in_stages(*phase) && (phase->steps == 1 || is_one_flow(setup, *phase));
    const double each_s = seconds_per_message(*phase, one_flow, shared);
    const double beside_s = shared ? 0 : busy * busy * seconds_beside(setup, *phase, rank);
    load.flows_s += flows * (each_s + beside_s);
    load.rows += passes.rows;
    load.plan_actions += static_cast<double>(phase->sends.size() + phase->receives.size()) / 8;
  }
  return load;
}

// The part of the time in which the cards of servers or of workers are busy if computation does not
// wait. The fewer flows there are at a time, the fewer shares SimGrid recomputes.
double busy_part(const Setup& setup, double bytes) {
  const Topology& topology = setup.traffic.cluster.topology;
  Routes routes = setup.traffic.cluster.routes();
  const double to_one = static_cast<double>(topology.workers()) / topology.servers;
  double busy_s = 0;
  for (const int worker : sampled(topology.workers()))
    for (const int server : sampled(topology.servers)) {
      const double width_Bps = routes.width_Bps(worker, topology.workers() + server);
      busy_s = std::max(busy_s, std::max(1.0, to_one) * bytes / width_Bps);
    }
  return busy_s / std::max(busy_s, setup.compute.longest_solo_s());
}

void add_averages(const Setup& setup, const Moved& moved, Load& load) {
  const Traffic& traffic = moved.traffic;
  const std::vector<int> ranks = sampled(traffic.averaging_ranks());
  const std::vector<int> buckets = sampled(static_cast<int>(moved.buckets.size()));
  const double plans = static_cast<double>(traffic.averaging_ranks()) *
                       static_cast<double>(moved.buckets.size()) /
                       static_cast<double>(ranks.size() * std::max<std::size_t>(buckets.size(), 1));
  const double scale = plans * moved.times / traffic.round;
  std::set<std::uint64_t> sizes;  // buckets of one size have one plan
  for (const Bucket& bucket : moved.buckets)
    sizes.insert(traffic.bytes_of(bucket));
  const double kept = static_cast<double>(sizes.size()) / static_cast<double>(moved.buckets.size());
  double bytes = 0;
  for (const Bucket& bucket : moved.buckets)
    bytes += static_cast<double>(traffic.bytes_of(bucket));
  const bool to_servers = setup.scenario.exchange->uses_servers;
  const double busy = to_servers ? busy_part(setup, bytes) : 0;
  for (const int bucket : buckets) {
    const Payload payload = traffic.payload_of(moved.buckets[index(bucket)], -1);
    for (const int rank : ranks) {
      const Load one = load_of(setup, traffic.plan_of(payload, rank), rank, busy);
      load.flows += one.flows * scale;
      load.flows_s += one.flows_s * scale;
      load.rows += one.rows * scale;
      load.plan_actions += one.plan_actions * plans * kept;
    }
  }
  load.in_flight = std::max(load.in_flight, (moved.stream + 1.0) * traffic.averaging_ranks());
}

// If SharedFlows move the messages, sets their cost and returns true. The cost grows with the
// number of groups of flows: one per node and server if servers are on nodes, because the cards of
// both may be full; else one per server.
bool add_shared_pushes(const Setup& setup, double busy, double servers, Load& load) {
  if (!SharedFlows::move_messages_of(setup))
    return false;
  const auto nodes = static_cast<double>(setup.traffic.cluster.topology.nodes.size());
  const double pairs =
      std::min(load.in_flight, setup.scenario.servers == 0 ? nodes * servers : servers);
  load.flows_s = load.flows * seconds_per_shared_push;
  load.beside_s = busy * busy * pairs * seconds_per_pair_beside;
  return true;
}

void add_pushes(const Setup& setup, double servers, double places, Load& load) {
  const Topology& topology = setup.traffic.cluster.topology;
  const double workers = topology.workers();
  const std::vector<std::string>& hosts = setup.traffic.cluster.rank_hosts;
  const auto first_server = hosts.begin() + topology.workers();
  const std::set<std::string> of_servers(first_server, first_server + topology.servers);
  const auto beside_a_server =
      static_cast<double>(std::count_if(hosts.begin(), first_server, [&](const std::string& host) {
        return of_servers.contains(host);
      }));
  double pushed = 0;
  double pulled = 0;
  // In an iteration, of a worker and a server about one piece.
  const double messages = (setup.traffic.asks ? 3.0 : 2.0) / setup.traffic.round;
  for (const Bucket& bucket : setup.buckets) {
    const double pieces = setup.traffic.cut_of(bucket).pieces;
    load.flows += messages * (workers * servers * places - beside_a_server) * pieces;
    load.rows += workers * (messages + 2 * messages * servers * pieces);
    load.plan_actions += workers * servers * pieces / 8;  // kept of the servers' answers
    const Payload payload = setup.traffic.payload_of(bucket, -1);
    pushed += static_cast<double>(payload.bytes + payload.small_bytes);
    pulled += static_cast<double>(setup.traffic.pulled_bytes(payload));
  }
  const double busy = busy_part(setup, std::max(pushed, pulled) / setup.traffic.round);
  load.in_flight = 2 * workers * servers * places;
  if (add_shared_pushes(setup, busy, servers * places, load))
    return;
  load.flows_s = load.flows * seconds_per_push;
  // Several servers tie the cards of all workers together. Workers that wait for others push at the
  // same moment, and some of these flows end together.
  const double ends = setup.scenario.schedule->most_lead != nullptr ? 1 : 0.35;
  load.beside_s =
      ends * load.in_flight * busy * busy * (1 + servers / tied_servers) * seconds_per_flow_beside;
}

void add_copies(const Setup& setup, Load& load) {
  const Traffic& traffic = setup.traffic;
  const int workers = traffic.cluster.topology.workers();
  const std::vector<int> some = sampled(workers);
  const double scale = workers / static_cast<double>(some.size());
  for (const int from : some)
    for (const auto& [to, copies] : traffic.neighbours(traffic.schedule_settings, from, workers)) {
      load.rows += 3 * copies * scale;  // of sender and receiver, and `mix`
      load.flows += on_different_hosts(setup, from, to) ? copies * scale : 0;
    }
  load.flows_s = load.flows * (SharedFlows::move_messages_of(setup) ? seconds_per_shared_push
                                                                    : seconds_per_push);
  load.in_flight = load.flows;
}

void add_sums(const Setup& setup, bool alike, double servers, double places, Load& load) {
  const Topology& topology = setup.traffic.cluster.topology;
  const double workers = topology.workers();
  const auto nodes = static_cast<double>(topology.nodes.size());
  load.flows += 2 * workers + nodes * (2 * servers * places + 3);
  load.rows += workers * (8 + servers) + nodes * (4 * servers + 6);
  load.in_flight = 2 * nodes * servers * places + workers;
  if (add_shared_pushes(setup, 1, servers * places, load))
    return;
  load.flows_s = load.flows * seconds_per_push;
  // Nodes are asked for their sums at the same time. Sums to alike servers, and sums from nodes
  // with one worker each, also arrive at the same time.
  load.beside_s = alike || workers == nodes ? 0 : load.in_flight / 3 * seconds_per_flow_beside;
}

Load load_of(const Setup& setup) {
  const Topology& topology = setup.traffic.cluster.topology;
  const std::optional<AlikeServers> alike = AlikeServers::of(setup);
  const double servers = alike ? 1 : topology.servers;
  const double places = alike ? alike->places() : 1;
  Load load;
  const double workers = topology.workers();
  const double accumulates = setup.compute.micro_steps > 1 ? 1 : 0;
  // Where workers hold shards, every micro-step computes unit by unit and may wait for each unit.
  const double passes = setup.shards ? 2.0 * setup.compute.micro_steps : 1;
  load.rows = workers * (3 + accumulates +
                         passes * static_cast<double>(setup.made().size()) *
                             (1 + rows_of_sending / setup.traffic.round));
  load.actors = workers * 2;
  switch (setup.traffic.partners) {
    case Schedule::Partners::each_other:
      if (setup.scenario.fidelity == Fidelity::analytic)
        return {.rows = load.rows};
      for (const Moved& some : moved(setup))
        add_averages(setup, some, load);
      load.actors += 3 * (setup.traffic.averaging_ranks() > topology.workers() ? workers : 0);
      break;
    case Schedule::Partners::servers:
      add_pushes(setup, servers, places, load);
      load.actors += workers + 2 * servers;
      break;
    case Schedule::Partners::aggregators:
      add_sums(setup, alike.has_value(), servers, places, load);
      load.actors += workers + 2 * servers + 2 * static_cast<double>(topology.nodes.size());
      break;
    case Schedule::Partners::neighbours:
      add_copies(setup, load);
      load.actors += workers;
  }
  return load;
}

Need need_of(const Setup& setup, const Load& load, int iterations) {
  Need need{.iterations = static_cast<double>(iterations)};
  const auto hosts = static_cast<double>(setup.traffic.cluster.worker_hosts.size());
  const double rows = load.rows * iterations;
  need.flows = load.flows * iterations;
  const double workers = setup.traffic.cluster.topology.workers();
  need.seconds = hosts * seconds_per_host +
                 (rows * seconds_per_row + iterations * load.flows_s) * crowded(workers) +
                 need.flows * load.beside_s;
  const bool by_arithmetic = setup.scenario.fidelity == Fidelity::analytic;
  const double written = setup.shards || by_arithmetic
                             ? rows
                             : rows - rows_of_sending / setup.traffic.round * workers *
                                          static_cast<double>(setup.made().size()) * iterations;
  need.trace_bytes = trace_bytes_of(written, need.flows);
  need.memory_bytes = program_bytes + hosts * bytes_per_host + load.actors * bytes_per_actor +
                      load.in_flight * bytes_per_flow_in_flight +
                      load.plan_actions * bytes_per_action + rows * bytes_per_row +
                      (setup.keep_messages ? need.flows * bytes_per_message : 0);
  if (by_arithmetic) {
    need.seconds = hosts * seconds_per_idle_host + workers * seconds_per_analytic_worker +
                   rows * seconds_per_analytic_row + need.flows * seconds_per_shared_push;
    need.memory_bytes = program_bytes + hosts * bytes_per_idle_host +
                        workers * bytes_per_analytic_worker + rows * bytes_per_analytic_row;
  }
  if (setup.learning_task != nullptr)
    add_learning(setup, need);
  return need;
}

}  // namespace

double trace_bytes_of(double rows, double messages) {
  return rows * written_bytes_per_row + messages * written_bytes_per_message;
}

Estimate estimate(const Setup& setup, double most_seconds) {
  const Load load = load_of(setup);
  const auto [least, most] = RunLength::iterations(setup);
  Estimate all{.least = need_of(setup, load, least), .most = need_of(setup, load, most)};
  all.runs = runs_of(setup, all.least.seconds, most_seconds - setup.load_s);
  for (Need* need : {&all.least, &all.most}) {
    need->flows *= all.runs;
    need->seconds = setup.load_s + need->seconds * all.runs;  // all runs share one platform
  }
  return all;
}

}  // namespace syncline
