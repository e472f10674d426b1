#include "sim/engine/wire.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/catalogue/network.h"
#include "sim/collectives.h"
#include "sim/engine/run.h"

namespace syncline {

Wire::Wire(Run& run)
    : run(run),
      routes(run.setup.traffic.cluster.routes()),
      porters_(run.setup.traffic.cluster.rank_hosts.size()) {
  if (SharedFlows::move_messages_of(run.setup))
    flows = std::make_unique<SharedFlows>(run.setup.traffic.cluster.routes());
}

void Wire::for_each_pair(const std::function<void(int from, int to, double bytes)>& sent) const {
  std::vector<std::pair<std::uint64_t, double>> pairs(bytes_between.begin(), bytes_between.end());
  std::ranges::sort(pairs);
  for (const auto& [pair, bytes] : pairs)
    sent(static_cast<int>(pair / run.hosts.size()), static_cast<int>(pair % run.hosts.size()),
         bytes);
}

bool Wire::joins(int from, int to) const {
  return run.hosts[index(from)] != run.hosts[index(to)];
}

std::uint64_t Wire::count(int from, int to, std::uint64_t bytes) {
  if (!joins(from, to))
    return 0;
  bytes_between[static_cast<std::uint64_t>(from) * run.hosts.size() +
                static_cast<std::uint64_t>(to)] += static_cast<double>(bytes);
  this->bytes += static_cast<double>(bytes);
  ++run.trace.flows;
  return bytes;
}

double Wire::latency_after_flow_s(int from, int to) {
  return run.setup.scenario.network->latency_after_flow ? routes.latency_s(from, to) : 0;
}

sg::CommPtr Wire::flow(sg::Mailbox& box, void* message, std::uint64_t bytes, int from, int to) {
  sg::CommPtr flow = box.put_init(message, bytes);
  if (!routes.have_windows())
    return flow;
  const auto [window_Bps, added] = windows_Bps_.try_emplace(
      static_cast<std::uint64_t>(from) * run.hosts.size() + static_cast<std::uint64_t>(to));
  if (added)
    window_Bps->second = routes.between(from, to).window_Bps;
  if (std::isfinite(window_Bps->second))
    flow->set_rate(window_Bps->second);
  return flow;
}

Porter& Wire::porter(int rank) {
  std::unique_ptr<Porter>& porter = porters_[index(rank)];
  if (porter == nullptr)
    porter = std::make_unique<Porter>(run, rank);
  return *porter;
}

void Wire::carry(const Parcel& parcel, std::function<void()> arrived,
                 std::function<void()> injected) {
  if (!joins(parcel.from, parcel.to)) {
    arrived();
    injected();
    return;
  }
  count(parcel.from, parcel.to, parcel.bytes);
  porter(parcel.from)
      .send(porter(parcel.to), parcel.bytes, std::move(arrived), std::move(injected));
}

std::vector<Parcel> Wire::parts_of(const Parcel& parcel) const {
  const auto on_network = [&](int from, int to, std::uint64_t bytes) {
    return Parcel{from, to, joins(from, to) ? bytes : 0};
  };
  const Setup& setup = run.setup;
  if (!parcel.of_shard || setup.node_distances.empty())
    return {on_network(parcel.from, parcel.to, parcel.bytes)};
  const Cluster& cluster = setup.traffic.cluster;
  const auto nodes = static_cast<int>(cluster.topology.nodes.size());
  const int first_server = cluster.topology.workers();
  const bool to_server = parcel.to >= first_server && parcel.to < cluster.topology.ranks();
  const int other = to_server ? parcel.from : parcel.to;
  const int node = other < first_server ? cluster.topology.node_of[index(other)]
                                        : other - cluster.aggregator_of(0);
  std::vector<Parcel> parcels;
  for (const DistanceRange& range : setup.node_distances) {
    // On its own host the server's own rank sends, and waits for the arrival before it ends.
    const int place = (node + range.middle) % nodes;
    const int server = place == 0 ? first_server : cluster.aggregator_of(place);
    const std::uint64_t bytes = shares(parcel.bytes, nodes, range.first, range.last + 1);
    parcels.push_back(to_server ? on_network(other, server, bytes)
                                : on_network(server, other, bytes));
  }
  return parcels;
}

SentMessage Wire::deliver(const Parcel& parcel, std::function<void(const SentMessage&)> arrived,
                          std::function<void()> injected) {
  struct Missing {
    std::size_t arrivals;
    std::size_t injections;
    SentMessage message;
    std::function<void(const SentMessage&)> arrived;
    std::function<void()> injected;
  };
  const std::vector<Parcel> parcels = parts_of(parcel);
  SentMessage message{.sent_s = sg::Engine::get_clock(), .bytes = 0, .number = 0};
  for (const Parcel& one : parcels)
    message.bytes += one.bytes;
  message.number = message_sent(parcel.from, parcel.to, message.bytes);
  const auto missing = std::make_shared<Missing>(  // with braces: clang 14 needs them
      Missing{parcels.size(), parcels.size(), message, std::move(arrived), std::move(injected)});
  for (const Parcel& one : parcels)
    carry(
        one,
        [this, missing] {
          if (--missing->arrivals > 0)
            return;
          message_arrived(missing->message.number, sg::Engine::get_clock());
          missing->arrived(missing->message);
        },
        [missing] {
          if (--missing->injections == 0 && missing->injected)
            missing->injected();
        });
  return message;
}

void Wire::send(const Parcel& parcel, Verb verb, std::function<void()> arrived) {
  deliver(parcel, [this, from = parcel.from, to = parcel.to, verb,
                   arrived = std::move(arrived)](const SentMessage& message) {
    add_sender_row(message, {.verb = verb, .stream = Stream::messages, .rank = from});
    add_receiver_row(message, {.verb = verb, .stream = Stream::messages, .rank = to});
    arrived();
  });
}

void Wire::add_sender_row(const SentMessage& message, Row row) {
  row.bytes_sent = message.bytes;
  run.add_row(message.sent_s, row);
  sends({&message.number, 1});
}

void Wire::add_receiver_row(const SentMessage& message, Row row) {
  row.bytes_received = message.bytes;
  run.add_row(message.sent_s, row);
  receives({&message.number, 1});
}

void Wire::wait_until_delivered(int rank) {
  if (const auto& porter = porters_[index(rank)])
    porter->wait_until_delivered();
}

std::int64_t Wire::message_sent(int from, int to, std::uint64_t bytes) {
  if (run.setup.keep_messages)
    run.trace.messages.push_back(
        {.sent_s = sg::Engine::get_clock(), .from = from, .to = to, .bytes = bytes});
  return static_cast<std::int64_t>(run.trace.messages.size()) - 1;
}

void Wire::message_arrived(std::int64_t message, double at_s) {
  if (run.setup.keep_messages)
    run.trace.messages[static_cast<std::size_t>(message)].arrived_s = at_s;
}

void Wire::note_row(std::span<const std::int64_t> messages, std::int64_t TracedMessage::*row) {
  for (const std::int64_t message : messages)
    if (run.setup.keep_messages)
      run.trace.messages[static_cast<std::size_t>(message)].*row =
          static_cast<std::int64_t>(run.trace.rows.size() - 1);
}

void Wire::sends(std::span<const std::int64_t> messages) {
  note_row(messages, &TracedMessage::sender_row);
}

void Wire::receives(std::span<const std::int64_t> messages) {
  note_row(messages, &TracedMessage::receiver_row);
}

}  // namespace syncline
