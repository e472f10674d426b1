// A report as one file that a browser opens without a network.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/validation.h"

namespace syncline {

// The content of a report.
struct PageContent {
  std::vector<Result> results;       // pooled (sim/study/pooled.h); not pooled for a validation
  std::vector<ValidationRow> rows;   // of a validation; else none
  std::vector<std::string> missing;  // a line for each thing that is missing
  std::string without = {};  // which cells are missing (sim/study/missing.h), for the verdict
  std::vector<std::string> notes = {};  // how results were pooled
  std::string command = {};             // the command that makes the report again; empty: not known
};

// Every page begins with this, and no file of other programs does.
extern const std::string page_begin;

// Throws std::runtime_error if no page can be made: the program was built without Chart.js, or
// day_of_page() throws.
void require_page();

// The day on which a page is made: the day of SOURCE_DATE_EPOCH if that is set, so that a page can
// be made again to the byte (reproducible-builds.org). Throws std::runtime_error if that is not a
// date.
std::string day_of_page();

// The whole page. Strings of the content are data in it, never markup.
std::string page_of(const PageContent& content);

// A page of data for its script, with markup for browsers that run none. `script`: more of it.
std::string page_with(const std::string& data, const std::string& noscript,
                      const std::string& script = "");

// The data of a page, for its script: JSON in which nothing can end the script or begin markup. It
// has the timelines of the best cells, as many as fit into `most_bytes`.
std::string page_data(const PageContent& content, std::size_t most_bytes);

// The report in short, for a pull request, and the beginning of its text.
extern const std::string summary_begin;
std::string summary_of(const PageContent& content);

// A figure for a paper: the name of its file, and its SVG.
struct Drawing {
  std::string name;
  std::string svg;
};
std::vector<Drawing> drawings_of(const PageContent& content);

}  // namespace syncline
