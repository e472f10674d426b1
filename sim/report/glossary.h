// The words of this field as this program uses them. `syncline help` prints them, and the README's
// tables have the same rows (tests/repo/glossary_test.cpp).
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct GlossaryWord {
  std::string word;
  std::string meaning;  // as in the README
  std::string more;     // a sentence for help only
  std::string example;  // arguments of `syncline`
};

const std::vector<GlossaryWord>& glossary();  // about clusters, schedules and figures
const std::vector<GlossaryWord>& portions();  // about the parts of what is sent

}  // namespace syncline
