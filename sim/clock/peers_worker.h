// A worker without an engine, for schedules whose workers average with each other. Refuses verbs
// that such a schedule may not call.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "sim/schedule.h"
#include "sim/setup/setup.h"
#include "sim/worker.h"

namespace syncline {

// What a schedule's workers call depends on time, so it cannot be recorded.
class CallsDependOnTime : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PeersWorker : public Worker {
 public:
  const Settings& settings() const override { return setup_.scenario.schedule_settings; }
  int workers() const override { return setup_.traffic.cluster.topology.workers(); }
  std::span<const Bucket> buckets() const override { return setup_.buckets; }
  int micro_steps() const override { return setup_.compute.micro_steps; }

  void push(const Bucket&) override { refuse_servers(); }
  void pull() override { refuse_servers(); }
  void ask(const Bucket&) override { refuse_servers(); }
  void push_difference(const Bucket&, double) override { refuse_servers(); }
  void refresh_cache(double) override { refuse_servers(); }
  void hand_over() override { refuse_servers(); }
  void wait_until_applied(double) override { refuse_servers(); }
  void take_parameters() override { refuse_servers(); }
  int rank() const override { refuse_copies(); }
  int drawn(int) const override { refuse_copies(); }
  void send_parameters(int) override { refuse_copies(); }
  void receive_parameters(int) override { refuse_copies(); }
  std::optional<int> receive_from_any() override {
    throw CallsDependOnTime("workers of schedule " + setup_.scenario.schedule->name +
                            " receive whichever copy comes first, which depends on time");
  }
  void mix(double) override { refuse_copies(); }

 protected:
  explicit PeersWorker(const Setup& setup) : setup_(setup) {}

  // These throw std::logic_error if the schedule's code contradicts its description.
  void require_whole_gradients() const {
    if (setup_.shards)
      refuse("averages whole gradients, but declares shards");
  }
  void require_group(Among group) const {
    if (group != Among::all && (!setup_.within || setup_.within->over != group))
      refuse("averages in groups that it does not declare as its replicas");
  }
  void require_shards() const {
    if (!setup_.shards)
      refuse("moves shards that it does not declare");
  }
  void require_averages() const {
    if (setup_.traffic.partners == Schedule::Partners::neighbours)
      refuse("averages with all, but declares neighbours");
  }

  const Setup& setup_;

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw std::logic_error("schedule " + setup_.scenario.schedule->name + " " + what);
  }
  [[noreturn]] void refuse_copies() const {
    refuse("exchanges parameters with neighbours in a way that it does not declare");
  }
  [[noreturn]] void refuse_servers() const { refuse("has servers, which decide what it does"); }
};

}  // namespace syncline
