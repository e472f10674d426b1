// Where a command's flags put files: checked before anything is simulated, so that no file is lost;
// and the folders that it reads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/options/user_input.h"

namespace syncline {

// Throws std::runtime_error, one line that begins with the flag, if there is a file that does not
// begin with `begin`, as the files of Syncline do. An empty file may be replaced.
void require_ours(const std::string& flag, const std::string& path, const std::string& begin);

class OutputPaths {
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

// A flag's path; empty: the flag is not given. `of` is what it names, such as "file". Throws
// std::invalid_argument, one line, if it is given and empty.
std::string path_of(const CommandLine& line, const std::string& flag, const char* of);
// The path of a flag's file, whose text begins with `begin`; empty: the flag is not given. Throws
// if the file cannot be written there.
std::string place_of(const CommandLine& line, const std::string& flag, const std::string& begin,
                     OutputPaths& places);

// The entries of a folder, in the order of their names. Throws std::invalid_argument, one line, if
// it is not a folder or cannot be read.
std::vector<std::filesystem::path> entries_of(const std::string& folder);

// A folder's path as a title, without control characters; the folder's own name for "." and "..".
std::string title_of_folder(const std::string& path);

}  // namespace syncline
