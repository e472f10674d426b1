#include "sim/setup/inputs.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
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

}  // namespace syncline
