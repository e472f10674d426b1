// The data of a page, part by part, in the form that its scripts (sim/page/browser/) read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/page/drawn_timeline.h"
#include "sim/page/page.h"
#include "sim/study/charts.h"
#include "sim/study/comparison.h"
#include "sim/study/ranking.h"

namespace syncline {

using PageJson = nlohmann::ordered_json;

// The text for a script: nothing in it can end the script or begin markup.
std::string as_script_data(const PageJson& json);
// Rounds to six digits, which are enough for any chart.
double rounded(double number);

PageJson to_json(const Chart& chart);
// The winner is -1 in a tile without one.
PageJson to_json(const Map& map);
// In a short form: slices are [start, end, verb, bucket, iteration], with times in parts of the
// whole.
PageJson to_json(const DrawnTimeline& timeline);

// A row per cell; a column for each option with two values or more, and for each figure.
PageJson table_of(const PageContent& content, const Comparison& compared, const Ranking& ranking);
// How each worker's iterations are spent; null if there is only one row.
PageJson workers_of(const Result& result);
// The page of what was measured beside a scenario. `measured`: an array of the documents that
// `explain --measured --json` prints of each; `text`: the same for browsers that run no script.
struct MeasuredPage {
  std::vector<std::string> lead;  // sentences
  std::string subject;            // the scenario in short
  std::vector<std::string> notes;
  std::string made_by, command;
  std::vector<std::pair<std::string, std::string>> options;
  std::string text;
};
std::string page_of(const MeasuredPage& page, PageJson measured);

// [word, meaning] of each word of the glossary.
PageJson words_of_page();

}  // namespace syncline
