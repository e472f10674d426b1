// Rules of `syncline check`: what fails the gate, what only warns, which causes it names, and which
// files it writes for other programs.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "tests/program/checked_folder.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

class Gate : public CheckedFolder {
 protected:
  // Appends these two fields to the row of a cell's throughput.
  void extend_rows(const std::string& cell, const std::string& severity,
                   const std::string& direction) const {
    std::string text;
    for (const std::string& line : split(expected_, '\n')) {
      if (line.empty())
        continue;
      const bool own = line.starts_with(cell + ",throughput_samples_per_s");
      text += line;
      text += line.starts_with("cell,") ? ",severity,direction"
              : own                     ? "," + severity + "," + direction
                                        : ",,";
      text += "\n";
    }
    folder_.write("c/expected.csv", text);
  }
  Json verdict_on(const std::string& cell, const std::string& figure) const {
    const Json document = Json::parse(run({"--json"}).out);
    for (const Json& verdict : document["verdicts"])
      if (verdict["cell"] == cell && verdict["figure"] == figure)
        return verdict;
    ADD_FAILURE() << "no verdict on " << cell << ", " << figure;
    return {};
  }
};

TEST_F(Gate, StaysOpenWhereARowOnlyWarns) {
  extend_rows("ring", "warn", "");
  edit("c/ring.cfg", "jitter = 0", "jitter = 0.5");
  const Ended ended = run({"--junit", "j.xml", "--md", "m.md", "--github"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  expect_mentions(ended.out,
                  {"WARNED  ring", "moved by waiting", "2 of 3 as expected, 1 only warned of"});
  expect_mentions(text_of(folder_.path("j.xml")), {"failures=\"0\"", "<system-out>warning: "});
  expect_mentions(text_of(folder_.path("m.md")), {"| WARNED | ring |"});
  expect_mentions(ended.err, {"::warning file=c/ring.cfg,title="});
  edit("c/topk.cfg", "density = 0.01", "density = 0.05");  // and another row closes it
  EXPECT_EQ(run().code, 1);
  EXPECT_EQ(run({"--bless", "--because", "x"}).code, 0);  // blessing keeps the column
  expect_mentions(text_of(folder_.path("c/expected.csv")), {",because,severity\n", ",x,warn\n"});
}

TEST_F(Gate, LetsABetterFigurePassWhereOnlyWorseIsAskedFor) {
  extend_rows("ring", "", "worse");
  const std::string platform = text_of(folder_.path("c/platform.xml"));
  edit("c/platform.xml", "id=\"a-nic\" bandwidth=\"1GBps\"", "id=\"a-nic\" bandwidth=\"0.9GBps\"");
  EXPECT_EQ(verdict_on("ring", "throughput_samples_per_s")["verdict"], "moved");
  folder_.write("c/platform.xml", platform);
  edit("c/model.csv", "middle,3000000", "middle,2000000");
  const Json faster = verdict_on("ring", "throughput_samples_per_s");
  EXPECT_EQ(faster["verdict"], "met");
  EXPECT_GT(faster["change"].get<double>(), 0.1);
  EXPECT_EQ(verdict_on("topk", "throughput_samples_per_s")["verdict"], "moved");
}

TEST_F(Gate, RefusesTiersAndDirectionsThatThereAreNot) {
  const std::string header = "cell,figure,expected,tolerance,severity,direction\n";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"ring,waiting_s,1,0.1,loud,\n", "severity = loud: allowed are fail or warn"},
      {"ring,waiting_s,1,0.1,,up\n", "direction = up: allowed are both or worse"},
      {"ring,worker_count,4,0.1,,worse\n", "neither more nor less worker_count is worse"},
      {"ring,waiting_s,1,,,worse\n", "direction = worse without tolerance"}};
  for (const auto& [row, words] : bad) {
    folder_.write("c/expected.csv", header + row);
    const Ended ended = run();
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U);
    expect_mentions(ended.err, {"c/expected.csv:2: ", words});
  }
}

// Once, the program was reported as changed although nothing had moved.
TEST_F(Gate, AccusesNobodyOfABoundThatWasNeverMet) {
  folder_.write("c/expected.csv", expected_ + "ring,scaling_efficiency,,,0.99,,it should scale\n" +
                                      "ssp,iteration_p99_s,,,,0.001,it should be soon\n");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"it should scale", "it should be soon", "3 of 5 as expected"});
  EXPECT_EQ(ended.out.find("the program did"), std::string::npos) << ended.out;
}

TEST_F(Gate, SaysThatABoundWasNotMetBefore) {
  const std::string row = "ring,throughput_samples_per_s,";
  std::string text = expected_;
  const std::size_t at = text.find(",0.001,,,", text.find(row));
  text.replace(at, 9, ",0.001,1e9,,");
  folder_.write("c/expected.csv", text);
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"this bound was not met before, either: "});
  EXPECT_EQ(ended.out.find("the program did"), std::string::npos) << ended.out;
}

