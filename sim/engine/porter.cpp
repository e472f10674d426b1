#include "sim/engine/porter.h"

#include <memory>
#include <simgrid/kernel/Timer.hpp>
#include <string>
#include <utility>

#include "sim/engine/run.h"

namespace syncline {

struct Porter::Message {
  Porter& from;
  Porter& to;
  double more_s;  // from the end of its flow to its arrival
  std::function<void()> arrived;
  std::function<void()> injected;
};

Porter::Porter(Run& run, int rank) : run_(run), rank_(rank), jobs_{run} {}

void Porter::send(Porter& to, std::uint64_t bytes, std::function<void()> arrived,
                  std::function<void()> injected) {
  ++in_flight_;
  auto sent =
      std::make_shared<Message>(Message{.from = *this,
                                        .to = to,
                                        .more_s = run_.wire.latency_after_flow_s(rank_, to.rank_) +
                                                  run_.setup.scenario.step_overhead_s,
                                        .arrived = std::move(arrived),
                                        .injected = std::move(injected)});
  if (run_.wire.flows != nullptr) {
    run_.wire.flows->begin(rank_, to.rank_, static_cast<double>(bytes),
                           [sent] { flow_ended(sent); });
    return;
  }
  auto* message = new std::shared_ptr<Message>(std::move(sent));  // the mailbox carries it
  // SimGrid sends from the host of the calling actor.
  if (sg::this_actor::get_host() == run_.hosts[index(rank_)])
    put(message, bytes);
  else
    add_job([this, message, bytes] { put(message, bytes); });
}

// Not in the constructor: SimGrid lets other actors run meanwhile, and they may look for this
// porter.
sg::Mailbox& Porter::mailbox() {
  if (mailbox_ == nullptr)
    mailbox_ = sg::Mailbox::by_name("to " + std::to_string(rank_));
  return *mailbox_;
}

void Porter::put(std::shared_ptr<Message>* message, std::uint64_t bytes) {
  Porter& to = (*message)->to;
  // The transfer goes on when the calling actor ends.
  run_.wire.flow(to.mailbox(), message, bytes, rank_, to.rank_)->detach();
  to.add_job([&to] { to.take_next(); });
}

void Porter::take_next() {
  for (; !ended_.empty(); ended_.pop_front())
    ended_.front().transfer->wait();  // returns at once, and makes SimGrid forget the transfer
  const auto coming = coming_.emplace(coming_.end());
  coming->transfer = mailbox().get_init()->set_dst_data(&coming->unused, sizeof coming->unused);
  // SimGrid calls this in no actor, when the transfer ends.
  coming->transfer->set_copy_data_callback([this, coming](auto*, void* sent, std::size_t) {
    ended_.splice(ended_.end(), coming_, coming);
    const std::unique_ptr<std::shared_ptr<Message>> message(
        static_cast<std::shared_ptr<Message>*>(sent));
    flow_ended(*message);
  });
  coming->transfer->start();
}

void Porter::flow_ended(const std::shared_ptr<Message>& message) {
  if (!message->from.run_.error.empty())
    return;  // the actors that wait for it are gone
  if (message->injected)
    message->injected();
  if (message->more_s == 0) {
    arrive(*message);
    return;
  }
  const double arrives_s = sg::Engine::get_clock() + message->more_s;
  simgrid::kernel::timer::Timer::set(arrives_s, [message] { arrive(*message); });
}

void Porter::arrive(const Message& message) {
  if (!message.from.run_.error.empty())
    return;
  message.arrived();
  if (--message.from.in_flight_ == 0)
    message.from.delivered_.wake();
}

void Porter::wait_until_delivered() {
  while (in_flight_ > 0)
    delivered_.wait();
}

void Porter::add_job(std::function<void()> job) {
  if (!std::exchange(has_actor_, true))
    run_.start("porter", rank_, [this] {
      sg::Actor::self()->daemonize();
      jobs_.run_until_over();
    });
  jobs_.add(std::move(job));
}

}  // namespace syncline
