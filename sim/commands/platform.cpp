// The command platform: prints a platform in words as a file to edit.
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/commands/commands.h"
#include "sim/platform/platform_text.h"

namespace syncline {

int platform_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("platform", arguments);
  if (line.arguments.size() != 1 || !line.options.empty())
    throw std::invalid_argument(
        "platform takes a platform in words, such as dgx:nodes=20:cards=8x200Gbps, and --out FILE");
  const PlatformPlan plan = platform_plan(line.arguments.front());
  require_for_simgrid(plan);
  const std::string text = platform_text(plan);
  const auto out = line.flag("out");
  if (!out) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  if (out->empty())
    throw std::invalid_argument("--out is empty: allowed is the path of a file");
  std::error_code error;
  if (std::filesystem::is_regular_file(*out, error) && !std::filesystem::is_empty(*out, error))
    throw std::invalid_argument("--out " + brief_path(*out) +
                                ": is there, and may be edited: allowed is another name");
  write_atomically(*out, text);
  std::printf("platform: %s\n", printable(*out).c_str());
  return 0;
}

}  // namespace syncline
