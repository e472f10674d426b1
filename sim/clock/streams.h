// The streams beside a worker's computation, and the moment at which both are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace syncline {

// A part of what a stream does: bytes move, the first core works, or the second one does.
struct Leg {
  enum class Kind { moves, works, second_core } kind = Kind::moves;
  double seconds = 0;  // alone
};

// What a stream takes in its turn.
struct StreamJob {
  enum class Then {
    average,   // its message is made: it can be exchanged
    read,      // the average has arrived: it is decompressed, if it has to be
    averaged,  // in groups, too
    gathered,
    scattered,       // in the group, and then between groups
    shards_averaged  // between groups
  };
  Then then = Then::averaged;
  int bucket = 0;
  bool over_all = true;
  double not_before_s = 0;
  std::vector<Leg> legs = {};
  double tail_s = 0;  // it ends so much later than the next one may begin
  std::size_t leg = 0;
  double left_s = 0;        // of that leg
  std::int64_t number = 0;  // of jobs
};

// By their parts: those over all and of shards; those in groups and of shards between groups; and
// compression, where the host has a second core.
enum JobStream { of_all, of_groups, on_second_core, job_streams };

class Streams {
 public:
  // While bytes move, cores take `slow` times as long. Work inside an exchange shares the only core
  // with computation. Tells of each job that has ended, at that moment.
  Streams(double slow, bool second_core, std::function<void(const StreamJob&)> ended)
      : slow_(slow), has_second_core_(second_core), ended_(std::move(ended)) {}

  double now_s() const { return now_s_; }
  bool is_idle() const;
  void add(JobStream stream, StreamJob job);
  void compute(double seconds) { pass({}, seconds); }
  // Throws std::runtime_error if nothing is under way that could make it ready.
  void wait_until(const std::function<bool()>& ready) { pass(ready, 0); }

  // What is under way between two iterations.
  struct State {
    double now_s = 0;
    bool has_tails = false;
    std::array<std::size_t, job_streams> jobs = {};
    std::array<std::int64_t, job_streams> first = {};  // its number
    std::array<std::size_t, job_streams> leg = {};
    std::array<double, job_streams> left_s = {};
  };
  State state() const;
  // Since `before` an iteration has passed. Others would be the same, but for what is left of the
  // same legs: passes over as many of them, up to `most`, as end none of these, and says how many.
  int pass_over(const State& before, int most);

 private:
  void pass(const std::function<bool()>& ready, double computing_s);
  double next_s(double computing_s, double rate, double beside) const;
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
  std::function<void(const StreamJob&)> ended_;
  double now_s_ = 0;
  std::array<std::deque<StreamJob>, job_streams> jobs_;
  std::vector<std::pair<double, StreamJob>> tails_;  // and when they end
  std::int64_t jobs_made_ = 0;
};

}  // namespace syncline
