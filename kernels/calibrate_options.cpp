#include <algorithm>
#include <cmath>
#include <sstream>

#include "kernels/calibrate.h"

namespace syncline {
namespace {

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part);
  return parts;
}

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& allowed) {
  throw std::invalid_argument(option + " " + value + ": allowed are " + allowed);
}

// "65536", or "2^16".
std::size_t size_of(const std::string& text) {
  constexpr double largest = 1ull << 32;
  double size = 0;
  char* end = nullptr;
  size = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '^' && size == 2)
    size = std::exp2(std::strtod(end + 1, &end));
  if (text.empty() || *end != '\0' || !(size >= 1) || size >= largest || size != std::floor(size))
    refuse("--sizes", text, "whole numbers from 1 to 2^32 - 1, as 65536 or 2^16");
  return static_cast<std::size_t>(size);
}

std::vector<std::string> names_in(const std::string& option, const std::string& value,
                                  const std::vector<std::string>& allowed) {
  for (const std::string& name : list_of(value))
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
      refuse(option, name, listed(allowed));
  return list_of(value);
}

void set(CalibrateOptions& options, const std::string& option, const std::string& value) {
  if (value.empty())
    refuse(option, "''", "values; see --help");
  if (option == "--device") {
    options.device = names_in(option, value, {"cpu", "cuda"}).front();
  } else if (option == "--out") {
    options.out = value;
  } else if (option == "--append") {
    options.append = value;
  } else if (option == "--model") {
    options.model = names_in(option, value, {"h100", "a100", "v100"}).front();
  } else if (option == "--compressors") {
    options.compressors = names_in(option, value, Registered<Compressor>::names());
  } else if (option == "--densities") {
    options.densities = list_of(value);
  } else if (option == "--bits") {
    options.bits = list_of(value);
  } else if (option == "--distributions") {
    options.distributions = names_in(option, value, gradient_names());
  } else if (option == "--baselines") {
    options.baselines = names_in(option, value, {"on", "off"}).front() == "on";
  } else if (option == "--threads") {
    options.threads = static_cast<int>(
        checked_number({.name = "--threads", .minimum = 1, .maximum = 1024, .whole = true}, value));
  } else if (option == "--sizes") {
    options.sizes.clear();
    for (const std::string& size : list_of(value))
      options.sizes.push_back(size_of(size));
  } else {
    throw std::invalid_argument("unknown option " + option + ": see --help for those there are");
  }
}

bool takes(const Compressor& compressor, const std::string& parameter) {
  return std::any_of(compressor.parameters.begin(), compressor.parameters.end(),
                     [&](const Parameter& p) { return p.name == parameter; });
}

}  // namespace

std::string usage() {
  return "syncline-calibrate measures what compressors cost on this device.\n"
         "  --out FILE              the cost table to write (needed, unless --append)\n"
         "  --append FILE           add the rows to this table instead\n"
         "  --device cpu|cuda       default cpu\n"
         "  --model h100|a100|v100  write a modelled table instead of measuring\n"
         "  --compressors a,b       default all: " +
         listed(Registered<Compressor>::names()) +
         "\n"
         "  --sizes 2^16,2^20       elements; default 2^16,2^18,2^20,2^22,2^24\n"
         "  --densities 0.001,0.01  for those that take one (default these two)\n"
         "  --bits 4                for those that take them (default 4)\n"
         "  --distributions gauss   of the gradients; default gauss,steady, out of " +
         listed(gradient_names()) +
         "\n"
         "  --threads N             default: what the machine has\n"
         "  --baselines on|off      memcpy, std::nth_element and std::sort too; default on\n";
}

CalibrateOptions parsed_options(const std::vector<std::string>& arguments) {
  CalibrateOptions options;
  options.compressors = Registered<Compressor>::names();
  options.densities = {"0.001", "0.01"};
  options.bits = {"4"};
  options.distributions = {"gauss", "steady"};
  for (int power = 16; power <= 24; power += 2)
    options.sizes.push_back(std::size_t{1} << power);
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size())
      throw std::invalid_argument(arguments[i] + " needs a value");
    set(options, arguments[i], arguments[i + 1]);
  }
  if (options.out.empty() == options.append.empty())
    throw std::invalid_argument("give one of --out FILE and --append FILE");
  cells_of(options);  // bad densities and bits are refused before anything runs
  return options;
}

std::vector<Cell> cells_of(const CalibrateOptions& options) {
  std::vector<Cell> cells;
  for (const std::string& name : options.compressors) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const std::vector<std::string> unset = {""};
    for (const std::string& density : takes(compressor, "density") ? options.densities : unset)
      for (const std::string& bits : takes(compressor, "bits") ? options.bits : unset) {
        std::map<std::string, std::string> given;
        if (!density.empty())
          given["density"] = density;
        if (!bits.empty())
          given["bits"] = bits;
        cells.push_back({&compressor, Settings(compressor.parameters, given)});
      }
  }
  return cells;
}

}  // namespace syncline
