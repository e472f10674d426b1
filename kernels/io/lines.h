// Lines of a text that is not a file: git's version of a file, or a text about to be written.
#pragma once

#include <functional>
#include <string>

#include "kernels/io/text.h"

namespace syncline {

// Like read_lines, for this text; errors call it `path`.
void read_lines_of(const std::string& text, const std::string& path,
                   const std::function<void(const TextLine&)>& see);

}  // namespace syncline
