#include "sim/clock/streams.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace syncline {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double rounding = 4e-16;  // of a point in time
constexpr double nothing_s = 1e-15;

}  // namespace

bool Streams::is_idle() const {
  return tails_.empty() && std::ranges::all_of(jobs_, &std::deque<StreamJob>::empty);
}

void Streams::add(JobStream stream, StreamJob job) {
  job.left_s = job.legs.front().seconds;
  job.number = ++jobs_made_;
  jobs_[stream].push_back(std::move(job));
}

Streams::State Streams::state() const {
  State now{.now_s = now_s_, .has_tails = !tails_.empty()};
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    now.jobs[i] = jobs_[i].size();
    if (jobs_[i].empty())
      continue;
    now.first[i] = jobs_[i].front().number;
    now.leg[i] = jobs_[i].front().leg;
    now.left_s[i] = jobs_[i].front().left_s;
  }
  return now;
}

int Streams::pass_over(const State& before, int most) {
  const State after = state();
  if (before.has_tails || after.has_tails || before.jobs != after.jobs ||
      before.first != after.first || before.leg != after.leg)
    return 0;
  double passed = most;
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (const double each_s = before.left_s[i] - after.left_s[i]; each_s > 0)
      passed = std::min(passed, std::floor(after.left_s[i] / each_s) - 1);
  if (passed < 1)
    return 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (!jobs_[i].empty())
      jobs_[i].front().left_s -= passed * (before.left_s[i] - after.left_s[i]);
  now_s_ += passed * (after.now_s - before.now_s);
  return static_cast<int>(passed);
}

// Lets time pass until the first core has computed for `computing_s` or, if `ready` is given, until
// `ready()` is true.
void Streams::pass(const std::function<bool()>& ready, double computing_s) {
  const bool computes = !ready;
  while (settle(), computes ? computing_s > nothing_s : !ready()) {
    const double beside = any(Leg::Kind::moves) ? 1 / slow_ : 1;
    const bool shares = !has_second_core_ && computes && any(Leg::Kind::works);
    const double rate = shares ? 0.5 * beside : beside;
    const Rates rates = rates_of_jobs(rate, beside);
    const double step_s = next_s(computes ? computing_s : never, rate, rates);
    if (step_s == never)
      throw std::runtime_error("its workers wait for something that they have not started");
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (begun(jobs_[i]))
        jobs_[i].front().left_s = std::max(0.0, jobs_[i].front().left_s - step_s * rates[i]);
    computing_s = std::max(0.0, computing_s - step_s * rate);
    now_s_ += step_s;
  }
}

// Rates at which the legs progress: moves by themselves are not slowed; work shares a core; the
// second core is slowed while bytes move.
Streams::Rates Streams::rates_of_jobs(double rate, double beside) const {
  const auto moves = [&](JobStream stream) {
    return begun(jobs_[stream]) && kind_of(jobs_[stream]) == Leg::Kind::moves;
  };
  Rates rates;
  rates.fill(1);
  if (moves(of_all) && moves(of_groups))
    rates = together_;
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (begun(jobs_[i]) && kind_of(jobs_[i]) != Leg::Kind::moves)
      rates[i] = kind_of(jobs_[i]) == Leg::Kind::works ? rate : beside;
  return rates;
}

// Seconds until the next event.
double Streams::next_s(double computing_s, double rate, const Rates& rates) const {
  double first_s = computing_s / rate;
  for (std::size_t i = 0; i < jobs_.size(); ++i)
    if (const std::deque<StreamJob>& jobs = jobs_[i]; !jobs.empty())
      first_s = std::min(first_s, begun(jobs) ? jobs.front().left_s / rates[i]
                                              : jobs.front().not_before_s - now_s_);
  for (const auto& [end_s, job] : tails_)
    first_s = std::min(first_s, end_s - now_s_);
  return first_s;
}

bool Streams::has_come(double moment_s) const {
  return moment_s <= now_s_ * (1 + rounding);
}

bool Streams::any(Leg::Kind kind) const {
  return std::ranges::any_of(jobs_, [&](const std::deque<StreamJob>& jobs) {
    return begun(jobs) && kind_of(jobs) == kind;
  });
}

// Ends all jobs that have ended by now, and all that end as a consequence.
void Streams::settle() {
  for (bool again = true; std::exchange(again, false);) {
    for (std::deque<StreamJob>& jobs : jobs_)
      while (begun(jobs) && jobs.front().left_s <= nothing_s) {
        StreamJob& job = jobs.front();
        if (++job.leg < job.legs.size()) {
          job.left_s = job.legs[job.leg].seconds;
          continue;
        }
        tails_.emplace_back(now_s_ + job.tail_s, std::move(job));
        jobs.pop_front();
        again = true;
      }
    for (std::size_t i = 0; i < tails_.size();)
      if (has_come(tails_[i].first)) {
        const StreamJob job = std::move(tails_[i].second);
        tails_.erase(tails_.begin() + static_cast<std::ptrdiff_t>(i));
        ended_(job);
        again = true;
      } else {
        ++i;
      }
  }
}

}  // namespace syncline
