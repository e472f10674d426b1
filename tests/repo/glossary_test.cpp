// The README's glossary has the words of `syncline help`, with the same sentences.
#include "sim/report/glossary.h"

#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "sim/commands/help.h"
#include "tests/program/program.h"
#include "tests/repo/commands.h"

namespace syncline {
namespace {

std::string row_of(const GlossaryWord& word) {
  return "| " + word.word + " | " + word.meaning + " |";
}

TEST(Glossary, OfTheReadmeIsThatOfHelpRowByRow) {
  std::vector<std::string> written;
  bool inside = false;
  for (const std::string& line : lines_of(root / "README.md")) {
    if (line.starts_with("## "))
      inside = line == "## Words";
    if (inside && line.starts_with("| ") && !line.starts_with("| word |"))
      written.push_back(line);
  }
  std::vector<std::string> rows;
  for (const std::vector<GlossaryWord>* words : {&glossary(), &portions()})
    std::ranges::transform(*words, std::back_inserter(rows), row_of);
  EXPECT_EQ(written, rows);
}

TEST(Glossary, HelpKnowsEachWordAsPeopleWriteIt) {
  for (const char* word :
       {"worker", "node", "bucket", "exposed", "waiting", "straggler", "latency", "DiLoCo", "rail",
        "diloco", "Worker", "STRAGGLER", "scaling efficiency"}) {
    const Ended ended = run_program({"help", word});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(lower(ended.out).find(lower(word) + ", a word\n"), std::string::npos) << ended.out;
  }
  for (const std::vector<GlossaryWord>* words : {&glossary(), &portions()})
    for (const GlossaryWord& word : *words)
      EXPECT_EQ(meanings().at(word.word).front().kind, "a word") << word.word;
}

}  // namespace
}  // namespace syncline
