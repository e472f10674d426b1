#include "sim/sweep/process.h"

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

#include "tests/unit/errors.h"

namespace syncline {
namespace {

// Passes bytes between a test and its processes. Reading throws after a minute, so that a test
// fails if its processes hang.
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

  void write_byte(char byte) const {
    if (write(ends_[1], &byte, 1) != 1)
      throw std::runtime_error("the pipe has no reader");
  }
  // The next byte; 0 once all processes that could write have ended.
  char read_byte() const {
    pollfd file{.fd = ends_[0], .events = POLLIN, .revents = 0};
    while (poll(&file, 1, 60000) < 0 && errno == EINTR) {
    }
    if (file.revents == 0)
      throw std::runtime_error("no byte within a minute");
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1 ? byte : '\0';
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

TEST(RunChildren, ReturnsLongAndEmptyAnswersCompletely) {
  std::string text(3'000'000, 'x');  // much more than a pipe holds
  text[1'234'567] = '\0';
  const std::vector<Outcome> all = outcomes({[&] { return text; }, [] { return std::string(); }});
  EXPECT_TRUE(all[0].ok);
  EXPECT_EQ(all[0].output, text);
  EXPECT_TRUE(all[1].ok);
  EXPECT_EQ(all[1].output, "");
}

TEST(RunChildren, ReportsTheExceptionOfAJob) {
  const Outcome outcome =
      outcomes({[]() -> std::string { throw std::runtime_error("no such platform"); }})[0];
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.error, "no such platform");
}

TEST(RunChildren, ReportsExceptionsInOneLine) {  // SimGrid throws several lines
  const Outcome outcome =
      outcomes({[]() -> std::string { throw std::runtime_error("first\nsecond\n\nthird"); }})[0];
  EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << outcome.error;
  expect_mentions(outcome.error, {"first"});
  // SimGrid also frames messages with asterisks.
  const std::string name(1'000'000, '*');
  EXPECT_EQ(outcomes({[&]() -> std::string {
              throw std::runtime_error("a*** **b \n\t " + name + "c\n");
            }})[0]
                .error,
            "a **b c");
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

TEST(RunChildren, ExceptionsStayInTheChild) {
  // Without this, the child would continue as a second copy of the test.
  Pipe escaped;
  Outcome outcome;
  try {
    outcome = outcomes({[]() -> std::string { throw 7; }})[0];
  } catch (int) {
    escaped.write_byte('!');
    _exit(1);
  }
  escaped.close_writing();
  EXPECT_EQ(escaped.read_byte(), '\0') << "the exception left run_children in the child";
  EXPECT_FALSE(outcome.ok);
  EXPECT_FALSE(outcome.error.empty());
}

TEST(RunChildren, ReportsOutputBeforeAbort) {
  const Outcome outcome = outcomes({[]() -> std::string {
    std::fputs("[0.000000] [xbt/CRITICAL] The platform is upside down\n", stderr);
    std::abort();
  }})[0];
  EXPECT_EQ(outcome.error, "The platform is upside down");
}

TEST(RunChildren, SaySoWhenTheSystemKilledThemOrMemoryRanOut) {
  const auto error_in = [](const std::function<std::string()>& job) {
    const Outcome outcome = outcomes({job}).front();
    EXPECT_FALSE(outcome.aborted) << "a user would look for the mistake in the platform";
    return outcome.error;
  };
  expect_mentions(error_in([]() -> std::string {
                    raise(SIGKILL);
                    return "";
                  }),
                  {"the system killed", "memory", "fewer workers", "--jobs"});
  expect_mentions(error_in([]() -> std::string { throw std::bad_alloc(); }),
                  {"no more memory", "fewer workers"});
}

TEST(RunChildren, JobOutputDoesNotReachTheTerminal) {
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

TEST(RunChildren, RunsAsManyAtATimeAsAllowed) {
  Pipe first;
  Pipe second;  // each writes a byte to the other and reads one
  const std::vector<Outcome> all = outcomes({[&] {
                                               first.write_byte('a');
                                               return std::string(1, second.read_byte());
                                             },
                                             [&] {
                                               second.write_byte('b');
                                               return std::string(1, first.read_byte());
                                             }},
                                            2);
  EXPECT_EQ(all[0].output, "b") << all[0].error;
  EXPECT_EQ(all[1].output, "a") << all[1].error;
}

TEST(RunChildren, RunsNoMoreAtATimeThanAllowed) {
  for (const int at_once : {1, 3}) {
    Pipe events;
    Jobs jobs;
    for (int i = 0; i < 12; ++i)
      jobs.emplace_back([&] {
        events.write_byte('+');
        events.write_byte('-');
        return std::string();
      });
    outcomes(jobs, at_once);
    events.close_writing();
    int running = 0;
    int most = 0;
    for (char event = events.read_byte(); event != '\0'; event = events.read_byte())
      most = std::max(most, running += event == '+' ? 1 : -1);
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

// A job that runs until it is killed.
std::string run_until_killed(const Pipe& alive) {
  alive.write_byte('!');
  for (;;)
    pause();
}

TEST(RunChildren, EndsTheOthersWhenAskedToStop) {
  Pipe alive;
  Pipe third;  // may begin before it is read
  run_children({[&] { return run_until_killed(alive); },
                [&] { return std::string(1, alive.read_byte()); },  // when the first has started
                [&] { return run_until_killed(third); }, [&] { return run_until_killed(third); }},
               2, [&](std::size_t job, const Outcome&) {
                 EXPECT_EQ(job, 1U);
                 return false;
               });
  alive.close_writing();
  EXPECT_EQ(alive.read_byte(), '\0') << "the first still runs";
  third.close_writing();
  const bool begun = third.read_byte() == '!';
  EXPECT_TRUE(!begun || third.read_byte() == '\0') << "the third still runs, or the fourth began";
}

TEST(RunChildren, EndsTheOthersWhenAnExceptionPasses) {  // for example because of a full disk
  Pipe alive;
  expect_mentions(error_of([&] {
                    run_children({[&] { return run_until_killed(alive); },
                                  [&] { return std::string(1, alive.read_byte()); }},
                                 2, [](std::size_t, const Outcome&) -> bool {
                                   throw std::runtime_error("cannot be written");
                                 });
                  }),
                  {"cannot be written"});
  alive.close_writing();
  EXPECT_EQ(alive.read_byte(), '\0') << "the first still runs";
}

// Runs two endless jobs in a separate process, sends it a signal when both have started, and
// returns its status. When `alive` is closed, all processes that could write to it have ended.
int status_after(int signal_number, Pipe& alive) {
  const pid_t runner = fork();
  if (runner == 0) {
    int code = 1;
    try {
      outcomes({[&] { return run_until_killed(alive); }, [&] { return run_until_killed(alive); }});
    } catch (const Interrupted&) {
      code = 42;
    }
    _exit(code);
  }
  alive.read_byte();
  alive.read_byte();
  kill(runner, signal_number);
  alive.close_writing();
  EXPECT_EQ(alive.read_byte(), '\0') << "a child still runs";
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
