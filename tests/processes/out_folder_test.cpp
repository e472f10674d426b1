// What a run does to its output folder, and to other files there.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/no_nameless_files.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Listing = std::map<std::string, std::string>;

Arguments run_into(const Arguments& more, const std::string& out = "out") {
  Arguments arguments{"run",       "--model", "resnet50", "--throughput", "100", "--platform",
                      "two-hosts", "--out",   out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Takes much longer than any test.
Arguments endless_run(const Arguments& more) {
  Arguments arguments =
      run_into({"--iterations", "1000000", "--fidelity", "step", "--limit-trace", "1e15"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A user's files, with names that a careless program might take for its own.
void put_files_of_the_user(const TemporaryFolder& folder) {
  for (const char* name :
       {"thesis.part1", "x.iso.part", "backup.parts/kept", ".writable", "result.json.part7",
        "result.trace.csv.part", "results.csv.part", "result.tmp", ".part", "result.json~",
        ".syncline-unfinished/thesis", "results.csv.bak", "result.jsonl"})
    folder.write(std::string("out/") + name, std::string("mine: ") + name);
  fs::create_symlink("thesis.part1", folder.path("out/results.csv.part1"));
  fs::create_symlink("/nowhere", folder.path("out/.writable-link.part"));
  mkfifo(folder.path("out/pipe.part").c_str(), 0600);
}

TEST(OutFolder, KeepsEveryFileThatIsNotAResult) {
  const std::vector<std::pair<Arguments, int>> runs{
      {{}, 0},
      {{"--trace"}, 0},
      {{"--resume", "--trace"}, 0},
      {{"--seed", "1,2", "--jobs", "2"}, 0},
      {{"--schedule", "bsq"}, 2},               // refused before the folder is used
      {{"--workers", "100"}, 2},                // refused by the cell
      {{"--workers", "1,100", "--trace"}, 2}};  // refused by one of two cells
  for (const bool nameless : {true, false})
    for (const auto& [more, code] : runs) {
      const TemporaryFolder folder;
      put_files_of_the_user(folder);
      const Listing before = listing_of(folder.path());
      const Ended ended = run_program(run_into(more), folder.path(), [&] {
        if (!nameless)
          refuse_nameless_files();
      });
      EXPECT_EQ(ended.code, code) << ended.err;
      Listing after = listing_of(folder.path());
      for (const auto& [name, what] : before) {
        EXPECT_EQ(after[name], what) << name;
        after.erase(name);
      }
      for (const auto& [name, what] : after)
        EXPECT_TRUE(name.ends_with(".json") || name.ends_with("/results.csv") ||
                    name.ends_with(".trace.csv"))
            << name << " was left behind";
    }
}

TEST(OutFolder, KeepsEveryFileWhenItIsInterrupted) {
  const TemporaryFolder folder;
  put_files_of_the_user(folder);
  const Listing before = listing_of(folder.path());
  const Program program(endless_run({"--trace"}), folder.path());
  program.wait_for_child();
  program.interrupt(true);
  EXPECT_EQ(program.wait().code, 130);
  EXPECT_EQ(listing_of(folder.path()), before);
}

TEST(OutFolder, IsOfOneRunAtATime) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("out"));
  const int other = open(folder.path("out").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(other, LOCK_EX), 0);  // as a run does
  for (const Arguments& more : {Arguments{}, Arguments{"--trace"}, Arguments{"--resume"}}) {
    const Ended refused = run_program(run_into(more), folder.path());
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(lines_in(refused.err), 1U) << refused.err;
    expect_mentions(refused.err, {"syncline: --out out: another run writes there"});
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(fs::is_empty(folder.path("out")));
  }
  close(other);
  EXPECT_EQ(run_program(run_into({}), folder.path()).code, 0);
}

TEST(OutFolder, IsLockedByARunUntilItEnds) {
  const TemporaryFolder folder;
  const Program first(endless_run({}), folder.path());
  first.wait_for_child();
  const Ended second = run_program(run_into({}), folder.path());
  EXPECT_EQ(second.code, 2);
  expect_mentions(second.err, {"another run writes there"});
  first.kill_alone();  // its processes end with it, and the lock with them
  const Ended third = run_program(run_into({}), folder.path());
  EXPECT_EQ(third.code, 0) << third.err;
  first.wait();
}

// A file with a result's name but of other origin stays, resumed or not.
TEST(OutFolder, RefusesToReplaceWhatItDidNotWrite) {
  const std::string ours = "{\n  \"schema\": 3,\n  \"tool\": \"syncline 0.3.0\",\n";
  const std::vector<std::pair<std::string, std::string>> files{
      {"result.json", "{}"},
      {"result.json", "[]"},
      {"result.json", "null"},
      {"result.json", "7"},
      {"result.json", "\"word\""},
      {"result.json", "no JSON"},
      {"result.json", "\n"},
      {"result.json", std::string("\0\xff", 2)},
      {"result.json", R"({"figures":{}})"},
      {"result.json", R"({"schema":3,"figures":{}})"},
      {"result.json", R"({"schema":"2","tool":"syncline 0.3.0"})"},
      {"result.json", R"({"schema":3,"tool":"another 1.0","figures":{}})"},
      {"result.json", "[" + ours + "}]"},
      {"result.json", std::string(100000, '[')},
      {"results.csv", "name,grade\nme,1\n"},
      {"results.csv", "mine\nx,throughput_samples_per_s,y\n"},
      {"result.trace.csv", "time,event\n0,began\n"},
      {"result.trace.json", "{\"traceEvents\":[]}"},
      {"result.trace.json", ours}};
  for (const auto& [name, text] : files)
    for (const char* resume : {"", "--resume"}) {
      const TemporaryFolder folder;
      folder.write("out/" + name, text);
      const Listing before = listing_of(folder.path());
      Arguments arguments = run_into({"--trace"});
      if (*resume != '\0')
        arguments.emplace_back(resume);
      const Ended ended = run_program(arguments, folder.path());
      EXPECT_EQ(ended.code, 2) << name << ": " << text.substr(0, 80);
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {"syncline: --out out: " + name, "was not written by syncline"});
      EXPECT_EQ(listing_of(folder.path()), before);
    }
}

// Reading a pipe would wait, and a folder cannot be replaced.
TEST(OutFolder, RefusesWhatIsNoFileInTheNameOfAResult) {
  for (const char* name : {"result.json", "results.csv", "result.trace.csv", "result.trace.json"})
    for (const char* what : {"pipe", "folder", "link to a pipe", "link to a device"}) {
      const TemporaryFolder folder;
      fs::create_directory(folder.path("out"));
      const std::string path = folder.path(std::string("out/") + name);
      mkfifo(what == std::string("pipe") ? path.c_str() : folder.path("pipe").c_str(), 0600);
      if (what == std::string("folder"))
        fs::create_directory(path);
      else if (what == std::string("link to a pipe"))
        fs::create_symlink(folder.path("pipe"), path);
      else if (what == std::string("link to a device"))
        fs::create_symlink("/dev/zero", path);
      const Listing before = listing_of(folder.path());
      const Ended ended = run_program(run_into({"--trace", "--resume"}), folder.path());
      EXPECT_EQ(ended.code, 2) << name << " as a " << what;
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {"syncline: --out out: ", name,
                                  what == std::string("folder") ? "" : "is no file"});
      EXPECT_EQ(listing_of(folder.path()), before);
    }
}

// A result with our marks comes from an earlier run, whatever has happened to it since.
TEST(OutFolder, ReplacesResultsThatWereCutOrAreOfAnotherVersion) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(run_into({"--trace"}), folder.path()).code, 0);
  const Listing whole = listing_of(folder.path());
  const std::vector<std::string> figures{"{}", "null",     "[]",
                                         "7",  "\"word\"", R"({"busiest_links":[{}]})"};
  for (const std::string& value : figures) {
    folder.write("out/result.json",
                 R"({"schema":3,"tool":"syncline 0.3.0","figures":)" + value + "}");
    const Ended ended = run_program(run_into({"--trace", "--resume"}), folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err << value;
    EXPECT_EQ(listing_of(folder.path()), whole) << value;
  }
  for (const char* name : {"out/result.json", "out/results.csv", "out/result.trace.csv"})
    for (const std::size_t bytes : {std::size_t{0}, whole.at(name).size() / 2}) {
      folder.write(name, whole.at(name).substr(5, bytes));
      const Ended ended = run_program(run_into({"--trace", "--resume"}), folder.path());
      EXPECT_EQ(ended.code, 0) << ended.err << name;
      EXPECT_EQ(listing_of(folder.path()), whole) << name;
    }
}

TEST(OutFolder, WithoutANameIsRefused) {
  const TemporaryFolder folder;
  const Ended ended = run_program(run_into({}, ""), folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "syncline: --out is empty: allowed is the path of a folder\n");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_FALSE(fs::exists("/results.csv"));
}

TEST(OutFolder, ThatWasMadeForARefusedRunGoes) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(run_into({"--workers", "100"}, "a/b/c"), folder.path()).code, 2);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace syncline
