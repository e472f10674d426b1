// Writes files that are complete or absent, and never damages another file: an unfinished file has
// no name, or one in a folder of ours.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace syncline {

// A folder next to the file. Holds the unfinished file where the file system cannot keep a file
// without a name, and for a moment while a file is replaced. Only its files called unfinished-* are
// ours.
inline const std::string unfinished_folder = ".syncline-unfinished";

// Afterwards the file has this text, however the program ends; or it is unchanged, and
// std::runtime_error names the path and the reason. A link stays a link: its target is replaced.
// Devices and pipes are written directly.
void write_atomically(const std::string& path, const std::string& text);
// The same for the text that `write` writes, which goes to the disk meanwhile.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

// While this exists, no other FileLock of the path does: programs that read and rewrite a file take
// turns. The constructor waits for others. Makes an empty file if there is none, and removes it
// again if nothing was written. Throws what write_atomically would throw. No effect on devices and
// pipes, and on file systems without locks, such as some network file systems.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_there() const;  // the locked file is still the one at the path

  std::string path_;
  int file_ = -1;
  bool made_ = false;
};

// Throws what write_atomically would throw, as far as that is known before there is a text. Changes
// nothing.
void check_place(const std::string& path);

// Removes what killed runs left in this folder's unfinished_folder, and that folder if it is empty
// then. Files that a run is still writing stay.
void remove_unfinished(const std::string& folder);

}  // namespace syncline
