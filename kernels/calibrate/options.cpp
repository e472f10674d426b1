#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "kernels/calibrate/calibrate.h"
#include "kernels/calibrate/rates.h"
#include "kernels/io/text.h"

namespace syncline {
namespace {

// A value given twice is measured once: a table has one row per key.
template <class Value>
void add_once(std::vector<Value>& values, const Value& value) {
  if (std::find(values.begin(), values.end(), value) == values.end())
    values.push_back(value);
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream words(text + ',');
  for (std::string part; std::getline(words, part, ',');)
    add_once(parts, part);
  return parts;
}

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& allowed) {
  throw std::invalid_argument(option + " " + brief(value) + ": allowed are " + allowed);
}

// Reads "65536" or "2^16".
std::size_t size_of(const std::string& text) {
  const auto exponent = number_in<unsigned>(text.starts_with("2^") ? text.substr(2) : "");
  const double size = exponent ? std::exp2(*exponent) : number_in(text).value_or(0);
  if (!(size >= 1) || size > most_elements || size != std::floor(size))
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

std::string name_in(const std::string& option, const std::string& value,
                    const std::vector<std::string>& allowed) {
  const std::vector<std::string> names = names_in(option, value, allowed);
  if (names.size() != 1)
    refuse(option, value, "one of " + listed(allowed));
  return names.front();
}

void set(CalibrateOptions& options, const std::string& option, const std::string& value) {
  if (value.empty())
    refuse(option, "''", "values; see --help");
  if (option == "--device") {
    options.device = name_in(option, value, {"cpu", "cuda"});
  } else if (option == "--out") {
    options.out = value;
  } else if (option == "--append") {
    options.append = value;
  } else if (option == "--resume") {
    options.resume = value;
  } else if (option == "--budget") {
    options.budget_s = checked_number(number("--budget", "", "", 0, 1e9), value);
  } else if (option == "--model") {
    options.model = name_in(option, value, rated_names());
  } else if (option == "--compressors") {
    options.compressors = names_in(option, value, Registered<Compressor>::names());
  } else if (option == "--densities") {
    options.densities = list_of(value);
  } else if (option == "--bits") {
    options.bits = list_of(value);
  } else if (option == "--set") {
    for (const std::string& part : list_of(value)) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos)
        refuse(option, part, "name=value, a parameter of a compressor; see --help");
      options.set[part.substr(0, equals)].push_back(part.substr(equals + 1));
    }
  } else if (option == "--distributions") {
    options.distributions = names_in(option, value, gradient_names());
  } else if (option == "--baselines") {
    options.baselines = names_in(option, value, {"on", "off"}).front() == "on";
  } else if (option == "--threads") {
    options.threads =
        static_cast<int>(checked_number(whole_number("--threads", "", "", 1, 1024), value));
  } else if (option == "--sizes") {
    options.sizes.clear();
    for (const std::string& size : list_of(value))
      add_once(options.sizes, size_of(size));
  } else {
    throw std::invalid_argument("unknown option " + brief(option) + ": --help lists the options");
  }
}

// Each --set name must be an option of a chosen compressor and not have a command-line option of
// its own.
void check_set(const CalibrateOptions& options) {
  std::set<std::string> known;
  for (const std::string& name : options.compressors)
    for (const OwnOption& option : Registered<Compressor>::find(name).options)
      if (option.name != density_name && option.name != "bits")
        known.insert(option.name);
  for (const auto& [name, values] : options.set)
    if (!known.contains(name))
      refuse("--set", name,
             known.empty() ? "none for these compressors" : listed({known.begin(), known.end()}));
}

// Some compressor must allow each value, a chosen one or not: the baselines use the values too.
void check_values(const std::string& option_name, const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    std::string problem;
    bool allowed = false;
    for (const auto& [name, compressor] : Registered<Compressor>::all())
      if (const OwnOption* option = option_named(compressor.options, option_name);
          option != nullptr && !allowed)
        try {
          checked_number(*option, value);
          allowed = true;
        } catch (const std::invalid_argument& error) {
          problem = error.what();
        }
    if (!allowed)
      throw std::invalid_argument(problem);
  }
}

// The sizes and densities that the tables in profiles/ hold: those that simulations ask for, with a
// margin.
void set_defaults_of_model(CalibrateOptions& options, bool all_compressors) {
  options.sizes.clear();
  for (int power = 0; power <= 30; power += 2)
    options.sizes.push_back(std::size_t{1} << power);
  options.sizes.push_back(static_cast<std::size_t>(most_elements));
  options.densities = {"0.0001", "0.001", "0.01", "0.1", "0.25", "1"};
  if (!all_compressors)
    return;
  options.bits = {"2", "4", "8"};
  options.set = {
      {"bin", {"50", "500"}}, {"quant-bucket", {"512", "128"}}, {"rank", {"1", "2", "4", "8"}}};
}

