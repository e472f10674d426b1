// What --resume keeps: results of the same scenario, files and versions, complete and with their
// trace.
#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "kernels/io/whole_file.h"
#include "sim/catalogue/fingerprint.h"
#include "sim/platform/platform_file.h"
#include "sim/report/result_json.h"
#include "tests/program/program.h"
#include "tests/unit/checked_platform.h"
#include "tests/unit/errors.h"
#include "tests/unit/no_nameless_files.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

bool is_whole(const Json& json) {
  return from_json(json).has_value();
}

Arguments resumed_run(const Arguments& more = {}) {
  Arguments arguments{"run",   "--model",      "resnet50", "--throughput", "100", "--platform",
                      "p.xml", "--iterations", "10",       "--out",        "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Two hosts, with a link and hosts that name a file in each way that SimGrid supports.
void write_platform(const TemporaryFolder& folder) {
  folder.write("p.xml", R"(<?xml version='1.0'?>
<!-- it's two hosts -->
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf" speed_file="b.txt" state_file="b-state.txt"/>
    <link id="wire" bandwidth="1GBps" latency="10us" bandwidth_file='wire &amp; speed.txt'
          latency_file="wire-latency.txt"/>
    <route src="a" dst="b"><link_ctn id="wire"/></route>
  </zone>
  <trace id="of-a" file="profiles/a.txt" periodicity="-1"/>
  <trace_connect kind="SPEED" trace="of-a" element="a"/>
</platform>
)");
  for (const char* name : {"profiles/a.txt", "b.txt", "wire-latency.txt", "wire & speed.txt"})
    folder.write(name, "0.0 1\nPERIODICITY 1000\n");
  folder.write("wire-latency.txt", "0.0 1e-5\nPERIODICITY 1000\n");
  folder.write("wire & speed.txt", "0.0 1e9\nPERIODICITY 1000\n");
  folder.write("b-state.txt", "0.0 1\nPERIODICITY 1000\n");
}

TEST(FilesOfPlatform, AreAllThatItNames) {
  const TemporaryFolder folder;
  write_platform(folder);
  folder.write("not-named.txt", "");
  const auto names_of = [&](const char* platform) {
    std::vector<std::string> names;
    for (const std::string& path : check_platform(folder.path(platform)).files)
      names.push_back(fs::path(path).lexically_relative(folder.path()).string());
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(names_of("p.xml"),
            (std::vector<std::string>{"b-state.txt", "b.txt", "p.xml", "profiles/a.txt",
                                      "wire & speed.txt", "wire-latency.txt"}));
}

TEST(Fingerprint, TellsApartWhatIsAtTheEndOfOneFileAndTheBeginningOfTheNext) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", "12"), b = folder.write("b", "3");
  const std::string c = folder.write("c", "1"), d = folder.write("d", "23");
  EXPECT_NE(fingerprint_of_files({a, b}), fingerprint_of_files({c, d}));
  EXPECT_NE(fingerprint_of_files({a, b}), fingerprint_of_files({b, a}));
  EXPECT_NE(fingerprint_of_files({folder.path("none")}), fingerprint_of_files({}));
}

// Every file of a folder with its inode: a cell that is simulated again has a new file.
std::map<std::string, std::pair<std::string, ino_t>> state_of(const std::string& folder) {
  std::map<std::string, std::pair<std::string, ino_t>> state;
  for (const auto& [name, what] : listing_of(folder)) {
    struct stat about = {};
    stat((folder + "/" + name).c_str(), &about);
    if (name != "results.csv")  // always written
      state[name] = {what, about.st_ino};
  }
  return state;
}

class Resumed : public testing::Test {
 protected:
  void SetUp() override {
    write_platform(folder_);
    ASSERT_EQ(run({"--trace"}).code, 0) << run({"--trace"}).err;
  }
  Ended run(const Arguments& more) const { return run_program(resumed_run(more), folder_.path()); }
  std::string out(const char* name) const { return folder_.path(std::string("out/") + name); }

  // A resumed run leaves the same files as an undisturbed one.
  void expect_simulated_again(const std::string& why) const {
    const auto before = state_of(folder_.path("out"));
    const Ended resumed = run({"--trace", "--resume"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    const auto after = state_of(folder_.path("out"));
    for (const char* name : {"result.json", "result.trace.csv", "result.trace.json"})
      EXPECT_TRUE(!before.contains(name) || before.at(name) != after.at(name))
          << why << ": " << name << " was kept";
    const auto kept = listing_of(folder_.path("out"));
    EXPECT_EQ(run({"--trace"}).code, 0);
    EXPECT_EQ(listing_of(folder_.path("out")), kept) << why;
  }
  void change_result(const std::string& name, const Json& value) const {
    Json result = Json::parse(text_of(out("result.json")));
    result[name] = value;
    folder_.write("out/result.json", result.dump(2) + "\n");
  }
  const TemporaryFolder folder_;
};

TEST_F(Resumed, KeepsAllThatIsTheSame) {
  const auto before = state_of(folder_.path("out"));
  EXPECT_EQ(run({"--trace", "--resume"}).code, 0);
  EXPECT_EQ(run({"--resume"}).code, 0);  // an extra trace is no reason
  EXPECT_EQ(state_of(folder_.path("out")), before);
}

TEST_F(Resumed, SimulatesAgainAfterAChangeOfAnyFileThatThePlatformNames) {
  for (const char* name : {"p.xml", "profiles/a.txt", "b.txt", "b-state.txt", "wire & speed.txt",
                           "wire-latency.txt"}) {
    const std::string text = text_of(folder_.path(name));
    folder_.write(name, text.starts_with("0.0")
                            ? text.substr(0, text.find('\n') + 1) + "PERIODICITY 2000\n"
                            : text + "<!-- new -->\n");
    expect_simulated_again(name);
  }
}

TEST_F(Resumed, SimulatesAgainWithoutAWholeTraceOfThisScenario) {
  const std::string whole = text_of(out("result.trace.csv"));
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  for (const std::string& trace : {std::string(), header, whole.substr(0, whole.size() / 2),
                                   whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1),
                                   whole + whole.substr(header.size())}) {
    folder_.write("out/result.trace.csv", trace);
    expect_simulated_again(std::to_string(trace.size()) + " bytes of the trace");
    EXPECT_EQ(text_of(out("result.trace.csv")), whole);
  }
  fs::remove(out("result.trace.csv"));
  expect_simulated_again("no trace");
  folder_.write("out/result.trace.json", "");
  expect_simulated_again("an empty trace.json");
  EXPECT_EQ(run({"--trace", "--batch", "8"}).code, 0);
  EXPECT_EQ(run({}).code, 0);  // the trace is of another scenario than the result
  expect_simulated_again("a trace of another scenario");
  EXPECT_EQ(text_of(out("result.trace.csv")), whole);
}

TEST_F(Resumed, SimulatesAgainWithAnotherVersionOfAnything) {
  const Json whole = Json::parse(text_of(out("result.json")));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"tool", "syncline 0.1.0"},
                                                 {"build", "0123456789abcdef"},
                                                 {"simgrid", "3.31"},
                                                 {"schema", whole["schema"].get<int>() - 1},
                                                 {"schema", whole["schema"].get<int>() + 1},
                                                 {"inputs", "0123456789abcdef"},
                                                 {"scenario", Json::object()},
                                                 {"trace", "0123456789abcdef"}}) {
    change_result(name, value);
    expect_simulated_again(name);
    EXPECT_EQ(Json::parse(text_of(out("result.json"))), whole) << name;
  }
}

