// Every word that a user may ask about, and the answers of `syncline help WORD`.
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

// By word; a word for several things has several meanings.
const std::map<std::string, std::vector<Meaning>>& meanings();

// The kinds of network that platforms/networks.csv has.
std::map<std::string, std::vector<Meaning>> meanings_of_network_kinds();

// Prints the text of --help.
void print_help();

}  // namespace syncline
