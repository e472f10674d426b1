// SimGrid looks for a platform's profiles in the working folder first.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace syncline {

// While it exists, relative paths count from this file's folder: in the working folder, a file of
// the same name is another one.
class InFolderOf {
 public:
  explicit InFolderOf(const std::string& path) : before_(std::filesystem::current_path()) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty())
      std::filesystem::current_path(folder);
  }
  ~InFolderOf() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }
  InFolderOf(const InFolderOf&) = delete;
  InFolderOf& operator=(const InFolderOf&) = delete;

 private:
  std::filesystem::path before_;
};

}  // namespace syncline