TEST_F(Resumed, SimulatesAgainWithoutAWholeTimeline) {
  const Json whole = Json::parse(text_of(out("result.json")));
  const auto with = [&](const Json& slice) {
    Json timeline = whole["timeline"];
    timeline["tracks"][0]["slices"][0] = slice;
    return timeline;
  };
  for (const Json& timeline :
       {Json(nullptr), Json::object(), with(nullptr), with({0, 1}), with({0, 1, "wait", 0, "one"}),
        with({0, 1, 2, 3, 4}), with({0, 1, "wait", 0, 0, 0}), with({0, 1e300, "wait", 0, 0})}) {
    Json changed = whole;
    changed["timeline"] = timeline;
    EXPECT_FALSE(is_whole(changed)) << timeline;
  }
  change_result("timeline", with({0, 1, "wait", 0, 0}));
  EXPECT_TRUE(is_whole(Json::parse(text_of(out("result.json")))));
  for (const Json& timeline : {Json(nullptr), with({0, 1, "\x1b[2J", 0, 0})}) {
    change_result("timeline", timeline);
    expect_simulated_again("timeline: " + timeline.dump());
  }
}

TEST_F(Resumed, SimulatesAgainWhatIsNotTheWholeResult) {
  Json whole = Json::parse(text_of(out("result.json")));
  whole["figures"]["throughput_interval"] = 0.1;  // so that optional members have values
  whole["figures"]["epoch_cost"] = 2.5;
  whole["figures"]["server_busy"] = 0.5;
  whole["figures"]["memory_bytes"] = whole["figures"]["device_memory_bytes"] = 1e9;
  whole["figures"]["tokens_per_s"] = 1e6;
  whole["figures"]["mfu"] = whole["figures"]["hfu"] = 0.5;
  whole["figures"]["runs"] = 2;
  whole["figures"]["throughput_of_runs"] = {1, 2};
  whole["figures"]["staleness_histogram"] = {{"0", 1}};
  std::vector<Json> broken;
  for (const auto& [name, value] : whole["figures"].items())
    for (const Json& other :
         {Json(nullptr), Json("word"), Json::array({1}), Json::object(), Json(true)}) {
      if (other.is_string() && value.is_string())
        continue;
      broken.push_back(whole["figures"]);
      broken.back()[name] = other;
    }
  for (const Json& figures : {Json::object(), Json(nullptr), Json::array(), Json("word"), Json(7)})
    broken.push_back(figures);
  broken.push_back(whole["figures"]);
  broken.back().erase("bottleneck");
  broken.push_back(whole["figures"]);
  broken.back()["busiest_links"] = Json::array({{{"utilisation", 1}}});
  broken.push_back(whole["figures"]);
  broken.back()["staleness_histogram"] = {{"0", "many"}};
  EXPECT_TRUE(is_whole(whole));
  for (const Json& figures : broken) {
    const bool is_allowed =
        figures.is_object() && figures.contains("bottleneck") &&
        (figures["throughput_interval"].is_null() || figures["epoch_cost"].is_null() ||
         figures["server_busy"].is_null() || figures["memory_bytes"].is_null() ||
         figures["device_memory_bytes"].is_null() || figures["tokens_per_s"].is_null() ||
         figures["mfu"].is_null() || figures["hfu"].is_null() ||
         figures["prediction_low_samples_per_s"].is_null() ||
         figures["prediction_high_samples_per_s"].is_null() ||
         figures["staleness_histogram"] == Json::object());
    Json result = whole;
    result["figures"] = figures;
    EXPECT_EQ(is_whole(result), is_allowed) << figures;
  }
  for (const auto& [name, value] :
       std::map<std::string, Json>{{"provenance", nullptr}, {"figures", Json::object()}}) {
    change_result(name, value);
    expect_simulated_again(name);
  }
}

