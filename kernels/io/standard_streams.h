// Printed text arrives, or the program reports that it does not.
#pragma once

namespace syncline {

// Call before anything is opened or printed. Afterwards printing to a closed stream is an error of
// printing, and exceeding a file-size limit an error of writing.
void prepare_standard_streams();

// Throws std::runtime_error with the reason unless all printed text has arrived: a disk may be
// full. If a pipe was closed, ends the process silently by SIGPIPE, as other programs do.
void require_printed();

}  // namespace syncline
