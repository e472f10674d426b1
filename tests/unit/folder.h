// A test's files, in a folder that is removed afterwards.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace syncline {

// Words as in IDX files, most significant byte first.
inline std::string big_endian(const std::vector<std::uint32_t>& words) {
  std::string bytes;
  for (const std::uint32_t word : words)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(word >> shift & 0xff));
  return bytes;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "syncline-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error(path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text of every file in a folder and below it, by name.
inline std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      texts[entry.path().lexically_relative(folder).string()] = text_of(entry.path().string());
  return texts;
}

// Everything in a folder, by name: the text of a file, or the size of a large one, which may be
// sparse; the target of a link; or the kind of anything else.
inline std::map<std::string, std::string> listing_of(const std::string& folder) {
  constexpr std::uintmax_t large = 16'000'000;
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto status = entry.symlink_status();
    if (std::filesystem::is_regular_file(status) && entry.file_size() > large) {
      found[entry.path().lexically_relative(folder).string()] =
          "file of " + std::to_string(entry.file_size()) + " bytes";
      continue;
    }
    found[entry.path().lexically_relative(folder).string()] =
        std::filesystem::is_symlink(status) ? "link to " + read_symlink(entry.path()).string()
        : std::filesystem::is_regular_file(status) ? "file " + text_of(entry.path().string())
        : std::filesystem::is_directory(status)    ? "folder"
                                                   : "something else";
  }
  return found;
}

}  // namespace syncline
