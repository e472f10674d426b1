// The words of this field as this program uses them: `syncline help` says them, and the README's
// tables are these, row by row (tests/repo/glossary_test.cpp).
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct GlossaryWord {
  std::string word;
  std::string meaning;  // as it stands in the README
  std::string more;     // a sentence that only help says
  std::string example;  // after `syncline`
};

const std::vector<GlossaryWord>& glossary();  // of clusters, schedules and figures
const std::vector<GlossaryWord>& portions();  // of what is sent

}  // namespace syncline
