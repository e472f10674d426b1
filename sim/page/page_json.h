// The data of a page, part by part, as its scripts (sim/page/browser/) read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/page/drawn_timeline.h"
#include "sim/page/page.h"
#include "sim/study/charts.h"
#include "sim/study/ranking.h"
#include "sim/study/study.h"

namespace syncline {

using PageJson = nlohmann::ordered_json;

// The text can be a part of a script: nothing in it can end the script or begin markup.
std::string as_script_data(const PageJson& json);
// Six digits are enough for any chart.
double rounded(double number);

PageJson to_json(const Chart& chart);
// A tile without a winner has -1.
PageJson to_json(const Map& map);
// It is short: slices are [start, end, verb, bucket, iteration] in parts of the whole.
PageJson to_json(const DrawnTimeline& timeline);

// A row per cell: a column per option that has two values, or figure.
PageJson table_of(const Findings& findings, const Study& study, const Ranking& ranking);
// Where the iterations of each worker go; null where there is one row only.
PageJson workers_of(const Result& result);
// [word, meaning] of each word of the glossary.
PageJson words_of_page();

}  // namespace syncline
