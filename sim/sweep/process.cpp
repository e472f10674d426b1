#include "sim/sweep/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace syncline {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) {
  interrupted = 1;
}

// While it exists, SIGINT and SIGTERM only set a flag, so that the children can be ended first.
class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action = {};
    action.sa_handler = note_interrupt;
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

struct Child {
  std::size_t job = 0;
  pid_t pid = -1;
  std::array<int, 2> pipes{-1, -1};  // for the returned text, and for the printed text
  std::array<std::string, 2> texts;
};

const std::string less_memory =
    "what needs less: fewer workers, a platform of fewer hosts, fidelity = flow, fewer iterations, "
    "or fewer cells at a time (--jobs)";

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR)
      return;
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& job, int result, int printed,
                           pid_t parent) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child ends, too, when the parent is killed
  if (getppid() != parent)           // the parent was killed before
    _exit(1);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  std::string answer;
  try {
    answer = "+" + job();
  } catch (const std::bad_alloc&) {
    answer = "-the process got no more memory: " + less_memory;
  } catch (const std::exception& error) {
    answer = "-" + std::string(error.what());
  } catch (...) {  // otherwise the child would continue as a second parent
    answer = "-something that is no std::exception was thrown";
  }
  write_all(result, answer);
  _exit(0);  // no destructors: the engine's takes long, and the process ends anyway
}

Child start(const std::function<std::string()>& job, std::size_t number) {
  std::array<int, 2> result{};
  std::array<int, 2> printed{};
  if (pipe(result.data()) != 0 || pipe(printed.data()) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid == 0) {
    close(result[0]);
    close(printed[0]);
    be_child(job, result[1], printed[1], parent);
  }
  close(result[1]);
  close(printed[1]);
  return {.job = number, .pid = pid, .pipes = {result[0], printed[0]}, .texts = {}};
}

constexpr std::size_t most_bytes_of_message = 1000;  // it may contain names of any length
constexpr std::string_view blanks = " \t\n\v\f\r";

// Makes each run of blanks and line ends one blank, and removes SimGrid's frames of asterisks.
std::string joined_lines(const std::string& text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t same = std::min(text.find_first_not_of(text[i], i), text.size()) - i;
    const bool is_frame = text[i] == '*' && same >= 3;
    if (blanks.find(text[i]) == blanks.npos)
      line.append(is_frame ? 0 : same, text[i]);
    else if (!line.ends_with(' '))
      line += ' ';
    i += same;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

// Removes "[...]" at the beginning, and the blanks behind it, if it ends with `ending`. Returns
// whether it did.
bool take_brackets(std::string_view& text, std::string_view ending) {
  const std::size_t end = text.starts_with('[') ? text.find(']') : text.npos;
  if (end == text.npos || !text.substr(0, end + 1).ends_with(ending))
    return false;
  text.remove_prefix(std::min(text.find_first_not_of(blanks, end + 1), text.size()));
  return true;
}

// Removes "./src/x.cpp:123:" at the beginning, and the blanks behind it.
void take_source_line(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const std::string_view word = text.substr(0, end);
  const std::size_t colon = word.empty() ? word.npos : word.rfind(':', word.size() - 2);
  if (word.ends_with(':') && word.find("/src/") != word.npos && colon != word.npos &&
      colon + 2 < word.size() && word.find_first_not_of("0123456789", colon + 1) == word.size() - 1)
    text.remove_prefix(std::min(text.find_first_not_of(blanks, end), text.size()));
}

bool is_noise(std::string_view line) {
  for (const char* begin : {"Backtrace", "  ->", "Aborted", "terminate called", "See https"})
    if (line.starts_with(begin))
      return true;
  return line.find_first_not_of(blanks) == line.npos ||
         line.find("Display all variables") != line.npos;
}

Outcome outcome_of(const Child& child, int status) {
  const std::string& answer = child.texts[0];
  const bool exited_normally = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (exited_normally && answer.starts_with('+'))
    return {.ok = true, .output = answer.substr(1)};
  if (exited_normally && !answer.empty())
    return {.error = joined_lines(answer.substr(1))};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)  // the kernel does this to free memory
    return {.error =
                "the system killed the process that simulated, probably because memory ran "
                "out: " +
                less_memory};
  // Such an error cannot be thrown, because it happens inside SimGrid: it is printed.
  if (const auto message = child.texts[1].rfind("\nsyncline: "); message != std::string::npos)
    return {.error = joined_lines(child.texts[1].substr(message + std::strlen("\nsyncline: ")))};
  std::string why = first_message_in(child.texts[1]);
  if (why.empty())
    why = WIFSIGNALED(status) ? std::string("stopped by signal: ") + strsignal(WTERMSIG(status))
                              : "stopped without a word";
  return {.error = why, .aborted = true};
}

