// Every word that a user may ask about, and what `syncline help WORD` answers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

struct Meaning {
  std::string kind;                    // "an option", "a schedule"
  std::vector<std::string> sentences;  // at least two
  std::string example;                 // a whole command
  std::string paper = {};              // empty: none
};

// By word; one that stands for several things has several meanings.
const std::map<std::string, std::vector<Meaning>>& meanings();

// --help.
void print_help();

}  // namespace syncline
