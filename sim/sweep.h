// Cells of a sweep, each simulated in a process of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace syncline {

struct SweepCell {
  Scenario scenario;
  std::string trace_path;  // where to write its trace; empty: nowhere
};

// Simulates all cells, `at_once` at a time, with a progress line on a terminal. Returns one result
// per cell, in order; `ended` sees each as it comes. Stops at the first error and throws it as
// std::runtime_error.
std::vector<nlohmann::ordered_json> simulate_all(
    const std::vector<SweepCell>& cells, int at_once,
    const std::function<void(std::size_t, const nlohmann::ordered_json&)>& ended);

// An error from a child with the platform in front, where SimGrid's own words leave it out.
std::string about_platform(const Scenario& scenario, const std::string& error);

}  // namespace syncline