// Children that are killed with this object, also when an exception passes: they could still write
// files.
struct Children {
  std::vector<Child> all;

  Children() = default;
  ~Children() {
    for (const Child& child : all)
      kill(child.pid, SIGKILL);
    for (const Child& child : all) {
      waitpid(child.pid, nullptr, 0);
      for (const int file : child.pipes)
        if (file >= 0)
          close(file);
    }
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
};

// Reads what is available; returns true when both pipes are closed.
bool read_from(Child& child, const std::vector<pollfd>& polled) {
  for (std::size_t i = 0; i < child.pipes.size(); ++i) {
    const auto ready = std::ranges::find_if(
        polled, [&](const pollfd& file) { return file.fd == child.pipes[i] && file.revents != 0; });
    if (child.pipes[i] < 0 || ready == polled.end())
      continue;
    std::array<char, 65536> buffer{};
    const ssize_t count = read(child.pipes[i], buffer.data(), buffer.size());
    if (count > 0) {
      child.texts[i].append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close(child.pipes[i]);
      child.pipes[i] = -1;
    }
  }
  return child.pipes[0] < 0 && child.pipes[1] < 0;
}

}  // namespace

void run_children(const std::vector<Job>& jobs, int at_once,
                  const std::function<bool(std::size_t, Outcome)>& ended,
                  const std::function<void()>& every_half_second) {
  std::size_t begun = 0;
  const auto next = [&]() -> std::optional<NumberedJob> {
    if (begun == jobs.size())
      return {};
    ++begun;
    return NumberedJob{.number = begun - 1, .job = jobs[begun - 1]};
  };
  run_children(next, at_once, ended, every_half_second);
}

void run_children(const std::function<std::optional<NumberedJob>()>& next, int at_once,
                  const std::function<bool(std::size_t, Outcome)>& ended,
                  const std::function<void()>& every_half_second) {
  const InterruptGuard guard;
  Children running;
  std::vector<Child>& children = running.all;
  const auto fill = [&] {
    while (children.size() < static_cast<std::size_t>(at_once)) {
      const std::optional<NumberedJob> job = next();
      if (!job)
        return;
      children.push_back(start(job->job, job->number));
    }
  };
  std::vector<std::pair<std::size_t, Outcome>> finished;
  for (;;) {
    fill();  // first, so that new children run while finished ones are processed
    for (auto& [job, outcome] : std::exchange(finished, {}))
      if (!ended(job, std::move(outcome)))
        return;
    fill();
    if (children.empty())
      return;
    std::vector<pollfd> polled;
    for (const Child& child : children)
      for (const int file : child.pipes)
        if (file >= 0)
          polled.push_back({.fd = file, .events = POLLIN, .revents = 0});
    poll(polled.data(), polled.size(), 500);
    if (interrupted != 0) {
      interrupted = 0;
      throw Interrupted();
    }
    for (std::size_t i = 0; i < children.size();) {
      if (!read_from(children[i], polled)) {
        ++i;
        continue;
      }
      const Child child = children[i];
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      int status = 0;
      waitpid(child.pid, &status, 0);
      finished.emplace_back(child.job, outcome_of(child, status));
    }
    every_half_second();
  }
}

std::string run_child(const std::function<std::string()>& job) {
  std::string output;
  run_children({job}, 1, [&](std::size_t, const Outcome& outcome) {
    if (!outcome.ok)
      throw std::runtime_error(outcome.aborted ? "SimGrid refuses it: " +
                                                     outcome.error.substr(0, most_bytes_of_message)
                                               : outcome.error);
    output = outcome.output;
    return true;
  });
  return output;
}

std::string first_message_in(const std::string& printed) {
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    // "[0.000000] ./src/x.cpp:123: [topic/CRITICAL] What happened"
    std::string_view message = line;
    while (take_brackets(message, "]")) {
    }
    take_source_line(message);
    if (!take_brackets(message, "/CRITICAL]"))
      take_brackets(message, "/ERROR]");
    if (!is_noise(message))
      return std::string(message);
  }
  return "";
}

}  // namespace syncline
