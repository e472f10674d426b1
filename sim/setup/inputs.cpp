#include "sim/setup/inputs.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;

void add(std::uint64_t& hash, const std::string& text) {
  for (const char byte : text)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

// With its length: what moves from the end of a file to the next one's beginning is a change.
void add_counted(std::uint64_t& hash, const std::string& text) {
  add(hash, std::to_string(text.size()) + ":");
  add(hash, text);
}

std::string hexadecimal(std::uint64_t hash) {
  char text[32];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// Only of regular files: reading a pipe would wait for ever.
bool read(const fs::path& path, std::string& text) {
  std::error_code error;
  std::ifstream file;
  if (fs::is_regular_file(path, error))
    file.open(path, std::ios::binary);
  if (!file.is_open())
    return false;
  std::ostringstream all;
  all << file.rdbuf();
  text = all.str();
  return true;
}

std::string without_escapes(std::string text) {
  for (const auto& [escape, character] :
       {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}})
    for (std::size_t at = text.find(escape); at != std::string::npos;
         at = text.find(escape, at + 1))
      text.replace(at, std::string(escape).size(), character);
  return text;
}

// What stands between any quote and the next one of its kind: more than the attributes' values, but
// an apostrophe in a comment hides none of them.
std::set<std::string> quoted_in(const std::string& xml) {
  std::set<std::string> found;
  for (std::size_t begin = xml.find_first_of("\"'"); begin != std::string::npos;
       begin = xml.find_first_of("\"'", begin + 1)) {
    const std::size_t end = xml.find(xml[begin], begin + 1);
    if (end == std::string::npos || end - begin > 4096)
      continue;
    const std::string text = xml.substr(begin + 1, end - begin - 1);
    if (!text.empty() && text.find_first_of("<>\n") == std::string::npos)
      found.insert(without_escapes(text));
  }
  return found;
}

// Large platforms have many names of hosts: a folder is listed once, not asked for each.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    names.insert(entry.path().filename().string());
  return names;
}

void add_files_named_in(const fs::path& path, const std::set<fs::path>& folders,
                        std::set<std::string>& found) {
  std::string xml;
  if (!found.insert(path.string()).second || !read(path, xml) ||
      xml.find_first_not_of(" \t\r\n\xef\xbb\xbf") != xml.find('<'))
    return;  // a profile names no files
  std::set<fs::path> all_folders = folders;
  all_folders.insert(path.parent_path());
  const std::set<std::string> quoted = quoted_in(xml);
  for (const fs::path& folder : all_folders) {
    const std::set<std::string> names = names_in(folder);
    std::error_code error;
    for (const std::string& name : quoted)
      if ((name.find('/') != std::string::npos || names.contains(name)) &&
          fs::is_regular_file(folder / name, error))
        add_files_named_in(fs::weakly_canonical(folder / name, error), all_folders, found);
  }
}

}  // namespace

std::string fingerprint_of_text(const std::string& text) {
  std::uint64_t hash = empty_hash;
  add_counted(hash, text);
  return hexadecimal(hash);
}

std::string fingerprint_of_files(const std::vector<std::string>& paths) {
  std::uint64_t hash = empty_hash;
  for (const std::string& path : paths) {
    std::string text;
    if (read(path, text))
      add_counted(hash, text);
    else
      add(hash, "absent:");
  }
  return hexadecimal(hash);
}

std::vector<std::string> files_of_platform(const std::string& path) {
  std::set<std::string> found;
  std::error_code error;  // SimGrid looks beside the platform and in the working directory
  add_files_named_in(path, {fs::path(path).parent_path(), fs::current_path(error)}, found);
  return {found.begin(), found.end()};
}

}  // namespace syncline
