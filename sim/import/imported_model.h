// Models from other tools' files: what one worker computes in an iteration, and the gradients that
// its data-parallel group adds. models/README.md says what of each format is read.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

constexpr double most_message_bytes = 8e12;

// One iteration of one worker alone, in the order in which it computes.
struct ImportedIteration {
  struct Gradient {
    std::string name;
    double bytes = 0;
    double ns = 0;  // of backward since the gradient before
  };
  double forward_ns = 0;
  std::vector<Gradient> gradients;  // in backward order
  double rest_ns = 0;               // of backward after the last gradient
  double step_ns = 0;               // of what waits for gradients
  std::string read_as;              // the format, and what was assumed; for results
};

// `text` is that of the file. They throw std::runtime_error of one line with file and line number,
// also for what a data-parallel iteration does not have.
bool is_astra_workload(std::string_view text);
bool is_recorded_chakra(std::string_view bytes);  // .et, as PyTorch's and Chakra's tools write it
ImportedIteration read_astra_workload(const std::string& path);
ImportedIteration read_chakra(const std::string& path, const std::string& text);
ImportedIteration read_recorded_chakra(const std::string& path, std::string_view bytes);

// Calls `read` with each message of a recorded trace as JSON, and with its number, from 1, as it
// comes to it. Throws as above, with numbers of messages for those of lines.
void for_each_recorded_object(const std::string& path, std::string_view bytes,
                              const std::function<void(int number, std::string_view json)>& read);

}  // namespace syncline
