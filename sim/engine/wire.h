// A run's messages: who sends whom how many bytes, and when they arrive. Collectives send theirs by
// themselves (sim/engine/transfers.cpp) and note here what they send.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/clock/traced.h"
#include "sim/engine/porter.h"
#include "sim/engine/shared_flows.h"
#include "sim/platform/routes.h"
#include "sim/trace.h"

namespace syncline {

// So many bytes go from one rank to another.
struct Parcel {
  int from;
  int to;
  std::uint64_t bytes;
  bool of_shard = false;  // may go to, or come from, several nodes (Setup::node_distances)
};

// A message that has set out.
struct SentMessage {
  double sent_s;
  std::uint64_t bytes;  // on the network
  std::int64_t number;  // in the trace
};

struct Wire {
  explicit Wire(Run& run);

  Run& run;
  Routes routes;
  // What messages outside collectives share links by; null: SimGrid's network.
  std::unique_ptr<SharedFlows> flows;
  std::unordered_map<std::uint64_t, double> bytes_between;  // by from * ranks + to
  double bytes = 0;                                         // by all, on the network

  void for_each_pair(const std::function<void(int from, int to, double bytes)>& sent) const;
  bool joins(int from, int to) const;  // no: these ranks are on one host
  // Counts a transfer and returns the bytes that it puts on the network: none on one host.
  std::uint64_t count(int from, int to, std::uint64_t bytes);
  // A message that sets out now arrives so much later than its flow ends.
  double latency_after_flow_s(int from, int to);
  // A transfer between these ranks that has not started yet. TCP windows limit it, if there are
  // any.
  sg::CommPtr flow(sg::Mailbox& box, void* message, std::uint64_t bytes, int from, int to);

  // Sends a message and returns. `arrived` runs when the message arrives, from the last node if
  // there are several; `injected`, if not empty, when it has left the sender. Neither may wait.
  SentMessage deliver(const Parcel& parcel, std::function<void(const SentMessage&)> arrived,
                      std::function<void()> injected = {});
  // Delivers it with a row at each end, of this verb.
  void send(const Parcel& parcel, Verb verb, std::function<void()> arrived);
  // Adds a row of a message's sender, or of its receiver, from when it was sent until now.
  void add_sender_row(const SentMessage& message, Row row);
  void add_receiver_row(const SentMessage& message, Row row);
  void wait_until_delivered(int rank);  // everything that this rank has sent

  // A message that sets out now has this number in the trace. Where the trace keeps no messages,
  // here and below: it has any, and nothing happens.
  std::int64_t message_sent(int from, int to, std::uint64_t bytes);
  void message_arrived(std::int64_t message, double at_s);
  // The last row of the trace sends or receives these.
  void sends(std::span<const std::int64_t> messages);
  void receives(std::span<const std::int64_t> messages);

 private:
  // The parcels that a message takes: one, unless nodes share a shard.
  std::vector<Parcel> parts_of(const Parcel& parcel) const;
  void carry(const Parcel& parcel, std::function<void()> arrived, std::function<void()> injected);
  void note_row(std::span<const std::int64_t> messages, std::int64_t TracedMessage::*row);
  Porter& porter(int rank);

  std::map<std::uint64_t, double> windows_Bps_;   // by from * ranks + to
  std::vector<std::unique_ptr<Porter>> porters_;  // by rank; null where it has sent and got nothing
};

}  // namespace syncline
