#include "sim/commands/gate.h"

#include <stdexcept>

#include "kernels/io/whole_file.h"

namespace syncline {

std::vector<Flag> gate_flags() {
  return {{"junit", true}, {"md", true}, {"json", false}};
}

void check_gate_files(const CommandLine& line) {
  for (const char* flag : {"junit", "md"})
    if (const auto found = line.flags.find(flag); found != line.flags.end()) {
      if (found->second.empty())
        throw std::invalid_argument("--" + std::string(flag) +
                                    " is empty: allowed is the path of a file");
      check_place(found->second);
    }
}

void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts) {
  if (const auto junit = line.flags.find("junit"); junit != line.flags.end())
    write_atomically(junit->second, junit_xml(title, verdicts));
  if (const auto markdown = line.flags.find("md"); markdown != line.flags.end())
    write_atomically(markdown->second, verdicts_markdown(title, verdicts));
}

}  // namespace syncline
