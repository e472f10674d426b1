// What a program prints arrives, or the program says that it does not.
#pragma once

namespace syncline {

// Before anything is opened or printed: a closed stream is then an error of printing, and a file
// that may not grow one of writing it.
void prepare_standard_streams();

// Throws std::runtime_error with the reason if not everything that was printed has arrived: a disk
// may be full. Where a pipe was closed, ends the process without a word, by SIGPIPE as others do.
void require_printed();

}  // namespace syncline
