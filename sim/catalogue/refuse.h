// Refuses a user's mistakes with a message of one line, formatted by libfmt.
#pragma once

#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/io/text.h"

namespace syncline {

// Throws std::invalid_argument; a caller that knows the file or the option adds it.
[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> what, Values&&... values) {
  refuse(fmt::format(what, std::forward<Values>(values)...));
}

// Throws std::runtime_error "path: what".
template <class... Values>
[[noreturn]] void refuse_file(const std::string& path, fmt::format_string<Values...> what,
                              Values&&... values) {
  throw std::runtime_error(brief_path(path) + ": " +
                           fmt::format(what, std::forward<Values>(values)...));
}

}  // namespace syncline
