#include "kernels/cost_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "kernels/io/text.h"

namespace syncline {
namespace {

// The shortest text that reads back to the same bits: rows and commands must match the settings.
std::string exact_text(double number) {
  char text[32];
  for (int digits = 12; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number)
      break;
  }
  return text;
}

std::string value_text(const OwnOption& option, const Settings& settings) {
  return option.choices.empty() ? exact_text(settings.number(option.name))
                                : settings.word(option.name);
}

// Whether every name=value of the row agrees with the settings. The density is not compared: it is
// stored in `density`, unless the row covers every density.
bool speaks_for(const CostRow& row, const Compressor& compressor, const Settings& settings,
                double& density) {
  if (row.compressor != compressor.name)
    return false;
  std::istringstream words(row.settings);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const OwnOption* option = option_named(compressor.options, word.substr(0, equals));
    if (equals == std::string::npos || option == nullptr)
      return false;
    const std::string value = word.substr(equals + 1);
    if (option->name == density_name) {
      density = std::strtod(value.c_str(), nullptr);
      continue;
    }
    if (!option->choices.empty() && value != settings.word(option->name))
      return false;
    if (option->choices.empty() &&
        std::strtod(value.c_str(), nullptr) != settings.number(option->name))
      return false;
  }
  return true;
}

const std::string* header_value(const CostTable& table, const std::string& key) {
  const auto found =
      std::ranges::find(table.header, key, &std::pair<std::string, std::string>::first);
  return found == table.header.end() ? nullptr : &found->second;
}

// Published figures are not ours to extend: measured rows go into a table of their own.
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

// The command that measures every compressor, setting and size in the questions.
std::string command_for(const CostTable& table, const std::vector<CostQuestion>& questions,
                        const std::vector<std::string>& distributions) {
  std::vector<std::string> compressors, sizes;
  std::set<double> elements;
  std::map<std::string, std::vector<std::string>> values;  // by option
  std::set<std::string> unusual;                           // options not always at their default
  for (const CostQuestion& question : questions) {
    add_once(compressors, question.compressor->name);
    elements.insert(std::ceil(question.elements));
    for (const OwnOption& option : question.compressor->options) {
      const std::string value = value_text(option, question.settings);
      add_once(values[option.name], value);
      if (option.changes_cost &&
          (option.fallback.empty() || value != value_text(option, Settings({option}, {}))))
        unusual.insert(option.name);
    }
  }
  for (const double size : elements)
    sizes.push_back(number_text(size));
  std::string command =
      "syncline-calibrate --compressors " + joined(compressors) + " --sizes " + joined(sizes);
  for (const std::string own : {density_name, "bits"})
    if (const auto found = values.find(own); found != values.end())
      command += (own == density_name ? " --densities " : " --bits ") + joined(found->second);
  std::vector<std::string> others;
  for (const std::string& name : unusual)
    if (name != density_name && name != "bits")
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

double seconds_at(const Curve& curve, double elements, double CostRow::*figure) {
  std::size_t next = 0;
  while (curve[next]->elements < elements)
    ++next;
  if (curve[next]->elements == elements)
    return curve[next]->*figure;
  const CostRow &a = *curve[next - 1], &b = *curve[next];
  const double share = std::log(elements / a.elements) / std::log(b.elements / a.elements);
  return a.*figure * std::pow(b.*figure / a.*figure, share);
}

struct Answer {
  double seconds = 0;
  std::string problem = {};       // what the table lacks, if anything
  std::string distribution = {};  // of the rows that new rows must continue
};

Answer answer(const CostTable& table, const CostQuestion& question,
              double CostRow::*figure = &CostRow::seconds) {
  const Compressor& compressor = *question.compressor;
  const Settings& settings = question.settings;
  const std::string& operation = question.operation;
  const double elements = question.elements;
  if (elements > most_elements)
    return {.problem = operation + " of " + compressor.name + " at " + number_text(elements) +
                       " elements: buckets have at most " + number_text(most_elements) +
                       ", which messages number in 32 bits"};
  const bool sparsifies = has_density(compressor);
  const double wanted = sparsifies ? density_of(settings) : 0;
  std::map<double, Curve> curves;  // by density
  const CostRow* first = nullptr;
  for (const CostRow& row : table.rows) {
    double density = wanted;
    if (row.operation != operation || !speaks_for(row, compressor, settings, density) ||
        (density <= 0 && density != wanted))  // zero has no logarithm
      continue;
    if (first == nullptr)
      first = &row;
    // All rows used have the distribution of the first one; rows of exactly the wanted density may
    // have another.
    const auto known = curves.find(density);
    const CostRow& like = density != wanted       ? *first
                          : known == curves.end() ? row
                                                  : *known->second.front();
    if (row.distribution == like.distribution)
      curves[density].push_back(&row);
  }
  for (auto& [density, curve] : curves)
    std::ranges::stable_sort(curve, {}, &CostRow::elements);
  const auto same = curves.find(wanted);
  if (same != curves.end() && covers(same->second, elements))
    return {.seconds = seconds_at(same->second, elements, figure)};

  // The nearest densities on either side measured at such sizes.
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
    const double a = seconds_at(below->second, elements, figure);
    const double b = seconds_at(above->second, elements, figure);
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
  auto nearest = curves.lower_bound(wanted);  // the neighbour whose sizes end too early
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
  for (const OwnOption& option : compressor.options)
    if (option.changes_cost)
      text += (text.empty() ? "" : " ") + option.name + "=" + value_text(option, settings);
  return text;
}

const std::string& CostTable::about(const std::string& key) const {
  if (const std::string* value = header_value(*this, key))
    return *value;
  throw std::invalid_argument(path + ": the header has no '# " + key + ": ...' line");
}

bool CostTable::is_range() const {
  return header_value(*this, "range") != nullptr;
}

double CostTable::seconds(const Compressor& compressor, const Settings& settings,
                          const std::string& operation, double elements,
                          double CostRow::*figure) const {
  const CostQuestion question{&compressor, settings, operation, elements};
  const Answer found = answer(*this, question, figure);
  if (!found.problem.empty())
    throw std::invalid_argument(lacking({question}));
  return found.seconds;
}

double CostTable::lowest_density(const Compressor& compressor) const {
  double lowest = 1;
  bool any = false;
  for (const CostRow& row : rows) {
    const std::size_t at = row.settings.find("density=");
    if (row.compressor != compressor.name || at == std::string::npos)
      continue;
    lowest = std::min(lowest, std::strtod(row.settings.c_str() + at + 8, nullptr));
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
    if (question.elements > most_elements)  // no command could add it
      return path + ": " + found.problem;
    if (unanswered.empty())
      problem = found.problem;
    unanswered.push_back(question);
    if (!found.distribution.empty())
      add_once(distributions, found.distribution);
  }
  if (unanswered.empty())
    return "";
  const bool published = is_published(*this);  // the new table must then hold these rows too
  if (published || std::all_of(distributions.begin(), distributions.end(), [](const auto& name) {
        return name == "gauss" || name == "steady";
      }))
    distributions.clear();  // always measured
  const std::size_t more = unanswered.size() - 1;
  const std::string all = more > 0 ? "all" : "it";
  return path + ": " + problem + (more > 0 ? ", and " + std::to_string(more) + " more" : "") +
         (header_value(*this, "model") != nullptr
              ? "; the table is modelled, and needs no device; to add " + all + ": "
              : "; to measure " + all + ": ") +
         command_for(*this, published ? questions : unanswered, distributions);
}

}  // namespace syncline
