#include "sim/catalogue/fingerprint.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string_view>

namespace syncline {
namespace {

namespace fs = std::filesystem;

void add(std::uint64_t& hash, std::string_view text) {
  for (const char byte : text)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

// Also hashes the length, so that moving bytes from the end of one file to the beginning of the
// next changes the hash. Accepts only regular files of limited size: reading a pipe would wait
// forever, and a file with a hole of terabytes would take hours. Reading the limit takes seconds.
bool add_file(std::uint64_t& hash, const fs::path& path) {
  constexpr std::uintmax_t most_bytes = 4'000'000'000;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return false;
  const std::uintmax_t bytes = fs::file_size(path, error);
  std::ifstream file;
  if (!error && bytes <= most_bytes)
    file.open(path, std::ios::binary);
  if (!file.is_open())
    return false;
  add(hash, std::to_string(bytes) + ":");
  std::string part(1 << 16, '\0');
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0)
    add(hash, std::string_view(part).substr(0, static_cast<std::size_t>(file.gcount())));
  return true;
}

}  // namespace

std::string fingerprint_of_files(const std::vector<std::string>& paths) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& path : paths)
    if (!add_file(hash, path))
      add(hash, "absent:");
  return fmt::format("{:016x}", hash);
}

}  // namespace syncline
