// Where a command's flags put files: checked before anything is simulated, so that no file is lost.
#pragma once

#include <map>
#include <string>

namespace syncline {

// Throws std::runtime_error, one line that begins with the flag, if there is a file that does not
// begin with `begin`, as the files of Syncline do. An empty file may be replaced.
void require_ours(const std::string& flag, const std::string& path, const std::string& begin);

class Places {
 public:
  // Reserves a file, which no flag may name. `is` says what it is, such as "the model of this
  // command".
  void reserve(const std::string& path, const std::string& is);
  // Reserves a flag's file, whose text begins with `begin`. Throws std::runtime_error, one line, if
  // it cannot be written, is reserved, or is there and was not written by Syncline.
  void add(const std::string& flag, const std::string& path, const std::string& begin);
  // Throws std::runtime_error, one line, if the path of this flag is reserved.
  void require_free(const std::string& flag, const std::string& path) const;

 private:
  std::map<std::string, std::string> reserved_;  // what is there, by path without links and detours
};

}  // namespace syncline
