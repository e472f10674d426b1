// Options whose text is neither a number nor one of some words.
#pragma once

#include <optional>
#include <vector>

#include "sim/options/rows.h"

namespace syncline {

// Bytes, `all` or `merged`.
Option fusion(Option option);
// Whose step moves so many values of each parameter.
Option optimizer(Option option);
// Of computing; gradients are kept in it, unless wire-precision says otherwise.
Option precision(Option option);
// Names of hosts with ; between, in which * stands for any characters.
Option worker_hosts(Option option);
// A name or a path, or `none`: compressing is free.
Option device(Option option);
// Of a worker for an hour, or `devices`.
Option price(Option option);
// A number for all links, PATTERN:NUMBER for some, or both, with ; between.
Option of_links(Option option, const OwnOption& numbers, std::optional<double> Scenario::*every,
                std::vector<LinkFactor> Scenario::*some);

}  // namespace syncline
