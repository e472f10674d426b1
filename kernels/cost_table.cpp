#include "kernels/cost_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "kernels/whole_file.h"

namespace syncline {
namespace {

const std::string columns =
    "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

double parsed(const std::string& where, const std::string& column, const std::string& text,
              double minimum) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number < minimum)
    throw std::invalid_argument(where + ": " + column + " = '" + text +
                                "': allowed are numbers from " + number_text(minimum));
  return number;
}

// No simulation asks for a variant: tables hold them for whoever reads them.
bool is_operation(const std::string& text) {
  const std::string known = text.substr(0, text.find('-'));
  return (known == "encode" || known == "decode") && !text.ends_with('-');
}

CostRow parsed_row(const std::string& where, const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 9)
    throw std::invalid_argument(where + ": " + std::to_string(cells.size()) +
                                " columns, allowed are the 9 of " + columns);
  for (const std::size_t column : {0u, 2u, 8u})
    if (cells[column].empty())
      throw std::invalid_argument(where + ": " + split(columns, ',')[column] + " is empty");
  if (!is_operation(cells[2]))
    throw std::invalid_argument(where + ": operation '" + cells[2] +
                                "': allowed are encode, decode, or a variant of either that goes "
                                "on with a dash, as encode-as-published");
  return {cells[0],
          cells[1],
          cells[2],
          parsed(where, "elements", cells[3], 1),
          parsed(where, "seconds", cells[4], 1e-12),
          parsed(where, "p10", cells[5], 0),
          parsed(where, "p90", cells[6], 0),
          parsed(where, "wire_bytes", cells[7], 0),
          cells[8]};
}

const Parameter* parameter_of(const Compressor& compressor, const std::string& name) {
  for (const Parameter& parameter : compressor.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

// As short as can be, and read again to the bit: rows and commands must meet the settings.
std::string exact_text(double number) {
  char text[32];
  for (int digits = 12; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number)
      break;
  }
  return text;
}

std::string value_text(const Parameter& parameter, const Settings& settings) {
  return parameter.choices.empty() ? exact_text(settings.number(parameter.name))
                                   : settings.word(parameter.name);
}

// Does every name=value of the row agree with the settings? The density is not compared: it is left
// in `density`, unless the row speaks for every density.
bool speaks_for(const CostRow& row, const Compressor& compressor, const Settings& settings,
                double& density) {
  if (row.compressor != compressor.name)
    return false;
  std::istringstream words(row.parameters);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const Parameter* parameter = parameter_of(compressor, word.substr(0, equals));
    if (equals == std::string::npos || parameter == nullptr)
      return false;
    const std::string value = word.substr(equals + 1);
    if (parameter->name == "density") {
      density = std::strtod(value.c_str(), nullptr);
      continue;
    }
    if (!parameter->choices.empty() && value != settings.word(parameter->name))
      return false;
    if (parameter->choices.empty() &&
        std::strtod(value.c_str(), nullptr) != settings.number(parameter->name))
      return false;
  }
  return true;
}

const std::string* header_value(const CostTable& table, const std::string& key) {
  for (const auto& [name, value] : table.header)
    if (name == key)
      return &value;
  return nullptr;
}

// What others published is not ours to add to: what is measured makes a table of its own.
bool is_published(const CostTable& table) {
  const std::string* provenance = header_value(table, "provenance");
  return provenance != nullptr && *provenance == "published";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end())
    words.push_back(word);
}

// Measures every compressor with every setting at every size that these name.
std::string command_for(const CostTable& table, const std::vector<CostQuestion>& questions,
                        const std::vector<std::string>& distributions) {
  std::vector<std::string> compressors, sizes;
  std::set<double> elements;
  std::map<std::string, std::vector<std::string>> values;  // by parameter
  std::set<std::string> unusual;                           // parameters not always at the default
  for (const CostQuestion& question : questions) {
    add_once(compressors, question.compressor->name);
    elements.insert(std::ceil(question.elements));
    for (const Parameter& parameter : question.compressor->parameters) {
      const std::string value = value_text(parameter, question.settings);
      add_once(values[parameter.name], value);
      if (parameter.changes_cost &&
          (parameter.fallback.empty() || value != value_text(parameter, Settings({parameter}, {}))))
        unusual.insert(parameter.name);
    }
  }
  for (const double size : elements)
    sizes.push_back(number_text(size));
  std::string command =
      "syncline-calibrate --compressors " + joined(compressors) + " --sizes " + joined(sizes);
  for (const char* own : {"density", "bits"})
    if (const auto found = values.find(own); found != values.end())
      command += (found->first == "density" ? " --densities " : " --bits ") + joined(found->second);
  std::vector<std::string> others;
  for (const std::string& name : unusual)
    if (name != "density" && name != "bits")
      for (const std::string& value : values[name])
        others.push_back(name + "=" + value);
  if (!others.empty())
    command += " --set " + joined(others);
  if (!distributions.empty())
    command += " --distributions " + joined(distributions);
  const std::string* driver = header_value(table, "driver");
  if (const std::string* model = header_value(table, "model"))
    command += " --model " + *model;
  else if (driver != nullptr && !driver->starts_with("none"))
    command += " --device cuda";
  return command + (is_published(table) ? " --out measured.csv" : " --append " + table.path);
}

