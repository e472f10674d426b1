// Primitives with which the engine's actors wait. SimGrid runs one actor at a time, so plain
// containers need no locks.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <simgrid/s4u.hpp>
#include <utility>

namespace syncline {

namespace sg = simgrid::s4u;

// Lets one actor sleep until another wakes it; the woken actor checks its condition again. Only one
// actor may wait on a Wakeup.
class Wakeup {
 public:
  void wait() {
    waiting_ = true;
    semaphore_->acquire();
    waiting_ = false;
  }
  bool waits() const { return waiting_; }
  void wake() {
    if (waiting_) {
      waiting_ = false;
      semaphore_->release();
    }
  }

 private:
  sg::SemaphorePtr semaphore_ = sg::Semaphore::create(0);
  bool waiting_ = false;
};

struct Run;

// Jobs of an actor, done first in, first out, until the run is over.
struct JobQueue {
  Run& run;
  std::deque<std::function<void()>> pending;
  Wakeup wakeup;  // a job was added, or the run is over

  void add(std::function<void()> job);
  void run_until_over();
};

// Messages that a server or an aggregator has not looked at yet.
template <class Message>
struct Inbox {
  std::deque<Message> messages;
  Wakeup wakeup;

  void add(Message message) {
    messages.push_back(std::move(message));
    wakeup.wake();
  }
};

// Returns the next message; none if there is no message and `over` is true.
template <class Message, class Over>
std::optional<Message> next_in(Inbox<Message>& inbox, Over over) {
  while (inbox.messages.empty()) {
    if (over())
      return std::nullopt;
    inbox.wakeup.wait();
  }
  Message message = std::move(inbox.messages.front());
  inbox.messages.pop_front();
  return message;
}

}  // namespace syncline
