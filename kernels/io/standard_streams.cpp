#include "kernels/io/standard_streams.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace syncline {
namespace {

// If a standard stream is closed, the next opened file would take its number, and printed text
// would go into that file. This opens /dev/null read-only instead, so that printing fails.
void occupy_closed_streams() {
  for (int stream = open("/dev/null", O_RDONLY); stream >= 0; stream = open("/dev/null", O_RDONLY))
    if (stream > STDERR_FILENO) {
      close(stream);
      return;
    }
}

}  // namespace

void prepare_standard_streams() {
  // The failing call reports the error after all files are written, instead of a signal that ends
  // the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  occupy_closed_streams();
}

void require_printed() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  int reason = errno;
  if (flushed && std::ferror(stdout) == 0) {
    if (std::ferror(stderr) != 0)
      throw std::runtime_error("standard error: cannot be written");
    return;
  }
  if (flushed && write(STDOUT_FILENO, "\n", 1) < 0)  // failed before: fails again and sets errno
    reason = errno;
  if (reason == EPIPE) {  // the reader has enough, as in `syncline list | head -1`
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw std::runtime_error("standard output: cannot be written" +
                           (reason == 0 ? "" : ": " + std::string(std::strerror(reason))));
}

}  // namespace syncline
