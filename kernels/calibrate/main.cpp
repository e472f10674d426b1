// syncline-calibrate: measures compressors on this machine's CPU or GPU and writes the cost table
// that simulations use. It builds alone from kernels/, since GPU machines rarely have SimGrid.
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <set>

#include "kernels/calibrate/calibrate.h"
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

void run(const CalibrateOptions& options) {
  const std::string& path = options.append.empty() ? options.out : options.append;
  if (!options.append.empty())
    read_cost_table(options.append);  // a wrong table is refused before anything is measured
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  remove_unfinished(folder.empty() ? "." : folder.string());
  check_place(path);  // and so is a place that cannot be written
  CostTable table = !options.model.empty()     ? modelled(options)
                    : options.device == "cuda" ? measured_on_cuda(options)
                                               : measured_on_cpu(options);
  if (options.append.empty()) {
    write_cost_table(table, options.out);
    std::printf("wrote %zu rows to %s\n", table.rows.size(), path.c_str());
    return;
  }
  CostTable whole = read_cost_table(options.append);
  if (whole.about("device") != table.about("device"))
    throw std::invalid_argument(options.append + " is of " + whole.about("device") + ", this is " +
                                table.about("device") +
                                ": allowed is adding to a table of the same device");
  std::set<CostRow::Key> measured_again;
  for (const CostRow& row : table.rows)
    measured_again.insert(row.key());
  const auto older = std::erase_if(
      whole.rows, [&](const CostRow& row) { return measured_again.contains(row.key()); });
  whole.rows.insert(whole.rows.end(), table.rows.begin(), table.rows.end());
  write_cost_table(whole, options.append);
  std::printf("added %zu rows to %s%s\n", table.rows.size(), path.c_str(),
              older == 0 ? "" : (", " + std::to_string(older) + " of them for older ones").c_str());
}

}  // namespace
}  // namespace syncline

int main(int argc, char** argv) {
  syncline::prepare_standard_streams();
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--help"})
      std::fputs(syncline::usage().c_str(), stdout);
    else
      syncline::run(syncline::parsed_options(arguments));
    syncline::require_printed();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "syncline-calibrate: %s\n", syncline::printable(error.what()).c_str());
    return 2;
  }
}
