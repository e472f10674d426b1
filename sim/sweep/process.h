// Jobs in child processes: SimGrid allows one engine per process, and aborts on bad platforms,
// which must not end the program.
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
  // It ended without a message of this program: `error` is SimGrid's, or names the signal.
  bool aborted = false;
};

class Interrupted {};  // SIGINT (Ctrl-C) or SIGTERM came, and every child has been ended
constexpr int interrupted_exit_code = 130;

using Job = std::function<std::string()>;
struct NumberedJob {
  std::size_t number = 0;
  Job job;
};

// Runs each job in a child of its own, `at_once` at a time, and calls `ended` in this process for
// each job that ends. A job that throws, aborts or crashes is an Outcome with an error. Nothing
// that a job prints reaches the terminal. `every_half_second` is called at least that often.
// Returns early, with the children ended, when `ended` returns false. Throws Interrupted.
void run_children(
    const std::vector<Job>& jobs, int at_once,
    const std::function<bool(std::size_t job, Outcome outcome)>& ended,
    const std::function<void()>& every_half_second = [] {});

// As above, with the jobs that `next` gives. It is asked whenever there is room, and again when a
// job has ended. Returns when it gives none and all jobs have ended.
void run_children(
    const std::function<std::optional<NumberedJob>()>& next, int at_once,
    const std::function<bool(std::size_t job, Outcome outcome)>& ended,
    const std::function<void()>& every_half_second = [] {});

// Runs one job; throws std::runtime_error if it fails.
std::string run_child(const std::function<std::string()>& job);

// The first line with a message in what SimGrid printed before it aborted, without decorations.
std::string first_message_in(const std::string& printed);

}  // namespace syncline
