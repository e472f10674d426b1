// The folder of --out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// Removes a file if its beginning shows that a run has written it. A file that cannot be removed
// stays.
void remove_if_ours(const std::filesystem::path& path);

// The first bytes of a file, 8192 at most; none if it cannot be read.
std::optional<std::string> begin_of(const std::filesystem::path& path);

// The beginning of results.csv (sim/page/tables.h), the rest of which may be cut off.
std::string begin_of_results();

// Folders that were made for a run, and are removed with it if they stay empty.
class MadeFolders {
 public:
  // Throws std::runtime_error, which begins with the flag, if the folder cannot be made.
  explicit MadeFolders(const std::string& path, const std::string& flag = "--out");
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // innermost first
};

// The folder for this run alone, or shared with runs that write other files. It is made and locked
// before anything is simulated, so that a place that cannot be written is reported at once. Throws
// std::runtime_error with one line. File systems without locks for folders, such as NFS, let every
// run in: the files that the runs write are whole all the same.
class OutFolder {
 public:
  explicit OutFolder(const std::string& path, bool shared = false);  // empty path: nothing is kept
  ~OutFolder();
  OutFolder(const OutFolder&) = delete;
  OutFolder& operator=(const OutFolder&) = delete;

  const std::string& path() const { return path_; }

  // Throws if there is something of this name that a run must not replace: something that is not a
  // file, or a file whose beginning shows that no run has written it. An empty file may be
  // replaced.
  void require_ours(const std::string& name) const;

 private:
  void lock(bool shared);

  std::string path_;
  MadeFolders made_;
  int locked_ = -1;
};

}  // namespace syncline