using Curve = std::vector<const CostRow*>;  // rows of one density, by size

bool covers(const Curve& curve, double elements) {
  return elements >= curve.front()->elements && elements <= curve.back()->elements;
}

double seconds_at(const Curve& curve, double elements) {
  std::size_t next = 0;
  while (curve[next]->elements < elements)
    ++next;
  if (curve[next]->elements == elements)
    return curve[next]->seconds;
  const CostRow &a = *curve[next - 1], &b = *curve[next];
  const double share = std::log(elements / a.elements) / std::log(b.elements / a.elements);
  return a.seconds * std::pow(b.seconds / a.seconds, share);
}

struct Answer {
  double seconds = 0;
  std::string problem = {};       // what the table lacks, if anything
  std::string distribution = {};  // of the rows that new ones must go on from
};

Answer answer(const CostTable& table, const CostQuestion& question) {
  const Compressor& compressor = *question.compressor;
  const Settings& settings = question.settings;
  const std::string& operation = question.operation;
  const double elements = question.elements;
  const bool sparsifies = parameter_of(compressor, "density") != nullptr;
  const double wanted = sparsifies ? settings.number("density") : 0;
  std::map<double, Curve> curves;  // by density
  const CostRow* first = nullptr;
  for (const CostRow& row : table.rows) {
    double density = wanted;
    if (row.operation != operation || !speaks_for(row, compressor, settings, density) ||
        (density <= 0 && density != wanted))  // zero has no logarithm
      continue;
    if (first == nullptr)
      first = &row;
    // One distribution for all, but the very density is worth another one.
    const auto known = curves.find(density);
    const CostRow& like = density != wanted       ? *first
                          : known == curves.end() ? row
                                                  : *known->second.front();
    if (row.distribution == like.distribution)
      curves[density].push_back(&row);
  }
  for (auto& [density, curve] : curves)
    std::stable_sort(curve.begin(), curve.end(),
                     [](const CostRow* a, const CostRow* b) { return a->elements < b->elements; });
  const auto same = curves.find(wanted);
  if (same != curves.end() && covers(same->second, elements))
    return {.seconds = seconds_at(same->second, elements)};

  // The nearest densities on either side that were measured at such sizes.
  auto below = curves.end(), above = curves.end();
  for (auto at = curves.begin(); at != curves.end(); ++at)
    if (covers(at->second, elements)) {
      if (at->first < wanted)
        below = at;
      else if (above == curves.end())
        above = at;
    }
  if (below != curves.end() && above != curves.end()) {
    const double share = std::log(wanted / below->first) / std::log(above->first / below->first);
    const double a = seconds_at(below->second, elements), b = seconds_at(above->second, elements);
    return {.seconds = a * std::pow(b / a, share)};
  }

  const std::string what =
      operation + " of " + compressor.name + " (" + written_settings(compressor, settings) + ")";
  if (curves.empty())
    return {.problem = what + " is not in the table"};
  const double lowest = curves.begin()->first, highest = curves.rbegin()->first;
  if (same == curves.end() && (wanted < lowest || wanted > highest))
    return {.problem = what + ": allowed are densities " + exact_text(lowest) + " to " +
                       exact_text(highest),
            .distribution = first->distribution};
  auto nearest = curves.lower_bound(wanted);  // the neighbour that ends too early
  if (same == curves.end() && covers(nearest->second, elements))
    --nearest;
  const Curve& sizes = nearest->second;
  return {.problem = what + " at " + number_text(elements) + " elements: allowed are " +
                     number_text(sizes.front()->elements) + " to " +
                     number_text(sizes.back()->elements),
          .distribution = sizes.front()->distribution};
}

}  // namespace

