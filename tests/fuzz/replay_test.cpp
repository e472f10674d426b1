// Every reader on its corpus: valid files, files reached by the fuzzers, and each finding.
#include <gtest/gtest.h>

#include "tests/fuzz/reader.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, IsReadAsTheLawSays) {
  const Reader& reader = Registered<Reader>::find(GetParam());
  int files = 0;
  for (const auto& entry :
       fs::directory_iterator(SYNCLINE_SOURCE_DIR "/tests/fuzz/corpus/" + GetParam())) {
    const std::string text = text_of(entry.path().string());
    try {
      reader.read({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    } catch (const std::logic_error& broken) {
      ADD_FAILURE() << entry.path() << ": " << broken.what();
    }
    ++files;
  }
  EXPECT_GT(files, 2);
}

INSTANTIATE_TEST_SUITE_P(Readers, Corpus, testing::ValuesIn(Registered<Reader>::names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace syncline
