// Lines of a text that is no file: what git has of another commit, or what is about to be written.
#pragma once

#include <functional>
#include <string>

#include "kernels/io/text.h"

namespace syncline {

// As read_lines, of this text; `path` is what errors call it.
void read_lines_of(const std::string& text, const std::string& path,
                   const std::function<void(const TextLine&)>& see);

}  // namespace syncline
