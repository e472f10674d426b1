// Workers that send each other their parameters.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/philox.h"
#include "sim/engine/engine_worker.h"
#include "sim/engine/run.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

void send_copy(WorkerState& state, int to, int iteration, SharedValues values) {
  Run& run = state.run;
  run.wire.deliver({state.rank, to, state.setup().model_bytes()},
                   [&run, from = state.rank, to, iteration,
                    values = std::move(values)](const SentMessage& message) {
                     Row row{.verb = Verb::parameters,
                             .stream = Stream::messages,
                             .rank = from,
                             .iteration = iteration,
                             .worker = to};
                     run.wire.add_sender_row(message, row);
                     std::swap(row.rank, row.worker);
                     run.wire.add_receiver_row(message, row);
                     WorkerState& receiver = *run.workers[index(to)];
                     receiver.copies.push_back({from, values});
                     receiver.wakeup.wake();
                     receiver.answering.wake();
                   });
}

}  // namespace

int EngineWorker::rank() const {
  return state_.rank;
}

int EngineWorker::drawn(int below) const {
  constexpr std::uint32_t purpose = 5;  // sim/README.md lists all purposes
  const std::uint64_t seed = state_.setup().scenario.seed;
  const std::uint64_t word =
      philox({static_cast<std::uint32_t>(state_.iteration), static_cast<std::uint32_t>(state_.rank),
              0, purpose},
             static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32))[0];
  return static_cast<int>(word * static_cast<std::uint64_t>(below) >> 32);
}

void EngineWorker::send_parameters(int to) {
  state_.setup().scenario.schedule->require_neighbours(rank(), to, workers());
  const Learner* learner = state_.run.learner.get();
  auto send = [&state = state_, to, iteration = state_.row(Verb::parameters).iteration,
               values = learner == nullptr ? nullptr : learner->copy_of(rank())] {
    send_copy(state, to, iteration, values);
  };
  if (answers_ || state_.setup().scenario.overlap)
    send();
  else
    state_.deferred.emplace_back(std::move(send));
}

void EngineWorker::receive_parameters(int from) {
  state_.setup().scenario.schedule->require_neighbours(rank(), from, workers());
  start_deferred(state_);
  std::deque<CopyOfParameters>& copies = state_.copies;
  const auto next = [&] { return std::ranges::find(copies, from, &CopyOfParameters::from); };
  state_.waits_for = from;
  state_.wait_until("receive_parameters()", [&] { return next() != copies.end(); });
  state_.waits_for = -1;
  received_.push_back(std::move(*next()));
  copies.erase(next());
}

std::optional<int> EngineWorker::receive_from_any() {
  if (!answers_) {
    start_deferred(state_);
    state_.wait_until("receive_from_any()", [this] { return !state_.copies.empty(); });
  }
  while (state_.copies.empty()) {
    if (state_.run.active_workers == 0)
      return std::nullopt;
    state_.answering.wait();
  }
  received_.push_back(std::move(state_.copies.front()));
  state_.copies.pop_front();
  return received_.back().from;
}

void EngineWorker::mix(double each) {
  if (!answers_)
    start_deferred(state_);
  if (received_.empty())
    return;
  std::vector<SharedValues> values;
  for (const CopyOfParameters& copy : std::exchange(received_, {})) {
    Row row = state_.row(Verb::mix);
    row.stream = Stream::messages;  // it takes no time, perhaps while the worker computes
    row.worker = copy.from;
    state_.run.add_row(sg::Engine::get_clock(), row);
    values.push_back(copy.values);
  }
  if (state_.run.learner != nullptr)
    state_.run.learner->mix(state_.rank, each, values);
}

}  // namespace syncline
