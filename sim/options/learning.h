// The options of learning, and how they fill a Learning.
#pragma once

#include <string>
#include <vector>

#include "sim/options/options.h"
#include "sim/options/resolve.h"

namespace syncline {

// `learn`, `data`, `learning-rate`, ...: each needs `learn`, but some may also be given to
// compressors that declare a parameter of that name.
std::vector<Option> learning_options();
bool is_learning_option(const std::string& name);

// Looks up the problem, if one is given, and sets the problem's defaults for options that are not
// given.
void find_problem(const GivenOptions& given, Scenario& scenario);
// Resolves the other options, once schedule, exchange and compressor have their settings.
void resolve_learning(const GivenOptions& given, Scenario& scenario,
                      std::vector<Conflict>& conflicts);

}  // namespace syncline
