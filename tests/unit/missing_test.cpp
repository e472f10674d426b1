// What a verdict says about missing cells.
#include "sim/study/missing.h"

#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "sim/page/page.h"
#include "sim/page/tables.h"
#include "sim/study/ranking.h"
#include "sim/sweep/cell_inputs.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

std::vector<CellOptions> cells_of(const std::vector<Result>& results) {
  std::vector<CellOptions> cells;
  for (const Result& result : results)
    cells.push_back(result.options);
  return cells;
}

// bsp and asp with 1, 2, 4 and 8 workers; only the first two cells exist.
TEST(Missing, CellsAreCountedAndNamedByWhatTellsThemApart) {
  const std::vector<Result> all = made_sweep();
  const std::vector<Result> some(all.begin(), all.begin() + 2);
  EXPECT_EQ(missing_shown(cells_of(all), some),
            "6 of 8 cells (ring, bsp, 2 workers; ps, asp, 2 workers; ring, bsp, 4 workers; 3 "
            "more)");
  EXPECT_EQ(missing_shown(cells_of(all), all), "");
}

TEST(Missing, IsInTheVerdictBeforeAnyWinner) {
  std::vector<Result> all = made_sweep();
  const std::vector<CellOptions> cells = cells_of(all);
  all.erase(all.end() - 2);  // bsp with 8 workers, the baseline of asp
  const std::string without = missing_shown(cells, all);
  EXPECT_TRUE(ranked(all, without)
                  .sentences.front()
                  .starts_with("Without 1 of 8 cells (ring, bsp, 8 workers): At 8 workers asp"))
      << ranked(all, without).sentences.front();
  expect_mentions(summary_of({.results = all, .rows = {}, .missing = {}, .without = without}),
                  {"**Without 1 of 8 cells"});
  expect_mentions(
      page_data({.results = all, .rows = {}, .missing = {}, .without = without}, 1'000'000),
      {"Without 1 of 8 cells"});
  // A single cell has no competitor, but the missing cells are still named.
  EXPECT_EQ(ranked({all.front()}, "7 of 8 cells (a; b; c; 4 more)").sentences,
            std::vector<std::string>{"Without 7 of 8 cells (a; b; c; 4 more)."});
}

TEST(Missing, CellsAreRowsOfTheTableWithoutFigures) {
  std::vector<Result> all = made_sweep();
  for (Result& result : all)
    result.options.push_back({.name = "best-of-seeds", .value = "seeds 1, 2"});
  const std::vector<Result> some(all.begin(), all.begin() + 3);
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "results.csv", results_csv(some, option_names(), without_result(cells_of(all), some)));
  const std::vector<CellOptions> listed = cells_listed_in(path);
  EXPECT_EQ(listed.size(), 8U);
  EXPECT_EQ(missing_shown(listed, all), "");
  EXPECT_EQ(missing_shown(listed, some), missing_shown(cells_of(all), some));
  EXPECT_TRUE(text_of_file(path, 1'000'000).ends_with(",,,\n"));
  EXPECT_TRUE(cells_listed_in(folder.path("no such file")).empty());
  folder.write("grades.csv", "name,grade\nme,1\n");
  expect_mentions(error_of([&] { cells_listed_in(folder.path("grades.csv")); }),
                  {"grades.csv:1: no column simulated_as"});
}

}  // namespace
}  // namespace syncline