std::string written_settings(const Compressor& compressor, const Settings& settings) {
  std::string text;
  for (const Parameter& parameter : compressor.parameters)
    if (parameter.changes_cost)
      text += (text.empty() ? "" : " ") + parameter.name + "=" + value_text(parameter, settings);
  return text;
}

const std::string& CostTable::about(const std::string& key) const {
  if (const std::string* value = header_value(*this, key))
    return *value;
  throw std::invalid_argument(path + ": the header has no '# " + key + ": ...' line");
}

double CostTable::seconds(const Compressor& compressor, const Settings& settings,
                          const std::string& operation, double elements) const {
  const CostQuestion question{&compressor, settings, operation, elements};
  const Answer found = answer(*this, question);
  if (!found.problem.empty())
    throw std::invalid_argument(lacking({question}));
  return found.seconds;
}

double CostTable::lowest_density(const Compressor& compressor) const {
  double lowest = 1;
  bool any = false;
  for (const CostRow& row : rows) {
    const std::size_t at = row.parameters.find("density=");
    if (row.compressor != compressor.name || at == std::string::npos)
      continue;
    lowest = std::min(lowest, std::stod(row.parameters.substr(at + 8)));
    any = true;
  }
  return any ? lowest : 0;
}

std::string CostTable::lacking(const std::vector<CostQuestion>& questions) const {
  std::string problem;
  std::vector<CostQuestion> unanswered;
  std::vector<std::string> distributions;
  for (const CostQuestion& question : questions) {
    const Answer found = answer(*this, question);
    if (found.problem.empty())
      continue;
    if (unanswered.empty())
      problem = found.problem;
    unanswered.push_back(question);
    if (!found.distribution.empty())
      add_once(distributions, found.distribution);
  }
  if (unanswered.empty())
    return "";
  const bool published = is_published(*this);  // the new table must then hold what this one does
  if (published || std::all_of(distributions.begin(), distributions.end(), [](const auto& name) {
        return name == "gauss" || name == "steady";
      }))
    distributions.clear();  // these two are measured anyway
  const std::size_t more = unanswered.size() - 1;
  return path + ": " + problem + (more > 0 ? ", and " + std::to_string(more) + " more" : "") +
         "; to measure " + (more > 0 ? "all" : "it") + ": " +
         command_for(*this, published ? questions : unanswered, distributions);
}

CostTable read_cost_table(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::invalid_argument(path + ": cannot be read");
  CostTable table;
  table.path = path;
  bool in_rows = false;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string where = path + ":" + std::to_string(++number);
    if (file.eof())
      throw std::invalid_argument(where + ": the last line does not end; is the file truncated?");
    if (line.starts_with("#")) {
      const std::size_t colon = line.find(": ");
      if (line.size() < 3 || colon == std::string::npos || in_rows)
        throw std::invalid_argument(where + ": allowed here is '# key: value', before the columns");
      table.header.emplace_back(line.substr(2, colon - 2), line.substr(colon + 2));
    } else if (!in_rows) {
      if (line != columns)
        throw std::invalid_argument(where + ": wrong columns, allowed are " + columns);
      in_rows = true;
    } else {
      table.rows.push_back(parsed_row(where, line));
    }
  }
  if (table.rows.empty())
    throw std::invalid_argument(path + ": no rows; a table has columns " + columns);
  table.about("device");
  const std::string provenance = table.about("provenance");
  if (provenance != "measured" && provenance != "published" && provenance != "modelled")
    throw std::invalid_argument(path + ": provenance '" + provenance +
                                "': allowed are measured, published or modelled");
  return table;
}

void write_cost_table(const CostTable& table, const std::string& path) {
  std::ostringstream file;
  for (const auto& [key, value] : table.header)
    file << "# " << key << ": " << value << "\n";
  file << columns << "\n";
  for (const CostRow& row : table.rows)
    file << row.compressor << "," << row.parameters << "," << row.operation << ","
         << number_text(row.elements) << "," << number_text(row.seconds) << ","
         << number_text(row.p10) << "," << number_text(row.p90) << ","
         << number_text(row.wire_bytes) << "," << row.distribution << "\n";
  write_atomically(path, file.str());
}

}  // namespace syncline
