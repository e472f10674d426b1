#include "sim/setup/profiles.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace syncline {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void erase_comments(std::string& xml) {
  for (std::size_t begin = xml.find("<!--"); begin != std::string::npos;
       begin = xml.find("<!--", begin)) {
    const std::size_t end = xml.find("-->", begin);
    xml.erase(begin, end == std::string::npos ? end : end + 3 - begin);
  }
}

// Of `name="value"` in a tag; empty if there is none.
std::string attribute(const std::string& tag, const std::string& name) {
  std::smatch match;
  return std::regex_search(tag, match, std::regex("\\s" + name + R"(\s*=\s*["']([^"']*)["'])"))
             ? match[1].str()
             : "";
}

// Rows of a time and a value; a line PERIODICITY or LOOPAFTER with seconds repeats them.
void read_rows(const std::string& rows, double period_s, Profiles& profiles) {
  std::istringstream lines(rows);
  double last_s = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "PERIODICITY" || first == "LOOPAFTER")
      words >> period_s;
    else
      last_s = std::max(last_s, std::strtod(first.c_str(), nullptr));
  }
  profiles.shown_s = std::max({profiles.shown_s, last_s, period_s});
  profiles.period_s = std::max(profiles.period_s, period_s);
}

}  // namespace

Profiles profiles_of(const std::string& platform_path) {
  std::string xml = text_of(platform_path);
  erase_comments(xml);
  const fs::path folder = fs::path(platform_path).parent_path();
  Profiles profiles;
  const auto read = [&](const std::string& file) {
    if (!file.empty())
      read_rows(text_of(folder / file), 0, profiles);
  };
  for (std::size_t begin = xml.find('<'); begin != std::string::npos;
       begin = xml.find('<', begin + 1)) {
    const std::size_t end = xml.find('>', begin);
    if (end == std::string::npos)
      break;
    const std::string tag = xml.substr(begin, end - begin);
    if (tag.starts_with("<trace ")) {
      read(attribute(tag, "file"));
      const std::string period = attribute(tag, "periodicity");
      const std::size_t close = tag.back() == '/' ? end + 1 : xml.find("</trace", end);
      read_rows(xml.substr(end + 1, close - end - 1), std::strtod(period.c_str(), nullptr),
                profiles);
    } else if (tag.find("_file") != std::string::npos) {
      for (const char* kind : {"speed", "availability", "bandwidth", "latency", "state"})
        read(attribute(tag, kind + std::string("_file")));
    }
  }
  return profiles;
}

}  // namespace syncline
