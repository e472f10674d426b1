// syncline-calibrate: measures compressors on this machine's CPU or GPU and writes the cost table
// that simulations use. It builds alone from kernels/, since GPU machines rarely have SimGrid.
#include <cstdio>
#include <ctime>
#include <iostream>

#include "kernels/calibrate/calibrate.h"

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
  if (!options.append.empty())
    read_cost_table(options.append);  // a wrong table is refused before anything is measured
  CostTable table = !options.model.empty()     ? modelled(options)
                    : options.device == "cuda" ? measured_on_cuda(options)
                                               : measured_on_cpu(options);
  if (options.append.empty()) {
    write_cost_table(table, options.out);
    std::cout << "wrote " << table.rows.size() << " rows to " << options.out << "\n";
    return;
  }
  CostTable whole = read_cost_table(options.append);
  if (whole.about("device") != table.about("device"))
    throw std::invalid_argument(options.append + " is of " + whole.about("device") + ", this is " +
                                table.about("device") +
                                ": allowed is adding to a table of the same device");
  whole.rows.insert(whole.rows.end(), table.rows.begin(), table.rows.end());
  write_cost_table(whole, options.append);
  std::cout << "added " << table.rows.size() << " rows to " << options.append << "\n";
}

}  // namespace
}  // namespace syncline

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"--help"}) {
    std::cout << syncline::usage();
    return 0;
  }
  try {
    syncline::run(syncline::parsed_options(arguments));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::cerr << "syncline-calibrate: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "syncline-calibrate: " << error.what() << "\n";
    return 1;
  }
}
