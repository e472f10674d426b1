// A configuration file, up to the cells of its sweep.
#include <algorithm>

#include "sim/options/expand.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "sweep.cfg");
  std::vector<Section> sections;
  if (!reads(bytes, [&] { sections = parse_sections(path); }))
    return;
  double cells = 0;
  for (Section& section : sections) {
    // Options are then checked even if the file does not name these two.
    section.options.emplace("platform", Given{"two-hosts", "--platform"});
    section.options.emplace("model", Given{"resnet20", "--model"});
    double product = 1;
    for (const auto& [name, option] : section.options)
      product *= 1 + static_cast<double>(std::ranges::count(option.value, ','));
    cells += product;
  }
  if (cells > 40 && cells <= most_cells)  // valid, but slow
    return;
  reads(bytes, [&] {
    for (const std::string& note : expand(sections).left_out)
      require_our_words(bytes, note);
  });
}

const Registered<Reader> entry{{.name = "configuration", .read = read}};

}  // namespace
}  // namespace syncline
