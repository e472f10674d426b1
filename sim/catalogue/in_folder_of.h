// Makes a file's folder the working folder, because SimGrid looks for a platform's profiles there
// first.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace syncline {

// While this object exists, relative paths count from the folder of `path`. So a file of the same
// name in the former working folder is not read instead.
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
