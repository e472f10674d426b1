// What --resume finds in the folder of --out: a result of ours is shown, nothing else is.
#include "sim/report/result.h"

#include "sim/commands/sweep.h"
#include "sim/commands/written.h"
#include "sim/options/resolve.h"
#include "sim/report/learned_tables.h"
#include "sim/report/learning.h"
#include "sim/report/page.h"
#include "sim/report/page_parts.h"
#include "sim/report/ranking.h"
#include "sim/report/tables.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  static const SweepCell cell{.scenario = resolve({{"platform", {"two-hosts", "--platform"}},
                                                   {"model", {"resnet20", "--model"}},
                                                   {"throughput", {"100", "--throughput"}}})};
  const std::string path = file_of(bytes, "result.json");
  nlohmann::ordered_json result;
  reads(bytes, [&] {
    result = read_result(path);
    is_finished(cell, result);
  });
  if (!result.is_null())
    reads(bytes, [&] {
      for (const std::string& shown :
           {full_report(result), comparison_table({result, result}, {"workers", "schedule"}),
            results_csv({result, result}, option_names())})
        require_plain_text(bytes, shown);
      if (learns(result))
        for (const std::string& table : learned_tables)
          require_plain_text(bytes, table_csv(result, table));
      for (const std::string& sentence : rank({result, result}).sentences)
        require_plain_text(bytes, sentence);
      nlohmann::ordered_json other = result;
      other["scenario"]["schedule"] = "other";
      other["figures"]["worker_count"] = 7;
      const Findings findings{.results = {result, other}, .rows = {}, .missing = {}};
      require_plain_text(bytes, summary_of(findings));
      for (const Drawing& figure : figures_of(findings))
        require_plain_text(bytes, figure.svg);
      if (!page_parts::chart_js.empty())
        page_of(findings);
    });
}

const Registered<Reader> entry{{.name = "result", .read = read}};

}  // namespace
}  // namespace syncline
