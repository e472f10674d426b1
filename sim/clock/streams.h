// The streams that run beside a worker's computation, and their common clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace syncline {

// A part of a stream's job: bytes move, the first core works, or the second core works.
struct Leg {
  enum class Kind { moves, works, second_core } kind = Kind::moves;
  double seconds = 0;  // if nothing else runs
};

// A job of a stream.
struct StreamJob {
  enum class Then {
    average,   // its message is ready to be exchanged
    read,      // the average has arrived and is decompressed if necessary
    averaged,  // also in groups
    gathered,
    scattered,       // in the group; averaging across groups follows
    shards_averaged  // across groups
  };
  Then then = Then::averaged;
  int bucket = 0;
  bool over_all = true;
  double not_before_s = 0;
  std::vector<Leg> legs = {};
  double tail_s = 0;  // from the time at which the next job may begin to this job's end
  std::size_t leg = 0;
  double left_s = 0;        // of the current leg
  std::int64_t number = 0;  // of the job, counted from the first
};

// The first takes averages over all workers and of shards; the second averages in groups and of
// shards across groups; the third compression, if the host has a second core.
enum JobStream { of_all, of_groups, on_second_core, job_streams };

class Streams {
 public:
  // While bytes move, cores take `slow` times as long. Work inside an exchange shares the only core
  // with computation. Where the first two streams both move bytes, each does so at its rate of
  // `together`. Calls `ended` for each job at the time of its end.
  Streams(double slow, bool second_core, std::pair<double, double> together,
          std::function<void(const StreamJob&)> ended)
      : slow_(slow),
        has_second_core_(second_core),
        together_{together.first, together.second, 1},
        ended_(std::move(ended)) {}

  double now_s() const { return now_s_; }
  bool is_idle() const;
  void add(JobStream stream, StreamJob job);
  void compute(double seconds) { pass({}, seconds); }
  // Throws std::runtime_error if nothing is under way that could make `ready` true.
  void wait_until(const std::function<bool()>& ready) { pass(ready, 0); }

  // The work under way between two iterations.
  struct State {
    double now_s = 0;
    bool has_tails = false;
    std::array<std::size_t, job_streams> jobs = {};
    std::array<std::int64_t, job_streams> first = {};  // number of the first job
    std::array<std::size_t, job_streams> leg = {};
    std::array<double, job_streams> left_s = {};
  };
  State state() const;
  // One iteration has passed since `before`. Passes over up to `most` more iterations like it, as
  // long as none of the current legs ends, and returns their number.
  int pass_over(const State& before, int most);

 private:
  void pass(const std::function<bool()>& ready, double computing_s);
  using Rates = std::array<double, job_streams>;
  double next_s(double computing_s, double rate, const Rates& rates) const;
  Rates rates_of_jobs(double rate, double beside) const;
  static Leg::Kind kind_of(const std::deque<StreamJob>& jobs) {
    return jobs.front().legs[jobs.front().leg].kind;
  }
  bool has_come(double moment_s) const;
  bool begun(const std::deque<StreamJob>& jobs) const {
    return !jobs.empty() && has_come(jobs.front().not_before_s);
  }
  bool any(Leg::Kind kind) const;
  void settle();

  double slow_;
  bool has_second_core_;
  std::array<double, job_streams> together_;
  std::function<void(const StreamJob&)> ended_;
  double now_s_ = 0;
  std::array<std::deque<StreamJob>, job_streams> jobs_;
  std::vector<std::pair<double, StreamJob>> tails_;  // each with its end
  std::int64_t jobs_made_ = 0;
};

}  // namespace syncline