// Notes from another version of the program record its old results.
TEST_F(Gate, AccusesTheProgramWhereNothingElseChanged) {
  std::string text;
  for (const std::string& line : split(expected_, '\n'))
    if (line.starts_with("ring,throughput_samples_per_s,"))
      text += "ring,throughput_samples_per_s,100,0.001,,,then\n";
    else if (line.starts_with("ring,exposed_communication_s,"))
      text += "ring,exposed_communication_s,0.001,,,,\n";
    else if (!line.empty())
      text += line + "\n";
  folder_.write("c/expected.csv", text);
  expect_mentions(run().out, {"moved by exposed communication, 1 ms -> ",
                              "no option and no file changed: the program did"});
  EXPECT_EQ(verdict_on("ring", "throughput_samples_per_s")["cause"]["what"], "the program");
}

// If somebody deletes a cell's rows but not its notes, nothing compares the cell.
TEST_F(Gate, FailsForACellOfWhichOnlyNotesAreLeft) {
  std::string text;
  for (const std::string& line : split(expected_, '\n'))
    if (!line.empty() && !line.starts_with("ring,throughput_samples_per_s,"))
      text += line + "\n";
  folder_.write("c/expected.csv", text);
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"MOVED  ring", "notes judge nothing", "2 of 3 as expected"});
}

