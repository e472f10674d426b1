#include "sim/platform/platform_profiles.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform_values.h"

namespace syncline {
namespace {

constexpr std::size_t most_profile_bytes = 64'000'000;
// Each repetition is an event of the simulation.
constexpr double least_period_s = 1e-3;

double number_of(const std::string& word, const std::string& path, int line) {
  try {
    return plain_number(word);
  } catch (const std::invalid_argument&) {
    refuse_at(path, line,
              fmt::format("'{}' in a profile: allowed are rows of a time in seconds and a value, "
                          "and lines PERIODICITY or LOOPAFTER with seconds",
                          brief(word)));
  }
}

std::vector<std::string> words_before_comment(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word && word[0] != '#';)
    words.push_back(word);
  return words;
}

// Reads rows of a time and a value. A line PERIODICITY with seconds repeats the rows; LOOPAFTER
// repeats them that many seconds after the last row; `period_s`, if more than 0, repeats them too.
// Throws std::runtime_error, which begins with `path` and the line, for profiles with which SimGrid
// would go back in time, stop forever or end.
Profile read_profile(const std::string& rows, const std::string& path, int first_line,
                     double period_s) {
  Profile profile;
  double last_s = 0;
  double after_s = -1;
  std::istringstream lines(rows);
  int line = first_line;
  for (std::string text; std::getline(lines, text); ++line) {
    const std::vector<std::string> words = words_before_comment(text);
    if (words.empty() || words[0][0] == '%')
      continue;
    if (words.size() != 2)
      refuse_at(path, line,
                fmt::format("'{}' in a profile has {} words in its row: allowed are a time in "
                            "seconds and a value",
                            brief(words[0]), words.size()));
    if (words[0] == "PERIODICITY" || words[0] == "LOOPAFTER") {
      (words[0] == "LOOPAFTER" ? after_s : period_s) = number_of(words[1], path, line);
      continue;
    }
    const double at_s = number_of(words[0], path, line);
    const double value = number_of(words[1], path, line);
    if (at_s < last_s)
      refuse_at(path, line,
                fmt::format("a profile goes back in time, from {:g} to {:g} s: allowed are rows in "
                            "the order of their times, from 0",
                            last_s, at_s));
    profile.least = profile.rows.empty() ? value : std::min(profile.least, value);
    profile.most = profile.rows.empty() ? value : std::max(profile.most, value);
    profile.rows.push_back({at_s, value});
    last_s = at_s;
  }
  if (profile.rows.empty())
    refuse_at(path, first_line, "a profile without rows: allowed are rows of a time and a value");
  if (after_s >= 0 && period_s <= 0)
    period_s = last_s + after_s;
  else if (after_s >= 0)
    refuse_at(path, first_line, "a profile with a period and LOOPAFTER: allowed is one of them");
  if (period_s > 0 && (period_s < least_period_s || period_s < last_s))
    refuse_at(path, first_line,
              fmt::format("a profile that repeats after {:g} s: allowed are {:g} s or more, so "
                          "that a period contains all rows and the simulation advances",
                          period_s, std::max(least_period_s, last_s)));
  constexpr double at_once_s = 1e-9;  // a value from the start on differs from no profile
  profile.times = {.shown_s = std::max({at_once_s, last_s, period_s}),
                   .period_s = std::max(0.0, period_s)};
  return profile;
}

void check_range(const XmlElement& element, const Profile& profile, const std::string& kind,
                 const std::string& source) {
  struct Range {
    const char* kind;
    double least;
    double most;
    const char* allowed;
  };
  static const std::vector<Range> ranges{
      {"speed", 0, 1e6, "parts of the speed from 0, such as 0.5"},
      {"state", 0, 1, "0 and 1"},
      {"latency", 0, 1e6, "seconds from 0 to 1e6"},
      {"bandwidth", 1, 1e21, "bytes/s from 1 to 1e21"}};
  const std::string values =
      fmt::format("{}: values from {} to {} of {}: allowed ", source, number_text(profile.least),
                  number_text(profile.most), kind);
  if (kind == "state" && element.name == "link" && profile.least < 1)
    refuse(
        "{}is 1, because a transfer over a link that goes off would never end; use bandwidth_file "
        "for a slow link",
        values);
  for (const Range& range : ranges)
    if (kind == range.kind && (profile.least < range.least || profile.most > range.most))
      refuse("{}are {}", values, range.allowed);
}

}  // namespace

