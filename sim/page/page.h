// A report as one file that a browser opens without a network.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/validation.h"

namespace syncline {

// A report is about these.
struct Findings {
  std::vector<Result> results;          // pooled (sim/study/pooled.h); of a validation as they are
  std::vector<ValidationRow> rows;      // of a validation; otherwise none
  std::vector<std::string> missing;     // a line for each thing that is not in it
  std::string without = {};             // which cells (sim/study/missing.h): for the verdict
  std::vector<std::string> notes = {};  // how results were pooled
  std::string command = {};             // that makes the report again; empty: not known
};

// Every page and summary of ours begins with this, and nothing of anybody else's does.
extern const std::string page_begin;

// Throws std::runtime_error where no page can be made: the program was built without Chart.js, or
// day_of_page() throws.
void require_page();

// The day that a page says it was made: SOURCE_DATE_EPOCH's where it is set, so that a page can be
// made again to the byte (reproducible-builds.org). Throws std::runtime_error where that is no
// date.
std::string day_of_page();

// Strings of the findings are data in it, never markup.
std::string page_of(const Findings& findings);

// The data of a page, for its script: JSON that nothing in it can end or make markup of. It has the
// timelines of the best cells, as many as there are bytes for.
std::string page_data(const Findings& findings, std::size_t most_bytes);

// The report in short, for a pull request.
extern const std::string summary_begin;
std::string summary_of(const Findings& findings);

// The figures of a paper: the name of a file and its SVG.
struct Drawing {
  std::string name;
  std::string svg;
};
std::vector<Drawing> drawings_of(const Findings& findings);

}  // namespace syncline
