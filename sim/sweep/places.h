// Where a command's flags put files: asked before anything is simulated, so that no file is lost.
#pragma once

#include <map>
#include <string>

namespace syncline {

// Throws std::runtime_error, one line that begins with the flag, if there is a file that does not
// begin as ours do. An empty one may be replaced.
void require_ours(const std::string& flag, const std::string& path, const std::string& begin);

class Places {
 public:
  // No flag may name this file: it `is` something already, as "the model of this command".
  void reserve(const std::string& path, const std::string& is);
  // The flag puts a file here that begins so. Throws std::runtime_error, one line, if it cannot be
  // written, is reserved, or is there and was not written by syncline. Reserves it.
  void add(const std::string& flag, const std::string& path, const std::string& begin);
  // Throws std::runtime_error, one line, if the path of this flag is reserved.
  void require_free(const std::string& flag, const std::string& path) const;

 private:
  std::map<std::string, std::string> reserved_;  // what is at a path without links and detours
};

}  // namespace syncline
