// Sweeps that end early: interrupted, or killed at any moment.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <random>
#include <sys/inotify.h>

#include "kernels/io/whole_file.h"
#include "sim/catalogue/csv.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/no_nameless_files.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Arguments = std::vector<std::string>;

// Reads a folder's events until a file with this ending appears.
void wait_for_file(int watch, const std::string& ending) {
  for (;;) {
    pollfd file{.fd = watch, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&file, 1, 120000), 1) << "no file *" << ending << " in two minutes";
    alignas(inotify_event) std::array<char, 8192> buffer{};
    const ssize_t size = read(watch, buffer.data(), buffer.size());
    for (ssize_t i = 0; i < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + i);
      if (event->len > 0 && std::string(event->name).ends_with(ending))
        return;
      i += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

// Twelve cells, two at a time, slow enough to interrupt.
Arguments long_sweep(const Arguments& more = {}) {
  Arguments arguments{"run",
                      "--model",
                      "resnet50",
                      "--throughput",
                      "100",
                      "--platform",
                      "gbe-32x1",
                      "--fidelity",
                      "step",
                      "--iterations",
                      "10",
                      "--seed",
                      "1,2,3,4,5,6,7,8,9,10,11,12",
                      "--jobs",
                      "2",
                      "--out",
                      "results"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class ControlC : public testing::TestWithParam<bool> {};

TEST_P(ControlC, EndsChildrenAndKeepsFinishedCells) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("results"));
  const int watch = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(watch, folder.path("results").c_str(), IN_CREATE | IN_MOVED_TO);
  const Program program(long_sweep(), folder.path());
  wait_for_file(watch, ".json");
  close(watch);
  program.interrupt(GetParam());
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130);
  EXPECT_FALSE(program.left_children());
  auto kept = files_of(folder.path("results"));
  EXPECT_EQ(read_csv(folder.path("results/results.csv")).rows.size(), 12U);  // with missing cells
  EXPECT_EQ(kept.erase("results.csv"), 1U);
  EXPECT_GE(kept.size(), 1U);
  expect_mentions(ended.out, {kept.size() == 1  // the table of finished cells
                                  ? "seed  samples/s"
                                  : "median of " + std::to_string(kept.size()) + " seeds (1"});
  EXPECT_EQ(ended.err.substr(ended.err.find("syncline: ")),  // on a slow machine, after progress
            "syncline: interrupted: " + std::to_string(12 - kept.size()) +
                " of 12 cells are missing; the same command with --resume simulates them\n");
  EXPECT_LT(kept.size(), 12U);
  const std::string without = "Without " + std::to_string(12 - kept.size()) + " of 12 cells (seed ";
  expect_mentions(ended.out, {without});
  expect_mentions(run_program({"report", "results"}, folder.path()).out, {without});
  for (const auto& [name, text] : kept) {
    EXPECT_TRUE(name.ends_with(".json")) << name << " was left behind";
    EXPECT_TRUE(Json::accept(text)) << name;
  }

  const std::string first = folder.path("results/" + kept.begin()->first);
  const auto written = fs::last_write_time(first);
  const Ended resumed = run_program(long_sweep({"--resume"}), folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(fs::last_write_time(first), written) << "a finished cell was simulated again";
  expect_mentions(resumed.out, {"median of 12 seeds"});
  const auto all = files_of(folder.path("results"));
  EXPECT_EQ(all.size(), 13U);  // and results.csv
  EXPECT_EQ(read_csv(folder.path("results/results.csv")).rows.size(), 12U);
  for (const auto& [name, text] : kept)
    EXPECT_EQ(all.at(name), text);
}

INSTANTIATE_TEST_SUITE_P(To, ControlC, testing::Bool(), [](const testing::TestParamInfo<bool>& on) {
  return std::string(on.param ? "TheTerminalsGroup" : "TheProgramAlone");
});

// Killed at any moment, alone or with its processes, on both kinds of file systems.
TEST(KilledSweep, ResumedLeavesWhatAnUndisturbedOneLeaves) {
  const auto sweep_to = [](const std::string& out, const Arguments& more = {}) {
    Arguments arguments{"run",         "--model",  "resnet50",  "--throughput", "100",
                        "--platform",  "gbe-32x1", "--workers", "16",           "--batch",
                        "1,2,3,4,5,6", "--jobs",   "2",         "--iterations", "6",
                        "--trace",     "--out",    out,         "--fidelity",   "flow"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(sweep_to("whole"), folder.path()).code, 0);
  const auto whole = listing_of(folder.path("whole"));
  EXPECT_EQ(whole.size(), 19U);  // a result and two traces per cell, and results.csv
  std::mt19937 random(11);
  std::uniform_int_distribution<useconds_t> moment_us(1000, 500000);
  int unfinished = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string out = "out" + std::to_string(round);
    const auto before = [&] {
      if (round % 3 == 2)
        refuse_nameless_files();
    };
    for (int kills = 0; kills < 2; ++kills) {  // of the run, and of the run that resumes it
      const Program program(sweep_to(out, {"--resume"}), folder.path(), before);
      usleep(moment_us(random));
      if (round % 2 == 0)
        program.kill_alone();
      else
        program.kill_all();
      program.wait();
      if (!fs::exists(folder.path(out)))
        continue;
      for (const auto& [name, what] : listing_of(folder.path(out)))
        if (!name.starts_with(unfinished_folder)) {
          EXPECT_TRUE(whole.contains(name)) << name << " was left behind";
          EXPECT_TRUE(name == "results.csv" || what == whole.at(name)) << name << " is not whole";
        }
      unfinished += listing_of(folder.path(out)).size() < whole.size() ? 1 : 0;
    }
    const Ended resumed = run_program(sweep_to(out, {"--resume"}), folder.path());
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(listing_of(folder.path(out)), whole) << "round " << round;
  }
  EXPECT_GT(unfinished, 3) << "most runs ended before they were killed";
}

}  // namespace
}  // namespace syncline
