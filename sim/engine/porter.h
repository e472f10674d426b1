// Messages outside collectives (pushes, answers, iteration numbers) on their way.
//
// All that have set out share the network at once, however many they are, and only those ranks that
// send or receive have an actor for it. What a message's arrival does runs in no actor: it adds to
// an inbox, and wakes who waits for that. (SimGrid's Comm::sendto would need no receiver, but its
// time is quadratic in the messages in flight; an actor per message needs a stack per message.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <simgrid/s4u.hpp>

#include "sim/engine/actors.h"

namespace syncline {

// One rank's side of its messages.
class Porter {
 public:
  Porter(Run& run, int rank);
  Porter(const Porter&) = delete;
  Porter& operator=(const Porter&) = delete;

  // Sends a message and returns; call it from an actor. `arrived` and `injected` must not wait.
  void send(Porter& to, std::uint64_t bytes, std::function<void()> arrived,
            std::function<void()> injected);
  // Everything that this rank has sent.
  void wait_until_delivered();

 private:
  struct Message;
  // A message that comes in, or has come in.
  struct Reception {
    sg::CommPtr transfer;
    void* unused = nullptr;  // where SimGrid would put the message
  };

  sg::Mailbox& mailbox();
  void put(Message* message, std::uint64_t bytes);
  void take_next();
  // In no actor.
  static void flow_ended(std::unique_ptr<Message> message);
  static void arrive(const Message& message);
  void add_job(std::function<void()> job);

  Run& run_;
  int rank_;
  sg::Mailbox* mailbox_ = nullptr;
  JobQueue jobs_;  // of this rank's porter actor
  bool has_actor_ = false;
  std::list<Reception> coming_;
  std::list<Reception> ended_;  // SimGrid still lists these as the actor's
  std::size_t in_flight_ = 0;   // sent, and not arrived
  Wakeup delivered_;            // none is in flight any more
};

}  // namespace syncline
