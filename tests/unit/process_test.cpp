#include "sim/commands/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/words.h"

namespace syncline {
namespace {

// Bytes between a test and its processes. Reading gives up after a minute, so that a test whose
// processes hang fails by itself.
class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0)
      throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_writing();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void say(char byte) const {
    if (write(ends_[1], &byte, 1) != 1)
      throw std::runtime_error("nobody listens");
  }
  // The next byte; 0 when all who could write have ended.
  char hear() const {
    pollfd file{.fd = ends_[0], .events = POLLIN, .revents = 0};
    while (poll(&file, 1, 60000) < 0 && errno == EINTR) {
    }
    if (file.revents == 0)
      throw std::runtime_error("a minute without a word");
    char byte = 0;
    return read(ends_[0], &byte, 1) == 1 ? byte : '\0';
  }
  void close_writing() {
    if (ends_[1] >= 0)
      close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

using Jobs = std::vector<std::function<std::string()>>;

// All outcomes by job, with `at_once` children at a time.
std::vector<Outcome> outcomes(const Jobs& jobs, int at_once = 2) {
  std::vector<Outcome> all(jobs.size());
  std::set<std::size_t> ended;
  run_children(jobs, at_once, [&](std::size_t job, const Outcome& outcome) {
    EXPECT_TRUE(ended.insert(job).second) << "job " << job << " ended twice";
    all[job] = outcome;
    return true;
  });
  EXPECT_EQ(ended.size(), jobs.size());
  return all;
}

TEST(RunChildren, ReturnsWhatEachJobReturned) {
  Jobs jobs;
  for (int i = 0; i < 20; ++i)
    jobs.emplace_back([i] { return "answer " + std::to_string(i); });
  const std::vector<Outcome> all = outcomes(jobs, 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].ok);
    EXPECT_EQ(all[i].output, "answer " + std::to_string(i));
    EXPECT_EQ(all[i].error, "");
  }
}

TEST(RunChildren, ReturnsLongAndEmptyAnswersWhole) {
  std::string text(3'000'000, 'x');  // much more than a pipe holds
  text[1'234'567] = '\0';
  const std::vector<Outcome> all = outcomes({[&] { return text; }, [] { return std::string(); }});
  EXPECT_TRUE(all[0].ok);
  EXPECT_EQ(all[0].output, text);
  EXPECT_TRUE(all[1].ok);
  EXPECT_EQ(all[1].output, "");
}

TEST(RunChildren, TellsWhatAJobThrew) {
  const Outcome outcome =
      outcomes({[]() -> std::string { throw std::runtime_error("no such platform"); }})[0];
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.error, "no such platform");
}

TEST(RunChildren, TellsWhatAJobThrewInOneLine) {  // SimGrid throws messages of several
  const Outcome outcome =
      outcomes({[]() -> std::string { throw std::runtime_error("first\nsecond\n\nthird"); }})[0];
  EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << outcome.error;
  expect_mentions(outcome.error, {"first"});
}

TEST(RunChildren, SurvivesAbortsCrashesAndExits) {
  const std::vector<Outcome> all =
      outcomes({[]() -> std::string { std::abort(); },
                []() -> std::string {
                  std::raise(SIGSEGV);
                  return "";
                },
                []() -> std::string { _exit(3); }, [] { return std::string("well"); }});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(all[i].ok) << "job " << i;
    EXPECT_FALSE(all[i].error.empty()) << "job " << i;
    EXPECT_EQ(all[i].error.find('\n'), std::string::npos) << all[i].error;
  }
  EXPECT_TRUE(all[3].ok);
}

TEST(RunChildren, KeepsWhatAJobThrowsInItsOwnProcess) {
  // Else the child goes on as a second copy of whoever catches it.
  Pipe escaped;
  Outcome outcome;
  try {
    outcome = outcomes({[]() -> std::string { throw 7; }})[0];
  } catch (int) {
    escaped.say('!');
    _exit(1);
  }
  escaped.close_writing();
  EXPECT_EQ(escaped.hear(), '\0') << "the exception came out in the child";
  EXPECT_FALSE(outcome.ok);
  EXPECT_FALSE(outcome.error.empty());
}