// SimGrid would look first in the folder where the program was started.
Profile PlatformProfiles::read_file(const std::string& attribute, const std::string& value) {
  const std::filesystem::path folder = std::filesystem::path(found_.files.front()).parent_path();
  found_.files.push_back((folder / value).lexically_normal().string());
  const std::string& file = found_.files.back();
  try {
    return read_profile(text_of_file(file, most_profile_bytes), file, 1, 0);
  } catch (const std::runtime_error& error) {
    refuse("{} = {}: {}", attribute, brief(value), error.what());
  }
}

void PlatformProfiles::use_file(const XmlElement& element, const std::string& attribute,
                                const std::string& file) {
  const std::string kind =
      attribute == "availability_file" ? "speed" : attribute.substr(0, attribute.find('_'));
  use(element, read_file(attribute, file), kind, element.attribute("id"), attribute + " = " + file);
}

void PlatformProfiles::add_trace(const XmlElement& trace) {
  const std::string file = trace.attribute("file");
  const double period_s = plain_number(trace.attribute("periodicity"));
  if (!file.empty() && period_s > 0)
    refuse(
        "periodicity = {} with a file, where SimGrid ignores it: allowed are a line PERIODICITY in "
        "the file and periodicity = -1",
        number_text(period_s));
  Trace added{.profile = file.empty()
                             ? read_profile(trace.text, found_.files.front(), trace.line, period_s)
                             : read_file("file", file)};
  keep(added.profile.times);
  if (!traces_.emplace(trace.attribute("id"), std::move(added)).second)
    refuse("a second trace of this name: allowed is one");
}

void PlatformProfiles::connect(const XmlElement& connection) {
  const std::string name = brief(connection.attribute("trace"));
  const auto trace = traces_.find(connection.attribute("trace"));
  if (trace == traces_.end())
    refuse("trace = {}: no <trace> of this name stands before it", name);
  const std::string given = connection.attribute("kind");
  const std::string kind = given.empty() ? "HOST_AVAIL" : given;
  const std::string element = connection.attribute("element");
  const auto [other, added] = trace->second.element_of.emplace(kind, element);
  if (!added)
    refuse(
        "trace = {}, kind = {} is connected to {} already, and SimGrid would leave this one out: "
        "allowed is one element; give this one a <trace> of its own",
        name, kind, brief(other->second));
  use(connection, trace->second.profile, kind == "SPEED" ? "speed" : "state", element,
      "<trace> " + name);
}

void PlatformProfiles::use(const XmlElement& element, const Profile& profile,
                           const std::string& kind, const std::string& of,
                           const std::string& source) {
  check_range(element, profile, kind, source);
  keep(profile.times);
  if (kind == "speed") {
    found_.profiles.most_speed = std::max(found_.profiles.most_speed, profile.most);
    Bandwidth speed(1);  // relative to the host's own speed
    speed.changes = profile.rows;
    speed.period_s = profile.times.period_s;
    found_.profiles.mean_speeds[of] = speed.mean_Bps();
  }
  if (kind == "latency")
    found_.profiles.latencies.insert(of);
  if (kind != "bandwidth")
    return;
  Bandwidth& bandwidth = found_.profiles.bandwidths[of];
  bandwidth.changes = profile.rows;
  bandwidth.period_s = profile.times.period_s;
  found_.warnings.push_back(
      fmt::format("platform: the bandwidth of link {} follows a profile, from {} to {} bytes/s, "
                  "whatever the link itself says",
                  brief(of), number_text(profile.least), number_text(profile.most)));
}

void PlatformProfiles::keep(const Profiles& times) {
  found_.profiles.shown_s = std::max(found_.profiles.shown_s, times.shown_s);
  found_.profiles.period_s = std::max(found_.profiles.period_s, times.period_s);
}

}  // namespace syncline
