// SimGrid reads platforms from files only.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace syncline {

// A file without a name, which is gone with this.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : file_(std::tmpfile(), std::fclose) {
    if (file_ == nullptr || std::fputs(text.c_str(), file_.get()) < 0 ||
        std::fflush(file_.get()) != 0)
      throw std::runtime_error("cannot write a temporary file");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fileno(file_.get())); }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace syncline