TEST_F(Gate, TellsWhatChangedOnRowsThatPass) {
  edit("c/model.csv", "# source: made up", "# source: made up again");
  edit("c/ring.cfg", "seed = 1", "seed = 2");
  const Ended ended = run({"--md", "m.md"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  expect_mentions(
      ended.out,
      {"changed, and as expected: option seed 1 -> 2, the model file c/model.csv (1 row)\n",
       "changed, and as expected: the model file c/model.csv (2 rows)\n"});
  expect_mentions(text_of(folder_.path("m.md")),
                  {"Changed, and as expected: the model file c/model.csv (2 rows)"});
  EXPECT_EQ(verdict_on("topk", "throughput_samples_per_s")["cause"]["changed"][0],
            "the model file c/model.csv");
}

TEST_F(Gate, WritesItsFilesWhereItCouldNotJudge) {
  edit("c/ring.cfg", "jitter = 0", "jiter = 0");
  const Ended ended = run({"--junit", "j.xml", "--md", "m.md", "--github"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  expect_mentions(ended.err, {"c/ring.cfg:6: ", "jiter", "::error file=c/ring.cfg,title="});
  expect_mentions(text_of(folder_.path("j.xml")),
                  {"tests=\"1\" failures=\"0\" errors=\"1\"", "jiter"});
  expect_mentions(text_of(folder_.path("m.md")),
                  {"### c: 0 of 1 as expected, 1 could not be", "jiter"});
  edit("c/ring.cfg", "jiter = 0", "jitter = 0");
  folder_.write("c/expected.csv", "cell,figur\n");
  EXPECT_EQ(run({"--junit", "j.xml"}).code, 2);
  expect_mentions(text_of(folder_.path("j.xml")), {"column 'figur'"});
}

// Once, the title was empty.
TEST_F(Gate, NamesAFolderThatIsCheckedFromInside) {
  for (const char* path : {".", "./", "../c/."}) {
    const Ended ended =
        run_program({"check", path, "--junit", "../j.xml", "--md", "../m.md"}, folder_.path("c"));
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string title = path[1] == '.' ? "../c" : "c";
    EXPECT_NE(text_of(folder_.path("m.md")).find("### " + title + ": 3 of 3"), std::string::npos);
    expect_mentions(text_of(folder_.path("j.xml")),
                    {"<testsuite name=\"" + title + "\"", "classname=\"" + title + ".ring\""});
  }
}

TEST_F(Gate, AnnotatesTheFileThatChanged) {
  edit("c/ring.cfg", "jitter = 0", "jitter = 0.5");
  const Ended ended = run({"--github"});
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err,
                  {"::error file=c/ring.cfg,title=syncline%3A option jitter 0 -> 0.5::ring, "
                   "throughput_samples_per_s: ",
                   "%0Areason for the expected figure: the first",
                   "%0Achanged: option jitter 0 -> 0.5\n", " %25"});
  EXPECT_EQ(run().err, "");
}

TEST_F(Gate, HasNumbersInItsJson) {
  edit("c/platform.xml", "id=\"a-nic\" bandwidth=\"1GBps\"", "id=\"a-nic\" bandwidth=\"0.5GBps\"");
  const Json verdict = verdict_on("ring", "throughput_samples_per_s");
  const double expected = verdict["expected"], got = verdict["got"];
  EXPECT_DOUBLE_EQ(verdict["change"], got / expected - 1);
  EXPECT_EQ(verdict["tolerance"], 0.001);
  EXPECT_TRUE(verdict["at_least"].is_null());
  const Json& cause = verdict["cause"];
  EXPECT_EQ(cause["what"], "the platform file c/platform.xml");
  EXPECT_EQ(cause["part"], "exposed communication");
  // This part alone explains the longer iteration of 4 workers with 32 samples each.
  const double longer = cause["now"].get<double>() - cause["before"].get<double>();
  EXPECT_NEAR(expected * got * longer / (expected - got), 4 * 32, 8);
}

// Once, twenty rows of a table repeated the same cause.
TEST_F(Gate, SaysACauseOfTwentyCellsOnce) {
  std::string sizes;
  for (int i = 1; i <= 20; ++i)
    sizes += (i == 1 ? "" : ", ") + std::to_string(100'000 * i);
  folder_.write("c/ring.cfg",
                with_change(check_settings, "bucket-bytes = all", "bucket-bytes = " + sizes));
  EXPECT_EQ(run({"--bless", "--because", "twenty"}).code, 0);
  edit("c/ring.cfg", "jitter = 0\n", "jitter = 0\nbandwidth-factor = 0.5\n");
  const Ended ended = run({"--md", "m.md", "--github"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  const std::string markdown = text_of(folder_.path("m.md"));
  const std::string causes = markdown.substr(0, markdown.find("<details>"));
  expect_mentions(causes, {"| option bandwidth-factor (none) -\\> 0.5 | samples/s -",
                           ", worse | exposed communication | 20 cells: ring/", "and 17 more |"});
  EXPECT_EQ(lines_in(causes), 7U) << causes;
  EXPECT_NE(markdown.find("Each of the 20 rows"), std::string::npos);
}

TEST_F(Gate, SaysOfALossWhatALossDependsOn) {
  const std::string learns =
      check_settings + "learn = digits\nlearning-rate = 0.2\nbatch = 32\niterations = 60\n";
  folder_.write("c/learns.cfg", learns);
  EXPECT_EQ(run({"--bless", "--because", "learned"}).code, 0);
  const auto why_of_loss = [&](const std::string& from, const std::string& to) {
    folder_.write("c/learns.cfg", with_change(learns, from, to));
    std::string text;
    const Json verdict = verdict_on("learns", "loss");
    EXPECT_EQ(verdict["verdict"], "moved") << to;
    for (const Json& sentence : verdict["why"])
      text += sentence.get<std::string>() + "\n";
    EXPECT_EQ(text.find("of an iteration"), std::string::npos) << text;
    return text;
  };
  expect_mentions(
      why_of_loss("iterations = 60", "iterations = 90"),
      {"learned differently: samples that were learned from +", "option iterations 60 -> 90"});
  expect_mentions(why_of_loss("learning-rate = 0.2", "learning-rate = 0.05"),
                  {"learned from as many gradients", "option learning-rate 0.2 -> 0.05"});
}

// Communication cannot make a loss worse, but can make a target later.
TEST_F(Gate, SaysOfATargetWhetherLearningOrTimeMovedIt) {
  const std::string learns = check_settings +
                             "learn = digits\nlearning-rate = 0.2\nbatch = 32\nuntil = "
                             "accuracy:0.8\n";
  folder_.write("c/learns.cfg", learns);
  EXPECT_EQ(run({"--bless", "--because", "learned"}).code, 0);
  folder_.write("c/learns.cfg", learns + "bandwidth-factor = 0.5\n");
  const Json later = verdict_on("learns", "target_s");
  EXPECT_EQ(later["verdict"], "moved");
  EXPECT_EQ(later["cause"]["part"], "exposed communication");
  EXPECT_EQ(verdict_on("learns", "loss")["verdict"], "met");
  folder_.write("c/learns.cfg", with_change(learns, "rate = 0.2", "rate = 0.1"));
  const Json slower = verdict_on("learns", "target_s");
  EXPECT_EQ(slower["cause"]["part"], "samples that were learned from");
  EXPECT_GT(slower["cause"]["now"], slower["cause"]["before"]);
}

// The schema that Jenkins's plugin xUnit checks files with; it contains its licence (MIT).
TEST_F(Gate, WritesJUnitThatPassesJenkinsSchema) {
  if (std::system("command -v xmllint >/dev/null") != 0)
    GTEST_SKIP() << "xmllint is missing: apt-get install libxml2-utils";
  extend_rows("ring", "warn", "");
  edit("c/ring.cfg", "jitter = 0", "jitter = 0.5");
  edit("c/topk.cfg", "density = 0.01", "density = 0.05");
  edit("c/ssp.cfg", "model.csv", "none.csv");
  const std::string valid = "xmllint --noout --schema " SYNCLINE_SOURCE_DIR
                            "/tests/program/fixtures/jenkins-junit-10.xsd " +
                            folder_.path("j.xml") + " 2>" + folder_.path("said");
  run({"--junit", "j.xml"});
  EXPECT_EQ(std::system(valid.c_str()), 0) << text_of(folder_.path("said"));
  edit("c/ssp.cfg", "none.csv", "model.csv");
  run({"--junit", "j.xml"});
  expect_mentions(text_of(folder_.path("j.xml")), {"<failure", "<system-out>"});
  EXPECT_EQ(std::system(valid.c_str()), 0) << text_of(folder_.path("said"));
  folder_.write("j.xml", with_change(text_of(folder_.path("j.xml")), "<testsuites ",
                                     "<testsuites skipped=\"0\" "));
  EXPECT_NE(std::system(valid.c_str()), 0);
}

}  // namespace
}  // namespace syncline
