// Files that --resume finds in the folder of --out: a result of ours is shown, others are not.
#include "sim/options/resolve.h"
#include "sim/page/page.h"
#include "sim/page/page_parts.h"
#include "sim/page/tables.h"
#include "sim/report/learned_tables.h"
#include "sim/report/learning.h"
#include "sim/report/result_json.h"
#include "sim/study/ranking.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/sweep.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  static const SweepCell cell{.scenario = resolve({{"platform", {"two-hosts", "--platform"}},
                                                   {"model", {"resnet20", "--model"}},
                                                   {"throughput", {"100", "--throughput"}}})};
  const std::string path = file_of(bytes, "result.json");
  std::optional<Result> found;
  reads(bytes, [&] {
    found = read_result(path);
    if (found)
      is_finished(cell, *found);
  });
  if (!found)
    return;
  const Result& result = *found;
  reads(bytes, [&] {
    for (const std::string& shown :
         {full_report(result), comparison_table({result, result}, {"workers", "schedule"}),
          results_csv({result, result}, option_names())})
      require_plain_text(bytes, shown);
    if (result.learned)
      for (const LearnedTable& table : learned_tables())
        require_plain_text(bytes, table_csv(*result.learned, table));
    const Results twice{result, result};
    for (const std::string& sentence : rank(comparison_of(twice)).sentences)
      require_plain_text(bytes, sentence);
    Result other = result;
    other.options.push_back({.name = "schedule", .value = "other"});
    other.figures.worker_count = 7;
    const PageContent content{.results = {result, other}, .rows = {}, .missing = {}};
    require_plain_text(bytes, summary_of(content));
    for (const Drawing& figure : drawings_of(content))
      require_plain_text(bytes, figure.svg);
    if (!page_parts::chart_js.empty())
      page_of(content);
  });
}

const Registered<Reader> entry{{.name = "result", .read = read}};

}  // namespace
}  // namespace syncline
