// `explain --measured` on public threads that end with a stated cause: tests/program/threads.csv.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/io/csv.h"
#include "tests/program/program.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

struct Thread {
  std::string source;
  std::vector<std::string> options;  // as arguments
  std::string measured;
  std::string accepted;
};

// Those whose cause is not among the first two, and why.
const std::map<std::string, std::string> missed{};

std::vector<Thread> all_threads() {
  const std::string path = SYNCLINE_SOURCE_DIR "/tests/program/threads.csv";
  std::vector<Thread> threads;
  read_csv_lines(path, CsvFields::quoted, [&](const CsvLine& line) {
    if (line.kind != CsvLine::Kind::row)
      return;
    Thread thread{
        .source = line.fields.at(0), .measured = line.fields.at(3), .accepted = line.fields.at(5)};
    std::istringstream words(line.fields.at(2));
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      thread.options.insert(thread.options.end(),
                            {"--" + word.substr(0, equals), word.substr(equals + 1)});
    }
    threads.push_back(thread);
  });
  return threads;
}

Json causes_of(const Thread& thread) {
  std::vector<std::string> arguments{"explain", "--measured", thread.measured, "--json"};
  arguments.insert(arguments.end(), thread.options.begin(), thread.options.end());
  const Ended ended = run_program(arguments, SYNCLINE_SOURCE_DIR);
  EXPECT_EQ(ended.code, 0) << thread.source << ended.err;
  return ended.code == 0 ? Json::parse(ended.out)
                         : Json{{"causes", Json::array()}, {"not_told_apart", Json::array()}};
}

// The place of the cause, from 1; options whose iterations are equally long share one. 0: none.
int place_of(const std::string& accepted, const Json& causes) {
  int place = 0;
  for (const Json& cause : causes) {
    if (cause.at("reach") != "enough")
      break;
    if (!cause.contains("same_as"))
      ++place;
    if (cause.at("name") == accepted)
      return place;
  }
  return 0;
}

// Causes as likely as the first, or options equally long, are the first of all and named together.
void expect_together(const Json& found) {
  const Json &causes = found.at("causes"), &together = found.at("not_told_apart");
  EXPECT_NE(together.size(), 1U);
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i], causes.at(i).at("name"));
    EXPECT_EQ(causes.at(i).at("reach"), "enough");
  }
}

TEST(ExplainMeasuredThreads, HaveTheirStatedCauseAmongTheFirstTwo) {
  const std::vector<Thread> threads = all_threads();
  ASSERT_EQ(threads.size(), 12U);
  std::size_t named = 0;
  for (const Thread& thread : threads) {
    const Json found = causes_of(thread);
    const int place = place_of(thread.accepted, found.at("causes"));
    expect_together(found);
    const bool right = place == 1 || place == 2;
    named += right;
    EXPECT_EQ(right, !missed.contains(thread.source)) << thread.source << " " << place << "\n"
                                                      << found.dump(1);
  }
  EXPECT_GE(named, 9U);
}

// VGG-16 over 25GbE: two options whose iterations are equally long share the first place.
TEST(ExplainMeasuredThreads, SayInWordsWhichCausesOneRateCannotTellApart) {
  const Thread over_tcp = all_threads().at(7);
  std::vector<std::string> arguments{"explain", "--measured", over_tcp.measured};
  arguments.insert(arguments.end(), over_tcp.options.begin(), over_tcp.options.end());
  const Ended ended = run_program(arguments, SYNCLINE_SOURCE_DIR);
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* words : {"or, as long: ", "cannot tell them apart: one-bucket, no-overlap"})
    EXPECT_NE(ended.out.find(words), std::string::npos) << words << "\n" << ended.out;
}

}  // namespace
}  // namespace syncline
