// The words of sim/report/words.md are those of `syncline help`, in the same sentences.
// SYNCLINE_BLESS=1 writes them anew.
#include "sim/report/glossary.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "sim/commands/help.h"
#include "tests/program/program.h"
#include "tests/repo/commands.h"

namespace syncline {
namespace {

// The page with these rows in its tables, the first in the first table, the others in the second.
std::vector<std::string> with_rows(const std::vector<std::string>& page) {
  const std::vector<const std::vector<GlossaryWord>*> tables{&glossary(), &portions()};
  std::vector<std::string> lines;
  std::size_t table = 0;
  for (const std::string& line : page) {
    const bool is_head = line.starts_with("| word |") || line.starts_with("|---");
    if (is_head || !line.starts_with("| "))
      lines.push_back(line);
    if (line.starts_with("|---") && table < tables.size())
      for (const GlossaryWord& word : *tables[table++])
        lines.push_back("| " + word.word + " | " + word.meaning + " |");
  }
  EXPECT_EQ(table, tables.size());
  return lines;
}

TEST(Glossary, PageHasTheRowsOfHelp) {
  const std::filesystem::path path = root / "sim/report/words.md";
  const std::vector<std::string> page = lines_of(path);
  const std::vector<std::string> expected = with_rows(page);
  if (std::getenv("SYNCLINE_BLESS") != nullptr) {
    std::ofstream file(path);
    for (const std::string& line : expected)
      file << line << '\n';
    return;
  }
  EXPECT_EQ(page, expected);
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
