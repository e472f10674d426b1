// A text as a file, for libraries that only read files.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace syncline {

// The file is in memory, not on a file system, which could be full, read-only or another user's; it
// ends with this object.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : file_(memfd_create("syncline", MFD_CLOEXEC)) {
    ssize_t written = file_;  // below 0: failed
    for (std::size_t done = 0; written >= 0 && done < text.size();
         done += static_cast<std::size_t>(written > 0 ? written : 0))
      written = write(file_, text.data() + done, text.size() - done);
    if (written >= 0)
      return;
    const std::string reason = std::strerror(errno);
    close(file_);
    throw std::runtime_error("cannot write a file in memory: " + reason);
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace syncline
