#include "sim/commands/gate_files.h"

#include <fmt/format.h>
#include <stdexcept>

#include "kernels/io/whole_file.h"

namespace syncline {

void check_gate_files(const CommandLine& line) {
  for (const char* flag : {"junit", "md"})
    if (const auto path = line.flag(flag)) {
      if (path->empty())
        throw std::invalid_argument(
            fmt::format("--{} is empty: allowed is the path of a file", flag));
      check_place(*path);
    }
}

void write_gate_files(const CommandLine& line, const std::string& title,
                      const std::vector<Verdict>& verdicts) {
  if (const auto path = line.flag("junit"))
    write_atomically(*path, junit_xml(title, verdicts));
  if (const auto path = line.flag("md"))
    write_atomically(*path, verdicts_markdown(title, verdicts));
}

}  // namespace syncline