// Every combination of the values of these options.
std::vector<std::map<std::string, std::string>> combinations(
    const std::map<std::string, std::vector<std::string>>& values) {
  std::vector<std::map<std::string, std::string>> all(1);
  for (const auto& [name, choices] : values) {
    std::vector<std::map<std::string, std::string>> longer;
    for (const std::map<std::string, std::string>& one : all)
      for (const std::string& choice : choices) {
        longer.push_back(one);
        longer.back()[name] = choice;
      }
    all = longer;
  }
  return all;
}

}  // namespace

std::string usage() {
  return "syncline-calibrate measures what compressors cost on this device.\n"
         "  --out FILE              write this cost table, row by row; or use one of these two:\n"
         "  --append FILE           add the rows to this table\n"
         "  --resume FILE           finish a table that the same command has begun\n"
         "  --budget SECONDS        begin no measurement after this time; the table names what it "
         "lacks\n"
         "  --device cpu|cuda       default cpu\n"
         "  --model NAME            write a modelled table instead of measuring, for " +
         listed(rated_names()) +
         ";\n"
         "                          sizes, densities and settings default to those of the tables "
         "in\n"
         "                          kernels/profiles\n"
         "  --compressors a,b       default all: " +
         listed(Registered<Compressor>::names()) +
         "\n"
         "  --sizes 2^16,2^20       numbers of elements; default "
         "2^8,2^12,2^16,2^18,2^20,2^22,2^24\n"
         "  --densities 0.001,0.01  for compressors with a density (default: these two)\n"
         "  --bits 4                for compressors with bits (default: 4)\n"
         "  --set rank=2,rank=4     their other parameters; repeat a name to add a value\n"
         "  --distributions gauss   of the gradients; default gauss,steady; one or more of " +
         listed(gradient_names()) +
         "\n"
         "  --threads N             default: all that the machine has\n"
         "  --baselines on|off      also measure memcpy, std::nth_element and std::sort; default "
         "on\n";
}

const std::string& table_path(const CalibrateOptions& options) {
  return !options.out.empty()      ? options.out
         : !options.append.empty() ? options.append
                                   : options.resume;
}

CalibrateOptions parsed_options(const std::vector<std::string>& arguments) {
  CalibrateOptions options;
  options.compressors = Registered<Compressor>::names();
  options.densities = {"0.001", "0.01"};
  options.bits = {"4"};
  options.distributions = {"gauss", "steady"};
  for (const int power : {8, 12, 16, 18, 20, 22, 24})
    options.sizes.push_back(std::size_t{1} << power);
  const auto given = [&](const std::string& option) {
    for (std::size_t i = 0; i < arguments.size(); i += 2)
      if (arguments[i] == option)
        return true;
    return false;
  };
  if (given("--model"))  // any other option then replaces these
    set_defaults_of_model(options, !given("--compressors"));
  if (given("--set"))
    options.set.clear();
  options.command = "syncline-calibrate";
  const std::set<std::string> about_the_table = {"--out", "--append", "--resume", "--budget"};
  std::set<std::string> seen;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size())
      throw std::invalid_argument(brief(arguments[i]) + " needs a value");
    if (!seen.insert(arguments[i]).second)
      throw std::invalid_argument(brief(arguments[i]) + " is given twice");
    set(options, arguments[i], arguments[i + 1]);
    if (!about_the_table.contains(arguments[i]))
      options.command += " " + arguments[i] + " " + arguments[i + 1];
  }
  if ((options.out.empty() ? 0 : 1) + (options.append.empty() ? 0 : 1) +
          (options.resume.empty() ? 0 : 1) !=
      1)
    throw std::invalid_argument("give one of --out FILE, --append FILE and --resume FILE");
  if (!options.model.empty() && !options.resume.empty())
    throw std::invalid_argument("--resume with --model: allowed are --out and --append");
  check_set(options);
  check_values(density_name, options.densities);
  check_values("bits", options.bits);
  cells_of(options);  // refuse bad values before measuring
  return options;
}

std::vector<Cell> cells_of(const CalibrateOptions& options) {
  std::map<std::string, std::vector<std::string>> asked = options.set;
  asked[density_name] = options.densities;
  asked["bits"] = options.bits;
  std::vector<Cell> cells;
  for (const std::string& name : options.compressors) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    std::map<std::string, std::vector<std::string>> values;
    for (const OwnOption& option : compressor.options)
      if (const auto found = asked.find(option.name); found != asked.end())
        values.insert(*found);
    std::set<std::string> seen;
    for (const std::map<std::string, std::string>& given : combinations(values)) {
      const Settings settings(compressor.options, given);
      if (seen.insert(written_settings(compressor, settings)).second)
        cells.push_back({&compressor, settings});
    }
  }
  return cells;
}

}  // namespace syncline
