// Learning in a result: JSON, the curve's file, tables, check.
#include <charconv>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "sim/gate/expectation.h"
#include "sim/page/tables.h"
#include "sim/report/learned_tables.h"
#include "sim/report/learning.h"
#include "sim/report/result_json.h"
#include "sim/sweep/out_folder.h"
#include "sim/sweep/sweep.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> learned_figures{"loss", "accuracy", "target_s"};

bool is_whole(const Json& json) {
  return from_json(json).has_value();
}

const LearnedTable& table_named(const std::string& name) {
  return *std::ranges::find(learned_tables(), name, &LearnedTable::name);
}

std::string csv_of(const Result& result, const std::string& table) {
  return result.learned ? table_csv(*result.learned, table_named(table)) : "";
}

Learned compressing() {
  Learned learned = made_learned(0.5, 0.9);
  learned.compressed.messages = 12;
  learned.compressed.left_out = 0.75;
  learned.compressed.bits_per_value = 0.5;
  return learned;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(LearningResult, HasFiguresAndACurve) {
  Learned learned = compressing();
  learned.target_s = 7.5;
  const Json result = to_json(made_result({}, 100, 4, learned));
  EXPECT_TRUE(is_whole(result));
  EXPECT_EQ(result["figures"]["loss"], 0.5);
  EXPECT_EQ(result["figures"]["accuracy"], 0.9);
  EXPECT_EQ(result["figures"]["target_s"], 7.5);
  const Json& learning = result["learning"];
  EXPECT_EQ(learning["data"], "made up");
  EXPECT_EQ(learning["parameters"], 650);
  EXPECT_EQ(learning["least_loss"], nullptr);
  EXPECT_EQ(learning["left_out"], 0.75);
  EXPECT_EQ(learning["curve"]["seconds"].size(), 11U);
  EXPECT_EQ(learning["curve"]["bytes"][10], 1e7);
}

TEST(LearningResult, OfWhatDoesNotLearnHasNothingOfIt) {
  const Result result = made_result({}, 100);
  const Json json = to_json(result);
  EXPECT_FALSE(json.contains("learning"));
  for (const std::string& figure : learned_figures)
    EXPECT_FALSE(json["figures"].contains(figure)) << figure;
  EXPECT_EQ(full_report(result).find("held out"), std::string::npos);
  EXPECT_EQ(comparison_table({result}, {}).find("loss"), std::string::npos);
}

// The text parses to the same JSON, and a column of any length takes one line.
TEST(LearningResult, IsStoredWithALineForEachColumn) {
  const Result few = made_result({}, 100, 4, made_compressed(made_learned(0.5, 0.9, 2)));
  const Result many = made_result({}, 100, 4, made_compressed(made_learned(0.5, 0.9, 500)));
  EXPECT_EQ(Json::parse(text_of(many)), to_json(many));
  EXPECT_EQ(Json::parse(text_of(few)), to_json(few));
  EXPECT_EQ(lines_of(text_of(many)), lines_of(text_of(few)));
  Result odd = few;  // holds the placeholders of the writer as data
  odd.learned->data = "\"curve\": {\n  \"timeline\": { \"tracks\": [ \"seconds\": [";
  EXPECT_EQ(Json::parse(text_of(odd)), to_json(odd));
}

// Reading and writing again gives the same text: no number loses a bit.
TEST(LearningResult, SurvivesBeingReadAndWritten) {
  Learned learned = made_compressed(made_learned(1.0 / 3, 0.1 + 0.2, 7));
  learned.target_s = 5e-324;
  learned.least_loss = -1e300;
  for (const Result& result :
       {made_result({{"jitter", "0.1"}, {"until", "loss:0.3"}}, 100.0 / 3, 5, learned),
        made_result({{"name", "7"}}, 1e-7), made_result({}, 100, 4, made_divergence(2.25))}) {
    const auto again = result_in(text_of(result));
    ASSERT_TRUE(again);
    EXPECT_EQ(text_of(*again), text_of(result));
    EXPECT_EQ(again->options, result.options);
  }
}

TEST(LearningResult, OfADivergenceHasNoFigures) {
  const Result result = made_result({{"until", "accuracy:0.9"}}, 100, 4, made_divergence(2.25));
  const Json json = to_json(result);
  EXPECT_TRUE(is_whole(json));
  for (const std::string& figure : learned_figures)
    EXPECT_TRUE(json["figures"][figure].is_null()) << figure;
  EXPECT_TRUE(json["learning"]["curve"]["loss"][2].is_null());
  EXPECT_EQ(loss_shown(result), "diverged");
  EXPECT_EQ(target_shown(result), "-");
  expect_mentions(full_report(result), {"diverged at 2.25 s"});
  EXPECT_TRUE(csv_of(result, "curve").find("\n2,1000,2000000,nan,0.1,20,") != std::string::npos)
      << csv_of(result, "curve");
}

// Loss 2 at the start; 0.4 % and 40 % of messages without a value; a target of 15.9 and of 16
// values.
TEST(LearningWarnings, SayThatNothingWasLearned) {
  EXPECT_TRUE(learning_warnings(made_learned(1.99, 0.1)).empty());
  EXPECT_TRUE(learning_warnings(compressing()).empty()) << "whoever asks for nothing";
  const auto only = [](const Learned& learned) {
    const std::vector<std::string> warnings = learning_warnings(learned);
    EXPECT_EQ(warnings.size(), 1U);
    return warnings.empty() ? "" : warnings.front();
  };
  for (const double loss : {2.0, 44.0})
    expect_mentions(only(made_learned(loss, 0.1)),
                    {"ends no better than it began", fmt::format("loss is {:.4g} at the end", loss),
                     "2 at the start"});
  EXPECT_EQ(only(made_learned(1, 0.1, 1)).find("ends no better"), 0U) << "no step was taken";
  Learned met = made_learned(3, 0.95);
  met.target_s = 4;
  EXPECT_TRUE(learning_warnings(met).empty()) << "it met its target";
  EXPECT_EQ(only(made_divergence(2)).find("diverged at 2 s"), 0U);

  Learned learned = compressing();
  learned.compressed.messages = 1000;
  learned.compressed.empty = 0.004;
  EXPECT_TRUE(learning_warnings(learned).empty());
  learned.compressed.empty = 0.4;
  expect_mentions(only(learned), {"40 % of 1,000 messages were empty"});
  learned.compressed.empty = 0;
  learned.compressed.values = 4810;
  learned.compressed.target_values = 16;
  EXPECT_TRUE(learning_warnings(learned).empty());
  learned.compressed.target_values = 4;
  expect_mentions(only(learned), {"asked for 4 of 4810 values", "fewer than 16"});
}

TEST(LearningResult, IsRefusedWhereAnythingIsBroken) {
  const Json whole = to_json(made_result({}, 100, 4, made_compressed(made_learned(0.5, 0.9))));
  std::vector<Json> broken;
  for (const std::string& figure : learned_figures) {
    broken.push_back(whole);
    broken.back()["figures"].erase(figure);
    broken.push_back(whole);
    broken.back()["figures"][figure] = "low";
  }
  broken.push_back(whole);
  broken.back().erase("learning");
  broken.push_back(to_json(made_result({}, 100)));
  broken.back()["learning"] = whole["learning"];
  broken.push_back(whole);
  broken.back()["figures"]["accuracy"] = 1.5;
  for (const auto& [name, value] : whole["learning"].items()) {
    broken.push_back(whole);
    broken.back()["learning"].erase(name);
    broken.push_back(whole);
    broken.back()["learning"][name] = true;
  }
  for (const char* table : {"curve", "compression", "histogram"})
    for (const auto& [name, value] : whole["learning"][table].items()) {
      broken.push_back(whole);
      broken.back()["learning"][table].erase(name);
      broken.push_back(whole);
      broken.back()["learning"][table][name].erase(1);
      broken.push_back(whole);
      broken.back()["learning"][table][name][1] = "x";
      if (name.ends_with("loss"))
        continue;  // may be anything
      broken.push_back(whole);
      broken.back()["learning"][table][name][1] = -1e300;
    }
  for (const char* name : {"from", "to"}) {
    broken.push_back(whole);
    broken.back()["learning"]["histogram"][name][0] = 101;
  }
  broken.push_back(whole);
  broken.back()["learning"]["curve"]["seconds"][3] = nullptr;
  broken.push_back(whole);
  broken.back()["learning"]["curve"]["accuracy"][3] = -0.1;
  EXPECT_TRUE(is_whole(whole));
  for (const Json& result : broken)
    EXPECT_FALSE(is_whole(result)) << Json::diff(Json(whole), result);
  Json newer = whole;  // unknown keys are ignored
  newer["learning"]["more"] = newer["more"] = newer["figures"]["more"] = 1;
  EXPECT_TRUE(is_whole(newer));
}

// Just before it overflows, a loss can be as large as any number.
TEST(LearningResult, MayHaveAnyFiniteLoss) {
  const Result result = made_result({}, 100, 4, made_learned(1e300, 0.1));
  EXPECT_TRUE(is_whole(to_json(result)));
  expect_mentions(comparison_table({result}, {}), {"1e+300"});
}

TEST(CurveFile, ReadsBackToTheSameNumbers) {
  Learned learned = made_learned(0.5, 0.9, 4);
  learned.curve[1].seconds = 0.1 + 0.2;
  learned.curve[2].seconds = 1.0 / 3;
  learned.curve[3].bytes = 123456789012345678.0;
  learned.curve[3].loss = 5e-324;
  const Result result = result_in(text_of(made_result({}, 100, 4, learned))).value();
  std::istringstream lines(csv_of(result, "curve"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "seconds,samples,bytes,loss,accuracy,iterations,train_accuracy,heldout_loss");
  for (const CurvePoint& point : learned.curve) {
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream fields(line);
    for (const double expected :
         {point.seconds, point.samples, point.bytes, point.loss, point.accuracy, point.iterations,
          point.train_accuracy, point.heldout_loss}) {
      std::string field;
      std::getline(fields, field, ',');
      double number = -1;
      std::from_chars(field.data(), field.data() + field.size(), number);
      EXPECT_EQ(number, expected) << field;
    }
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(CompressionFile, HasEmptyCellsWhereAPaperSaysNothing) {
  Learned learned = made_compressed(made_learned(0.5, 0.9));
  const auto csv = [&](const char* table) {
    return csv_of(made_result({}, 100, 4, learned), table);
  };
  EXPECT_EQ(
      csv("compression"),
      "iteration,messages,values,sent_values,least_sent_values,most_sent_values,target_values,"
      "left_out,left_out_bound,left_out_bound_squared,bits_per_value,bits_bound\n"
      "0,4,1000,12.5,9,16,10,0.75,0.99,0.9801,0.5,\n"
      "1,3,1000,12.5,0,0,,0.75,,,0.5,0.625\n");
  EXPECT_EQ(csv("histogram"),
            "iteration,from,to,share,square_share,normal_share,normal_square_share\n"
            "0,,0.25,0.5,0.625,0.5625,0.5\n"
            "0,0.25,,0.5,0.375,0.4375,0.5\n");
  learned = made_learned(0.5, 0.9);
  EXPECT_EQ(csv("compression"), "");
  EXPECT_EQ(csv("histogram"), "");
}

class LearnedFiles : public testing::Test {
 protected:
  std::string text(const std::string& table) const {
    const std::string path = cell_.learned_path + "." + table + ".csv";
    return std::filesystem::exists(path) ? text_of(path) : "none";
  }
  const TemporaryFolder folder_;
  const SweepCell cell_{.scenario = {}, .learned_path = folder_.path("a")};
  const Result learns_ = made_result({}, 100, 4, made_learned(0.5, 0.9));
  const Result compresses_ = made_result({}, 100, 4, made_compressed(made_learned(0.5, 0.9)));
};

// --resume restores a lost or changed file from the result, and leaves an intact one alone.
TEST_F(LearnedFiles, AreKeptAsTheResultSays) {
  for (const std::string table : {"curve", "compression", "histogram"}) {
    const std::string path = folder_.path("a." + table + ".csv");
    const auto inode = [&] {
      struct stat about = {};
      return stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
    };
    const std::string whole = csv_of(compresses_, table);
    keep_learned(cell_, compresses_);
    EXPECT_EQ(text(table), whole);
    const auto first = inode();
    keep_learned(cell_, compresses_);
    EXPECT_EQ(inode(), first);
    std::string changed = whole;
    changed[changed.size() - 2] ^= 1;
    for (const std::string& other : {whole + "x", std::string(), changed}) {
      folder_.write("a." + table + ".csv", other);
      keep_learned(cell_, compresses_);
      EXPECT_EQ(text(table), whole);
    }
  }
}

// A folder that is used again loses the files of a cell that no longer learns or compresses.
TEST_F(LearnedFiles, GoWhereThereIsNothingToSayAnyMore) {
  keep_learned(cell_, made_result({}, 100));
  for (const std::string table : {"curve", "compression", "histogram"})
    EXPECT_EQ(text(table), "none") << "what does not learn has no " << table;
  keep_learned(cell_, compresses_);
  keep_learned(cell_, learns_);
  EXPECT_EQ(text("curve"), csv_of(learns_, "curve"));
  EXPECT_EQ(text("compression"), "none");
  EXPECT_EQ(text("histogram"), "none");
  keep_learned(cell_, compresses_);
  keep_learned(cell_, made_result({}, 100));
  for (const std::string table : {"curve", "compression", "histogram"})
    EXPECT_EQ(text(table), "none");
}

TEST_F(LearnedFiles, OfSomebodyElseStay) {
  for (const std::string table : {"curve", "compression", "histogram"})
    folder_.write("a." + table + ".csv", "seconds,samples\n1,2\n");
  keep_learned(cell_, made_result({}, 100));
  for (const std::string table : {"curve", "compression", "histogram"}) {
    EXPECT_EQ(text(table), "seconds,samples\n1,2\n");
    const OutFolder out(folder_.path());
    expect_mentions(error_of([&] { out.require_ours("a." + table + ".csv"); }),
                    {"a." + table + ".csv", "was not written by syncline"});
    folder_.write("a." + table + ".csv", csv_of(compresses_, table));
    out.require_ours("a." + table + ".csv");
  }
}

TEST(LearningTables, SayWhatWasLearned) {
  Learned learned = compressing();
  learned.least_loss = 0.25;
  const std::string report =
      full_report(learned_result({{"until", "accuracy:0.85"}}, 100, learned, 9.5));
  expect_mentions(report,
                  {"loss                    0.5 (the least there is: 0.25), 2.5 held out, after "
                   "10 s, 5,000 samples (5 epochs)\n",
                   "accuracy                90.0 % held out, 50.0 % of what it learned from\n",
                   "target                  accuracy 0.85: after 9.5", "made up; 650 parameters",
                   "12 compressed: 75.0 % left out (of squares), 0.5 bits per value"});
  learned.compressed = made_compressed({}).each_compressed.front();
  learned.compressed.bits_bound = 0.75;
  expect_mentions(full_report(learned_result({}, 100, learned)),
                  {"4 compressed: 75.0 % left out (of squares; bound 99.0 %, of a bell curve "
                   "98.0 %), 0.5 bits per value (bound 0.75)\n",
                   "sent                    12.5 (9 to 16) of 1000 values, asked for 10\n"});
  expect_mentions(full_report(learned_result({{"until", "loss:0.1"}}, 100, learned)),
                  {"loss 0.1: missed"});

  const std::string table = comparison_table(
      {learned_result({{"schedule", "bsp"}, {"until", "loss:0.6"}}, 100, made_learned(0.5, 0.9), 9),
       learned_result({{"schedule", "asp"}, {"until", "loss:0.6"}}, 90, made_learned(0.75, 0.8)),
       learned_result({{"schedule", "ssp"}, {"until", "loss:0.6"}}, 95, made_divergence(1))},
      {"schedule"});
  expect_mentions(table, {"scaling", "loss", "accuracy", "target"});
  expect_mentions(table, {"     0.5    90.0 %     9 s", "    0.75    80.0 %  missed",
                          "diverged         -       -"});
  EXPECT_EQ(comparison_table({learned_result({}, 100, made_learned(0.5, 0.9))}, {}).find("target"),
            std::string::npos);
}

TEST(LearningTables, HaveTheSameColumnsInEveryCsv) {
  const auto header = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const std::string without = results_csv({made_result({}, 100)}, {"schedule"});
  const std::string with =
      results_csv({learned_result({{"until", "loss:0.6"}}, 100, made_learned(0.5, 0.9), 9)}, {});
  EXPECT_EQ("schedule," + header(with), header(without));
  expect_mentions(header(with), {",loss,accuracy,target_s,epoch_s,"});
  expect_mentions(with, {",0.5,0.9,9.0,"});
  expect_mentions(without, {",0.8,0.0,,,,,,,10000.0,"});
}

TEST(LearningCheck, JudgesWhatWasLearnedAndSaysWhyThereIsNone) {
  const Result learned =
      learned_result({{"until", "accuracy:0.85"}}, 100, made_learned(0.5, 0.9), 9.0);
  const auto judged = [](const Result& result, const std::string& figure, double at_most) {
    return judge({.cell = "a", .figure = figure, .at_most = at_most}, result, {});
  };
  EXPECT_EQ(judged(learned, "loss", 0.6).kind, Verdict::Kind::met);
  EXPECT_EQ(judged(learned, "loss", 0.4).kind, Verdict::Kind::moved);
  EXPECT_EQ(judged(learned, "target_s", 10).kind, Verdict::Kind::met);
  for (const auto& [result, words] : std::vector<std::pair<Result, std::string>>{
           {made_result({}, 100), "unknown: the cell learns nothing"},
           {learned_result({}, 100, made_learned(0.5, 0.9)),
            "unknown: the option until asks for nothing"},
           {learned_result({{"until", "loss:0.4"}}, 100, made_learned(0.5, 0.9)),
            "loss 0.4 was missed"},
           {learned_result({}, 100, made_divergence(2)), "unknown: it diverged at 2 s"}}) {
    const Verdict verdict = judged(result, "target_s", 1e9);
    EXPECT_EQ(verdict.kind, Verdict::Kind::moved);
    EXPECT_EQ(verdict.now, words);
  }
  for (const std::string& figure : learned_figures)
    EXPECT_TRUE(std::ranges::count(judged_figures(), figure) == 1) << figure;
}

}  // namespace
}  // namespace syncline
