// syncline-calibrate: measures compressors on this machine's CPU or GPU and writes the cost table
// that simulations read. Builds from kernels/ alone, since GPU machines rarely have SimGrid.
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "kernels/calibrate/growing_table.h"
#include "kernels/io/standard_streams.h"
#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"

namespace syncline {

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%F", std::gmtime(&now));
  return text;
}

std::string commit() {
  return SYNCLINE_COMMIT;
}

namespace {

int run(const CalibrateOptions& options) {
  const std::string& path = table_path(options);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  remove_unfinished(folder.empty() ? "." : folder.string());
  check_place(path);  // refuse a place that cannot be written before measuring
  if (options.model.empty())
    return options.device == "cuda" ? measure_on_cuda(options) : measure_on_cpu(options);
  CostTable table = modelled(options);
  const std::size_t rows = table.rows.size();
  if (rows == 0) {
    say_nothing_came(options, "none of these has formulas for a model");
    return 1;
  }
  std::size_t older = 0;
  if (!options.append.empty()) {
    CostTable whole = read_cost_table(options.append);
    require_same(whole, "device", table.about("device"), "--append");
    older = take_rows(table.rows, whole);
    table = whole;
  }
  write_cost_table(table, path);
  say_written(options, rows, older);
  return 0;
}

}  // namespace
}  // namespace syncline

int main(int argc, char** argv) {
  syncline::prepare_standard_streams();
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    int code = 0;
    if (arguments == std::vector<std::string>{"--help"})
      std::fputs(syncline::usage().c_str(), stdout);
    else
      code = syncline::run(syncline::parsed_options(arguments));
    syncline::require_printed();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "syncline-calibrate: %s\n", syncline::printable(error.what()).c_str());
    return 2;
  }
}
