#include "sim/study/names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

#include "kernels/io/text.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

constexpr std::pair<const char*, const char*> subject_options[] = {{"model", "models"},
                                                                   {"batch", "batches"},
                                                                   {"platform", "platforms"},
                                                                   {"network", "network models"}};

// The words that tell platforms apart: "cards=8x400Gbps" if all are of family dgx.
std::string without_common_words(const std::string& value, const std::set<std::string>& values) {
  const Words words = split(value, ':');
  Words own;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto has = [&](const std::string& other) {
      const Words theirs = split(other, ':');
      return i == 0 ? theirs.front() == words.front() : is_among(words[i], theirs);
    };
    const bool all_have = std::ranges::all_of(values, has);
    if (i == 0 && !all_have)
      return value;
    if (!all_have)
      own.push_back(words[i]);
  }
  return own.empty() ? words.front() : fmt::format("{}", fmt::join(own, ":"));
}

// Escaped as in URLs, so that different values give different names.
std::string in_file_name(const std::string& value) {
  std::string name;
  for (const char c : value)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+')
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return name;
}

}  // namespace

std::string setting_shown(const std::string& option, const std::string& value) {
  return option == "workers" ? value + (value == "1" ? " worker" : " workers")
                             : option + " " + value;
}

std::string short_setting(const std::string& option, const std::string& value) {
  static const Words names{"name",     "model",      "platform", "schedule",
                           "exchange", "compressor", "precision"};
  if (!is_among(option, names))
    return setting_shown(option, value);
  if (option == "compressor" && value == "none")
    return "no compressor";
  const std::size_t folder = value.rfind('/');  // the value is the path of a platform or a model
  const std::size_t ending = value.rfind('.');
  if (folder == std::string::npos || folder + 1 == value.size())
    return value;
  return value.substr(folder + 1, ending != std::string::npos && ending > folder + 1
                                      ? ending - folder - 1
                                      : std::string::npos);
}

std::map<std::string, std::string> names_of_values(const Results& results,
                                                   const std::string& option, bool shortest) {
  std::set<std::string> values;
  for (const Result& result : results)
    values.insert(result.setting(option));
  std::map<std::string, std::string> names;
  std::map<std::string, int> called;
  for (const std::string& value : values) {
    names[value] = shortest && option == "platform" && values.size() > 1
                       ? short_setting(option, without_common_words(value, values))
                       : short_setting(option, value);
    ++called[names[value]];
  }
  for (auto& [value, name] : names)
    if (called[name] > 1)
      name = value;
  return names;
}

std::string choice_shown(const Result& result, const Words& told) {
  const auto part = [&](const char* option) {
    return is_among(option, told) ? result.option(option) : std::string();
  };
  std::string text = part("name");
  const std::string exchange = part("exchange");
  const std::string compressor = part("compressor");
  if (text.empty())
    text = part("schedule");
  if (text.empty() && !compressor.empty())
    text = short_setting("compressor", compressor);
  else if (!compressor.empty())
    text += compressor == "none" ? " uncompressed" : " with " + compressor;
  if (!exchange.empty())
    text += (text.empty() ? "" : " over ") + exchange;
  for (const std::string& option : told)
    if (option != "name" && option != "schedule" && option != "exchange" &&
        option != "compressor" && !result.option(option).empty())
      text += (text.empty() ? "" : ", ") + setting_shown(option, result.setting(option));
  return text;
}

std::string cell_name(const std::map<std::string, std::string>& written, const Words& swept) {
  std::string name;
  for (const std::string& option : swept)
    if (const auto found = written.find(option); found != written.end() && !found->second.empty())
      name += fmt::format("{}{}-{}", name.empty() ? "" : "_", option, in_file_name(found->second));
  return name.empty() ? "result" : name;
}

std::string subject_of(const std::vector<const Result*>& results, const Results& all) {
  constexpr std::size_t most_values = 3;
  Words subject;
  for (const auto& [option, several] : subject_options) {
    Words values;
    const auto names = names_of_values(all, option, false);
    for (const Result* result : results)
      if (const std::string value = result->setting(option); !value.empty())
        found_or_added(values, names.at(value));
    if (!values.empty())
      subject.push_back(values.size() > most_values
                            ? fmt::format("{} {}", values.size(), several)
                            : fmt::format("{}", fmt::join(values, " and ")));
  }
  return fmt::format("{}", fmt::join(subject, ", "));
}

std::string subject_of(const Comparison& compared, std::optional<std::size_t> in_case) {
  std::vector<const Result*> results;
  for (const ComparedCell& cell : compared.cells)
    if (!in_case || cell.in_case == *in_case)
      results.push_back(cell.result);
  return subject_of(results, *compared.results);
}

}  // namespace syncline
