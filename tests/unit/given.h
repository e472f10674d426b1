// Options as a user gives them on the command line.
#pragma once

#include <map>
#include <string>

#include "sim/options/resolve.h"

namespace syncline {

// These options, with a default platform and model.
inline GivenOptions given(const std::map<std::string, std::string>& values) {
  GivenOptions options{{"platform", {"two-hosts", "--platform"}},
                       {"model", {"resnet50", "--model"}}};
  for (const auto& [key, value] : values)
    options[key] = {value, "--" + key};
  return options;
}

}  // namespace syncline
