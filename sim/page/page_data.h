// The data of a page, for its script: JSON that nothing in it can end or make markup of.
#pragma once

#include <string>

#include "sim/page/page.h"

namespace syncline {

// It has the timelines of the best cells, as many as there are bytes for.
std::string page_data(const Findings& findings, std::size_t most_bytes);

}  // namespace syncline