TEST(RunChildren, TakesWhatAJobSaidBeforeItAborted) {
  const Outcome outcome = outcomes({[]() -> std::string {
    std::fputs("[0.000000] [xbt/CRITICAL] The platform is upside down\n", stderr);
    std::abort();
  }})[0];
  EXPECT_EQ(outcome.error, "The platform is upside down");
}

TEST(RunChildren, KeepsWhatJobsPrintFromTheTerminal) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Outcome outcome = outcomes({[] {
    std::puts("to stdout");
    std::fflush(stdout);
    std::fputs("to stderr", stderr);
    return std::string("fine");
  }})[0];
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.output, "fine");
}

TEST(RunChildren, RunsAsManyAtOnceAsAsked) {
  Pipe first;
  Pipe second;  // each says a word to the other and hears one before it ends
  const std::vector<Outcome> all = outcomes({[&] {
                                               first.say('a');
                                               return std::string(1, second.hear());
                                             },
                                             [&] {
                                               second.say('b');
                                               return std::string(1, first.hear());
                                             }},
                                            2);
  EXPECT_EQ(all[0].output, "b") << all[0].error;
  EXPECT_EQ(all[1].output, "a") << all[1].error;
}

TEST(RunChildren, RunsNoMoreAtOnceThanAsked) {
  for (const int at_once : {1, 3}) {
    Pipe words;
    Jobs jobs;
    for (int i = 0; i < 12; ++i)
      jobs.emplace_back([&] {
        words.say('+');
        words.say('-');
        return std::string();
      });
    outcomes(jobs, at_once);
    words.close_writing();
    int running = 0;
    int most = 0;
    for (char word = words.hear(); word != '\0'; word = words.hear())
      most = std::max(most, running += word == '+' ? 1 : -1);
    EXPECT_EQ(running, 0);
    EXPECT_LE(most, at_once);
  }
}

TEST(RunChildren, StartsJobsInOrder) {
  std::vector<std::size_t> order;
  run_children(Jobs(5, [] { return std::string(); }), 1, [&](std::size_t job, const Outcome&) {
    order.push_back(job);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// A job that lasts until it is ended from outside.
std::string last_for_ever(const Pipe& alive) {
  alive.say('!');
  for (;;)
    pause();
}

TEST(RunChildren, EndsTheOthersWhenToldToStop) {
  Pipe alive;
  Pipe unheard;
  run_children({[&] { return last_for_ever(alive); },
                [&] { return std::string(1, alive.hear()); },  // once the first is there
                [&] {
                  unheard.say('x');
                  return std::string();
                }},
               2, [&](std::size_t job, const Outcome&) {
                 EXPECT_EQ(job, 1U);
                 return false;
               });
  alive.close_writing();
  EXPECT_EQ(alive.hear(), '\0') << "the first still runs";
  unheard.close_writing();
  EXPECT_EQ(unheard.hear(), '\0') << "the third was started";
}

// Runs two endless jobs in a process of its own, sends that a signal once both are there, and
// returns how it ended. All who could write to `alive` have ended when it is closed.
int status_after(int signal_number, Pipe& alive) {
  const pid_t runner = fork();
  if (runner == 0) {
    int code = 1;
    try {
      outcomes({[&] { return last_for_ever(alive); }, [&] { return last_for_ever(alive); }});
    } catch (const Interrupted&) {
      code = 42;
    }
    _exit(code);
  }
  alive.hear();
  alive.hear();
  kill(runner, signal_number);
  alive.close_writing();
  EXPECT_EQ(alive.hear(), '\0') << "a child is still there";
  int status = 0;
  EXPECT_EQ(waitpid(runner, &status, 0), runner);
  return status;
}

TEST(RunChildren, EndAllAndThrowOnControlC) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    Pipe alive;
    const int status = status_after(signal_number, alive);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
  }
}

TEST(RunChildren, DoNotOutliveTheirParent) {
  Pipe alive;
  const int status = status_after(SIGKILL, alive);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(RunChild, ReturnsOrThrows) {
  EXPECT_EQ(run_child([] { return std::string("done"); }), "done");
  expect_mentions(
      error_of([] { run_child([]() -> std::string { throw std::invalid_argument("bad cell"); }); }),
      {"bad cell"});
}

}  // namespace
}  // namespace syncline
