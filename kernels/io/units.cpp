#include "kernels/io/units.h"

#include <map>
#include <sstream>

#include "kernels/io/text.h"

namespace syncline {

bool is_of_bytes(const std::string& option) {
  return option.ends_with("-bytes");
}

std::string without_unit(const std::string& option, const std::string& text) {
  static const std::map<std::string, double> units{
      {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},    {"TB", 1e12},
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const std::size_t unit = text.find_first_of("BkMGTK");
  if (!is_of_bytes(option) || unit == std::string::npos)
    return text;
  const auto found = units.find(text.substr(unit));
  const auto number = number_in(trimmed(text.substr(0, unit)));
  if (found == units.end() || !number)
    return text;
  std::ostringstream plain;
  plain.precision(17);
  plain << *number * found->second;
  return plain.str();
}

}  // namespace syncline
