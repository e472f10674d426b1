// Options whose text is neither a number nor one word of a list.
#pragma once

#include <optional>
#include <vector>

#include "sim/options/rows.h"

namespace syncline {

// Bytes, `all` or `merged`.
Option fusion(Option option);
// The optimizer, which sets how many values of each parameter its step moves.
Option optimizer(Option option);
// The precision of computing; gradients are kept in it too, unless wire-precision says otherwise.
Option precision(Option option);
// Patterns of host names, separated by ;, with * for any characters.
Option worker_hosts(Option option);
// A name or a path, or `none` for free compression.
Option device(Option option);
// The price of a worker for an hour, or `devices`.
Option price(Option option);
// A number for all links, PATTERN:NUMBER for some, or both, separated by ;.
Option of_links(Option option, const OwnOption& numbers, std::optional<double> Scenario::*every,
                std::vector<LinkFactor> Scenario::*some);

}  // namespace syncline
