// What a program prints arrives, or the program says that it does not.
#pragma once

namespace syncline {

// Before anything is opened or printed: a closed pipe or stream is then an error of printing.
void prepare_standard_streams();

// Throws std::runtime_error with the reason if not everything that was printed has arrived: a disk
// may be full, a pipe closed.
void require_printed();

}  // namespace syncline