// Otherwise tables would show `nan`, or move the terminal's cursor.
TEST_F(Resumed, SimulatesAgainWhatCannotBeShown) {
  const Json figures = Json::parse(text_of(out("result.json")))["figures"];
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"iteration_mean_s", 0.0},
                                                 {"iteration_mean_s", -1.0},
                                                 {"iteration_mean_s", 1e-300},
                                                 {"staleness_max", 1e300},
                                                 {"updates", -1e300},
                                                 {"bottleneck", "\x1b[2J"},
                                                 {"bottleneck", "two\nlines"},
                                                 {"warnings", {"\u202e"}}}) {
    Json changed = figures;
    changed[name] = value;
    change_result("figures", changed);
    expect_simulated_again(name + " = " + value.dump());
  }
}

// Copying or comparing to that depth would exceed the stack.
TEST_F(Resumed, SimulatesAgainWhatIsVeryDeep) {
  const std::string whole = text_of(out("result.json"));
  for (const std::string begin :
       {"{\"a\": ", "", "{\"figures\": ", "{\"scenario\": {\"model\": "}) {
    folder_.write("out/result.json",
                  R"({"schema": 3, "tool": "syncline ", "deep": )" + begin +
                      std::string(300'000, '[') + std::string(300'000, ']') +
                      std::string(static_cast<std::size_t>(std::ranges::count(begin, '{')), '}') +
                      "}");
    expect_simulated_again(begin);
    EXPECT_EQ(text_of(out("result.json")), whole);
  }
}

TEST(ResumedRun, DoesNotReadATraceLargerThanAny) {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments{
      "run",          "--model", "resnet20", "--platform", "two-hosts", "--throughput", "100",
      "--iterations", "3",       "--out",    "o",          "--trace",   "--resume"};
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  const auto files = listing_of(folder.path("o"));
  fs::resize_file(folder.path("o/result.trace.csv"), 1'000'000'000'000);
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  EXPECT_EQ(listing_of(folder.path("o")), files);
}

// Cells that were simulated before and after a change of a file do not compare.
TEST_F(Resumed, AFolderOfTwoVersionsOfAFileIsReportedAsSuch) {
  EXPECT_EQ(run({"--schedule", "bsp,asp", "--compressor", "none,topk", "--device", "none",
                 "--server-overhead", "none,1e-4"})
                .code,
            0);
  const auto report = [&] { return run_program({"report", folder_.path("out")}); };
  EXPECT_EQ(report().code, 0);
  folder_.write("p.xml", text_of(folder_.path("p.xml")) + "<!-- new -->\n");
  EXPECT_EQ(run({"--schedule", "asp", "--device", "none"}).code, 0);
  const Ended ended = report();
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"name the same files, which have changed", "--resume"});
  EXPECT_EQ(lines_in(ended.err), 1U);
}

}  // namespace
}  // namespace syncline
