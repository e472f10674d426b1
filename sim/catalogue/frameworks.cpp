#include "sim/catalogue/frameworks.h"

#include <algorithm>
#include <optional>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

using Version = std::vector<int>;  // 1.10 is later than 1.9

std::optional<Version> version_of(const std::string& text) {
  Version version;
  for (const std::string& part : split(text, '.')) {
    const auto number = number_in<int>(part);
    if (!number || *number < 0)
      return std::nullopt;
    version.push_back(*number);
  }
  return version;
}

}  // namespace

std::string described(const std::string& whose, const std::vector<Default>& defaults) {
  std::string text;
  for (const Default& one : defaults)
    text += (text.empty() ? whose + ": " : "; ") + one.option + " = " + one.value + " (" +
            one.source + ")";
  return text;
}

std::string Framework::described() const {
  return syncline::described(name + " from " + from, defaults);
}

Framework framework_called(const std::string& text) {
  if (text == "none")
    return {};
  const Csv csv = read_csv(data_root() + "/platforms/frameworks.csv");
  const std::size_t framework = csv.column("framework");
  const std::size_t from = csv.column("from");
  const std::size_t option = csv.column("option");
  const std::size_t value = csv.column("value");
  const std::size_t source = csv.column("source");
  const std::size_t dash = text.rfind('-');
  const std::optional<Version> asked =
      dash == std::string::npos ? std::nullopt : version_of(text.substr(dash + 1));
  Framework found{.name = asked ? text.substr(0, dash) : text, .from = {}, .defaults = {}};
  std::vector<std::string> names;
  std::string first;  // the first known version of this framework
  Version newest;
  csv.for_each_row([&](const Csv::Row& row) {
    const std::vector<std::string>& fields = row.fields;
    if (std::ranges::find(names, fields[framework]) == names.end())
      names.push_back(fields[framework]);
    if (fields[framework] != found.name)
      return;
    const auto version = version_of(fields[from]);
    if (!version)
      refuse("from = {}: allowed are versions such as 1.7", brief(fields[from]));
    if (first.empty() || *version < *version_of(first))
      first = fields[from];
    if (*version < newest || (asked && *version > *asked))
      return;
    if (*version > newest)
      found.defaults.clear();
    newest = *version;
    found.from = fields[from];
    found.defaults.push_back({fields[option], fields[value], fields[source]});
  });
  if (first.empty())
    refuse(
        "framework = {}: there is no such framework; allowed are none, {}, also with a version, "
        "as in {}-{}",
        brief(text), listed(nearest(found.name, names)), names.front(),
        csv.rows.front().fields[from]);
  if (found.defaults.empty())
    refuse("framework = {}: the defaults of {} before {} are not known; allowed is {} or later",
           brief(text), found.name, first, first);
  return found;
}

}  // namespace syncline
