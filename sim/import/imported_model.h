// Models from other tools' files: the computation of one worker in an iteration, and the gradients
// that its data-parallel group adds. models/README.md lists what is read of each format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

constexpr double most_message_bytes = 8e12;

// One iteration of one worker alone, in the order of its computation.
struct ImportedIteration {
  struct Gradient {
    std::string name;
    double bytes = 0;
    double ns = 0;  // of backward, since the gradient before
  };
  double forward_ns = 0;
  std::vector<Gradient> gradients;  // in backward order
  double rest_ns = 0;               // of backward after the last gradient
  double step_ns = 0;               // of work that waits for gradients
  std::string read_as;              // the format and the assumptions, for results
};

// `text` is the contents of the file. The functions throw std::runtime_error with one line that
// names file and line number, also if the file has anything beyond a data-parallel iteration.
bool is_astra_workload(std::string_view text);
bool is_recorded_chakra(std::string_view bytes);  // .et, as written by PyTorch's and Chakra's tools
ImportedIteration read_astra_workload(const std::string& path);
ImportedIteration read_chakra(const std::string& path, const std::string& text);
ImportedIteration read_recorded_chakra(const std::string& path, std::string_view bytes);

// Calls `read` with each message of a recorded trace as JSON, and with the message's number from 1,
// one by one. Throws as above, with message numbers in place of line numbers.
void for_each_recorded_object(const std::string& path, std::string_view bytes,
                              const std::function<void(int number, std::string_view json)>& read);

}  // namespace syncline
