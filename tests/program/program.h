// Runs the built program as a user does.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/program/program_path.h"
#include "tests/unit/folder.h"

namespace syncline {

struct Ended {
  int code = -1;   // -1 if a signal ended the program
  int signal = 0;  // the signal that did
  std::string out;
  std::string err;
};

// A run of the program in `folder`, in its own process group. Its output goes to files outside that
// folder. `before` is called in the new process just before it becomes the program.
class Program {
 public:
  Program(
      const std::vector<std::string>& arguments, const std::string& folder,
      const std::function<void()>& before = [] {}, const std::string& program = program_path()) {
    std::vector<std::string> all{program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = printed_.path("out");
    const std::string err = printed_.path("err");
    pid_ = fork();
    if (pid_ < 0)
      throw std::runtime_error("no process");
    if (pid_ > 0) {
      setpgid(pid_, pid_);  // in both processes, because either may be first
      return;
    }
    setpgid(0, 0);
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    const int nothing = open("/dev/null", O_RDONLY);
    if (chdir(folder.c_str()) != 0 || dup2(out_file, STDOUT_FILENO) < 0 ||
        dup2(err_file, STDERR_FILENO) < 0 || dup2(nothing, STDIN_FILENO) < 0)
      _exit(127);
    before();
    execv(program.c_str(), argv.data());
    _exit(127);
  }

  // Sends SIGINT to the program alone or, like a terminal, also to its children.
  void interrupt(bool children_too) const { kill(children_too ? -pid_ : pid_, SIGINT); }

  // Waits until it simulates in a child process: it then also handles signals.
  void wait_for_child() const {
    const std::string pid = std::to_string(pid_);
    for (int tries = 0; tries < 10000; ++tries) {
      if (!text_of("/proc/" + pid + "/task/" + pid + "/children").empty())
        return;
      usleep(1000);
    }
    ADD_FAILURE() << "no child of the program in 10 s";
  }

  // Waits until a simulating child process has computed for a second.
  void wait_for_busy_child() const {
    const std::string pid = std::to_string(pid_);
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    for (int tries = 0; tries < 60000; ++tries) {
      std::istringstream children(text_of("/proc/" + pid + "/task/" + pid + "/children"));
      for (std::string child; children >> child;) {
        std::string stat;  // stays empty if the child has ended meanwhile
        std::getline(std::ifstream("/proc/" + child + "/stat"), stat);
        std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
        std::string field;
        for (int number = 3; number <= 14; ++number)  // the 14th: ticks of the process itself
          fields >> field;
        if (std::strtod(field.c_str(), nullptr) >= ticks)
          return;
      }
      usleep(1000);
    }
    ADD_FAILURE() << "no child of the program computes for a second";
  }

  void kill_all() const { kill(-pid_, SIGKILL); }
  void kill_alone() const { kill(pid_, SIGKILL); }

  Ended wait() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            .out = text_of(printed_.path("out")),
            .err = text_of(printed_.path("err"))};
  }

  // After wait(): whether one of its children is still running.
  bool left_children() const { return kill(-pid_, 0) == 0; }

 private:
  TemporaryFolder printed_;
  pid_t pid_ = -1;
};

inline std::size_t lines_in(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text)
    lines += c == '\n' ? 1 : 0;
  return lines + (text.empty() || text.back() == '\n' ? 0 : 1);
}

inline Ended run_program(const std::vector<std::string>& arguments, const std::string& folder,
                         const std::function<void()>& before) {
  return Program(arguments, folder, before).wait();
}

// Files of a gate also contain its errors.
inline bool writes_errors(const std::vector<std::string>& arguments) {
  return (arguments.front() == "check" || arguments.front() == "validate") &&
         std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
           return argument == "--md" || argument == "--junit";
         });
}

// Runs in `folder`, or in an empty one. A refusal is one line and exit code 2, and must write and
// lose nothing: checked if the folder is the test's own. Leaving out cells or files is no refusal.
inline Ended run_program(const std::vector<std::string>& arguments,
                         const std::string& folder = "") {
  const TemporaryFolder empty;
  const std::string in = folder.empty() ? empty.path() : folder;
  const bool is_own =
      in.starts_with((std::filesystem::temp_directory_path() / "syncline-").string());
  const auto there = is_own ? listing_of(in) : std::map<std::string, std::string>();
  const Ended ended = Program(arguments, in).wait();
  if (is_own && ended.code == 2 && lines_in(ended.err) == 1 &&
      ended.err.find(" left out") == std::string::npos && !writes_errors(arguments)) {
    EXPECT_TRUE(listing_of(in) == there) << "files have changed, though: " << ended.err;
  }
  return ended;
}

}  // namespace syncline
