// A run's messages: sender, receiver, bytes and time of arrival. Collectives send their messages
// themselves (sim/engine/transfers.cpp) and record them here.
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

// Bytes to send from one rank to another.
struct Parcel {
  int from;
  int to;
  std::uint64_t bytes;
  bool of_shard = false;  // may be split over several nodes (Setup::node_distances)
};

// A message that has set out.
struct SentMessage {
  double sent_s;
  std::uint64_t bytes;  // on the network
  std::int64_t number;  // its index in the trace
};

struct Wire {
  explicit Wire(Run& run);

  Run& run;
  Routes routes;
  // Moves all messages; null: SimGrid's network moves them.
  std::unique_ptr<SharedFlows> flows;
  std::unordered_map<std::uint64_t, double> bytes_between;  // by from * ranks + to
  double bytes = 0;                                         // sent by all ranks over the network

  void for_each_pair(const std::function<void(int from, int to, double bytes)>& sent) const;
  bool joins(int from, int to) const;  // false: both ranks are on one host
  // Counts a transfer and returns the bytes that it puts on the network: none on one host.
  std::uint64_t count(int from, int to, std::uint64_t bytes);
  // Time from the end of a message's flow to its arrival, for a message that sets out now.
  double latency_after_flow_s(int from, int to);
  // Makes a transfer between these ranks without starting it. TCP windows limit its rate, if there
  // are any.
  sg::CommPtr flow(sg::Mailbox& box, void* message, std::uint64_t bytes, int from, int to);

  // Sends a message and returns. `arrived` runs when the message, or the last of its parts, has
  // arrived; `injected`, if not empty, when all of it has left the sender. Neither may wait.
  SentMessage deliver(const Parcel& parcel, std::function<void(const SentMessage&)> arrived,
                      std::function<void()> injected = {});
  // Delivers a message and adds a row of this verb at each end.
  void send(const Parcel& parcel, Verb verb, std::function<void()> arrived);
  // Adds a row of a message's sender, or of its receiver, from the time of sending until now.
  void add_sender_row(const SentMessage& message, Row row);
  void add_receiver_row(const SentMessage& message, Row row);
  void wait_until_delivered(int rank);  // until everything that this rank has sent has arrived

  // Records a message that sets out now and returns its number. Where the trace keeps no messages,
  // the number means nothing, and the functions below do nothing.
  std::int64_t message_sent(int from, int to, std::uint64_t bytes);
  void message_arrived(std::int64_t message, double at_s);
  // Notes that the last row of the trace sends, or receives, these messages.
  void sends(std::span<const std::int64_t> messages);
  void receives(std::span<const std::int64_t> messages);

 private:
  // The parcels into which a message is split: one, unless nodes share a shard.
  std::vector<Parcel> parts_of(const Parcel& parcel) const;
  void carry(const Parcel& parcel, std::function<void()> arrived, std::function<void()> injected);
  void note_row(std::span<const std::int64_t> messages, std::int64_t TracedMessage::*row);
  Porter& porter(int rank);

  std::map<std::uint64_t, double> windows_Bps_;   // by from * ranks + to
  std::vector<std::unique_ptr<Porter>> porters_;  // by rank; null until it sends or receives
};

}  // namespace syncline
