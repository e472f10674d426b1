// The options of learning, and how they become a Learning.
#pragma once

#include <string>
#include <vector>

#include "sim/options/options.h"
#include "sim/options/resolve.h"

namespace syncline {

// `learn`, `data`, `learning-rate`, ...: each means something only with `learn`, and some of them
// to compressors that declare a parameter of that name.
std::vector<Option> learning_options();
bool is_learning_option(const std::string& name);

// Looks up the problem, if there is one, and gives what is not given its defaults.
void find_problem(const GivenOptions& given, Scenario& scenario);
// The rest, once schedule, exchange and compressor are there with their settings.
void resolve_learning(const GivenOptions& given, Scenario& scenario,
                      std::vector<Conflict>& conflicts);

}  // namespace syncline
