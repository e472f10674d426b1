// Sixty kills at any moment, in parallel: of sweeps, of files for other programs, of pages, of
// `check --bless` and of `check --history`. Each file is then unchanged or complete, and no other
// file is lost.
#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "kernels/io/whole_file.h"
#include "tests/program/checked_folder.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

class KilledSideBySide : public CheckedRepository {
 protected:
  void SetUp() override {
    CheckedRepository::SetUp();
    if (IsSkipped())
      return;
    setenv("SOURCE_DATE_EPOCH", "0", 1);  // makes a page reproducible
    for (const std::string other : {"d", "e"}) {
      fs::copy(folder_.path("c"), folder_.path(other));
      for (const char* file : {"ring.cfg", "topk.cfg", "expected.csv"})
        fs::remove(folder_.path(other + "/" + file));
      fs::rename(folder_.path(other + "/ssp.cfg"), folder_.path(other + "/" + other + ".cfg"));
      expect_done({"check", other, "--bless", "--because", "x"});
    }
    folder_.write("history.csv", "commit,cell,figure,value\n000000000000,old,runs,1\n");
    expect_done(sweep("results"));
  }
  void expect_done(const Arguments& arguments) const {
    const Ended ended = run_program(arguments, folder_.path());
    EXPECT_EQ(ended.code, 0) << arguments.front() << ended.err;
  }
  static Arguments small(const Arguments& more) {
    Arguments arguments{"run",          "--platform", "two-hosts",    "--model", "resnet20",
                        "--throughput", "100",        "--iterations", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static Arguments sweep(const std::string& out) {
    return small({"--batch", "1,2,3,4", "--trace", "--jobs", "2", "--resume", "--out", out});
  }
  // All but git's files, and those in our folder for unfinished files.
  Files all_files() const {
    Files files = files_of(folder_.path());
    std::erase_if(files, [](const auto& file) {
      return file.first.starts_with(".git/") ||
             file.first.find(unfinished_folder) != std::string::npos;
    });
    return files;
  }
  const Arguments exports_ = small({"--trace=t.json", "--goal", "g.goal", "--chakra", "k"});
  const Arguments page_{"report", "results", "--html", "p.html",
                        "--md",   "s.md",    "--svg",  "figures"};
  const Arguments bless_{"check", "c", "--bless", "--because", "another"};
  const Arguments history_{"check", "d", "--history", "history.csv"};
};

TEST_F(KilledSideBySide, LoseNothing) {
  expect_done(exports_);
  expect_done(page_);
  const Files whole = all_files();
  for (const char* made : {"t.json", "k.1.json", "p.html", "s.md", "results/batch-4.json"})
    EXPECT_TRUE(whole.contains(made)) << made;
  std::mt19937 random(5);
  std::uniform_int_distribution<useconds_t> moment_us(1000, 400000);
  int killed = 0;
  for (int round = 0; round < 12; ++round) {
    const std::string out = "out" + std::to_string(round);
    const bool slow = round % 2 == 0;
    edit("c/platform.xml", slow ? "id=\"a-nic\" bandwidth=\"1GBps\"" : "bandwidth=\"0.5GBps\"",
         slow ? "id=\"a-nic\" bandwidth=\"0.5GBps\"" : "bandwidth=\"1GBps\"");
    for (const char* file : {"t.json", "g.goal", "k.0.json", "k.1.json", "p.html", "s.md"})
      if (round % 3 != 0)
        fs::remove(folder_.path(file));
    const std::string expected = text_of(folder_.path("c/expected.csv"));
    const std::string history = text_of(folder_.path("history.csv"));
    std::vector<std::unique_ptr<Program>> programs;
    for (const Arguments& arguments : {sweep(out), exports_, page_, bless_, history_})
      programs.push_back(std::make_unique<Program>(arguments, folder_.path()));
    const Program survivor({"check", "e", "--history", "history.csv"}, folder_.path());
    usleep(moment_us(random));
    for (const auto& program : programs)
      round % 4 < 2 ? program->kill_alone() : program->kill_all();
    for (const auto& program : programs)
      killed += program->wait().signal == SIGKILL ? 1 : 0;
    EXPECT_EQ(survivor.wait().code, 0);

    for (const auto& [name, text] : all_files()) {
      if (name.starts_with("c/") || name == "history.csv")
        continue;
      const std::string first =
          name.starts_with("out") ? "results" + name.substr(name.find('/')) : name;
      ASSERT_TRUE(whole.contains(first)) << name << " was left behind";
      EXPECT_TRUE(text == whole.at(first) || name.ends_with("results.csv"))
          << name << " is not whole";
    }
    const std::string kept = text_of(folder_.path("history.csv"));
    for (const std::string& row :
         {std::string("000000000000,old,runs,1\n"), std::string(",e,throughput")})
      EXPECT_NE(kept.find(row), std::string::npos) << kept;
    EXPECT_GE(lines_in(kept), lines_in(history));
    const std::string left = text_of(folder_.path("c/expected.csv"));
    expect_done(bless_);
    const std::string blessed = text_of(folder_.path("c/expected.csv"));
    EXPECT_NE(blessed, expected);
    EXPECT_TRUE(left == expected || left == blessed) << left;
    expect_done(sweep(out));
    for (const auto& [name, text] : files_of(folder_.path(out)))
      EXPECT_TRUE(name == "results.csv" || text == whole.at("results/" + name)) << name;
  }
  EXPECT_GT(killed, 20) << "most had ended before they were killed";
  expect_done(exports_);
  expect_done(page_);
  for (const auto& [name, text] : whole)
    if (!name.starts_with("c/") && name != "history.csv") {
      EXPECT_EQ(text_of(folder_.path(name)), text) << name;
    }
}

}  // namespace
}  // namespace syncline
