// The file of `check --history`: a row commit,cell,figure,value for each figure.
#pragma once

#include <string>

#include "sim/study/history.h"

namespace syncline {

// The beginning of every such file: no other file is replaced.
extern const std::string history_begin;

// Throws std::runtime_error, "path:line: ...".
History read_history(const std::string& path);

std::string history_text(const History& history);

}  // namespace syncline
