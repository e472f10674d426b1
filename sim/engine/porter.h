// Carries messages outside collectives (pushes, answers, iteration numbers).
//
// All messages that have set out share the network at once, however many there are. SharedFlows
// move them where they can; where SimGrid does, each rank that sends or receives has an actor for
// it. The callback of an arrival runs in no actor: it adds to an inbox and wakes the actor that
// waits for it. (SimGrid's Comm::sendto would need no receiver, but its time is quadratic in the
// messages in flight; an actor per message needs a stack per message.)
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
  // Waits until everything that this rank has sent has arrived.
  void wait_until_delivered();

 private:
  struct Message;
  // A message that is coming in, or has come in.
  struct Reception {
    sg::CommPtr transfer;
    void* unused = nullptr;  // destination that SimGrid requires
  };

  sg::Mailbox& mailbox();
  void put(std::shared_ptr<Message>* message, std::uint64_t bytes);
  void take_next();
  // In no actor.
  static void flow_ended(const std::shared_ptr<Message>& message);
  static void arrive(const Message& message);
  void add_job(std::function<void()> job);

  Run& run_;
  int rank_;
  sg::Mailbox* mailbox_ = nullptr;
  JobQueue jobs_;  // jobs of this rank's porter actor
  bool has_actor_ = false;
  std::list<Reception> coming_;
  std::list<Reception> ended_;  // SimGrid still counts these transfers as the actor's
  std::size_t in_flight_ = 0;   // messages sent that have not arrived
  Wakeup delivered_;            // no message is in flight any more
};

}  // namespace syncline
