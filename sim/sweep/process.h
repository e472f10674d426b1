// Jobs in child processes: SimGrid allows one engine per process, and answers bad platforms with an
// abort, which must not end the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

struct Outcome {
  bool ok = false;
  std::string output = {};  // what the job returned
  std::string error = {};   // one line, when not ok
  bool aborted = false;  // it did not throw: the error is its output, or the signal that ended it
};

class Interrupted {};  // Ctrl-C; every child has been ended
constexpr int interrupted_exit_code = 130;

using Job = std::function<std::string()>;
struct NumberedJob {
  std::size_t number = 0;
  Job job;
};

// Runs each job in a child of its own, `at_once` at a time, and calls `ended` in this process as
// they end. A job that throws, aborts or crashes is an Outcome with an error. Nothing that a job
// prints reaches the terminal. `every_half_second` is called at least that often. Returns early,
// with the children ended, when `ended` returns false. Throws Interrupted.
void run_children(
    const std::vector<Job>& jobs, int at_once,
    const std::function<bool(std::size_t job, Outcome outcome)>& ended,
    const std::function<void()>& every_half_second = [] {});

// These jobs are those that `next` gives: it is asked wherever there is room, and again when a
// job has ended. All have ended when it gives none then.
void run_children(
    const std::function<std::optional<NumberedJob>()>& next, int at_once,
    const std::function<bool(std::size_t job, Outcome outcome)>& ended,
    const std::function<void()>& every_half_second = [] {});

// One job, or std::runtime_error.
std::string run_child(const std::function<std::string()>& job);

// The first line with a message in what SimGrid printed before it aborted, without its decorations.
std::string first_message_in(const std::string& printed);

}  // namespace syncline
