// Files that are whole or absent, and never at the cost of another file: what is unfinished has no
// name, or one in a folder of ours.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace syncline {

// A folder beside the file holds it where the file system cannot keep a file without a name, and
// for a moment while a file is replaced. Only what is in it and called unfinished-* is ours.
inline const std::string unfinished_folder = ".syncline-unfinished";

// The file is then this text, whatever ends the program; or it is as it was, and
// std::runtime_error names the path and the reason. A link stays one: what it points to is
// replaced. A device or a pipe is written to.
void write_atomically(const std::string& path, const std::string& text);
// This one writes what `write` writes, which goes to the disk meanwhile.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

// While it exists, no other FileLock of this path does: of programs that read a file and write it
// again, one at a time. It waits for the others. Makes the file, empty, where there is none; an
// empty one goes again where nothing was written. Throws what write_atomically would throw. A
// device or a pipe has no lock, nor a file on a file system without locks, as some network file
// systems.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_there() const;  // what is locked, and not a file that has taken its place

  std::string path_;
  int file_ = -1;
  bool made_ = false;
};

// Throws what write_atomically would throw, as far as that can be known before there is a text.
// Leaves everything as it is.
void check_place(const std::string& path);

// Removes what killed runs left in the unfinished_folder of this one, and it if nothing else is
// there. What a run still works at stays.
void remove_unfinished(const std::string& folder);

}  // namespace syncline
