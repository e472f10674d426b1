// The file of `check --history`: commit,cell,figure,value, a row for each.
#pragma once

#include <string>

#include "sim/study/history.h"

namespace syncline {

// Every such file begins so, and nobody else's is replaced.
extern const std::string history_begin;

// Throws std::runtime_error, "path:line: ...".
History read_history(const std::string& path);

std::string history_text(const History& history);

}  // namespace syncline
