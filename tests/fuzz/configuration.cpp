// A configuration file, up to the cells of its sweep.
#include <algorithm>

#include "sim/options/expand.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "sweep.cfg");
  GivenOptions given;
  if (!reads(bytes, [&] { given = parse_config_file(path); }))
    return;
  // So that options are looked at even where a file does not name these two.
  given.emplace("platform", Given{"two-hosts", "--platform"});
  given.emplace("model", Given{"resnet20", "--model"});
  double cells = 1;
  for (const auto& [name, option] : given)
    cells *= 1 + static_cast<double>(std::ranges::count(option.value, ','));
  if (cells > 40 && cells <= most_cells)  // right, and slow
    return;
  reads(bytes, [&] {
    for (const std::string& note : expand(given).left_out)
      require_our_words(bytes, note);
  });
}

const Registered<Reader> entry{{.name = "configuration", .read = read}};

}  // namespace
}  // namespace syncline
