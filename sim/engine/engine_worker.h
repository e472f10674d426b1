// The verbs of a worker, carried out by SimGrid's actors.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/engine/worker_state.h"
#include "sim/worker.h"

namespace syncline {

class EngineWorker final : public Worker {
 public:
  // `answers`: for the actor that runs Schedule::answer.
  explicit EngineWorker(WorkerState& state, bool answers = false)
      : state_(state), answers_(answers) {}

  const Settings& settings() const override;
  int workers() const override;
  std::span<const Bucket> buckets() const override;
  bool next_iteration() override;
  int micro_steps() const override;
  void forward() override;
  void forward(const Bucket& bucket) override;
  void backward(const Bucket& bucket) override;
  void step() override;
  void step_alone() override;
  void step_together(double rate, double momentum, std::optional<double> own) override;
  void start_average(const Bucket& bucket, Among group) override;
  void finish_averages(Among group) override;
  void start_gather(const Bucket& unit) override;
  void finish_gather(const Bucket& unit) override;
  void start_reduce_scatter(const Bucket& unit) override;
  void push(const Bucket& bucket) override;
  void pull() override;
  void ask(const Bucket& bucket) override;
  void push_difference(const Bucket& bucket, double rate) override;
  void refresh_cache(double staleness) override;
  void hand_over() override;
  void wait_until_applied(double newest) override;
  void take_parameters() override;
  int rank() const override;
  int drawn(int below) const override;
  void send_parameters(int to) override;
  void receive_parameters(int from) override;
  std::optional<int> receive_from_any() override;
  void mix(double each) override;

 private:
  WorkerState& state_;
  bool answers_;
  std::vector<CopyOfParameters> received_ = {};  // since the last mix
};

}  // namespace syncline
