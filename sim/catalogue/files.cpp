#include "sim/catalogue/files.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"

namespace syncline {
namespace fs = std::filesystem;

std::string data_root() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  // The data are above a build folder of the checkout, or at <prefix>/share for <prefix>/bin; tests
  // are one folder deeper.
  for (const fs::path& root : {program / "../..", program / "../share/syncline",
                               program / "../../..", fs::path(SYNCLINE_SOURCE_DIR)})
    if (fs::exists(root / "models/throughput.csv"))
      return fs::weakly_canonical(root).string();
  throw std::runtime_error("models/throughput.csv is not where the program (" + program.string() +
                           ") looks for it: build inside the checkout, or use cmake --install");
}

std::string with_shipped(const std::string& path) {
  std::error_code error;
  if (!path.starts_with("experiments/") || fs::exists(path, error))
    return path;
  const fs::path shipped = fs::path(data_root()) / path;
  return fs::exists(shipped, error) ? shipped.string() : path;
}

std::vector<std::string> names_in(const std::string& folder, const std::string& extension) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(data_root()) / folder))
    if (entry.path().extension() == extension && entry.path().stem() != "throughput")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> existing_file(const std::string& folder, const std::string& extension,
                                         const std::string& value, const std::string& relative_to) {
  std::error_code error;
  for (const fs::path& candidate : {fs::path(value), fs::path(relative_to) / value,
                                    fs::path(data_root()) / folder / (value + extension)})
    if (!value.empty() && fs::is_regular_file(candidate, error))  // a name may be too long
      return fs::weakly_canonical(candidate).string();
  return std::nullopt;
}

std::string find_file(const std::string& kind, const std::string& folder,
                      const std::string& extension, const std::string& value,
                      const std::string& relative_to) {
  if (const auto file = existing_file(folder, extension, value, relative_to))
    return *file;
  const std::string list = folder == "models" || folder == "platforms" ? folder : "cost-tables";
  throw std::runtime_error(
      "no " + kind + " '" + brief(value) +
      "': " + instead_of(value, names_in(folder, extension), "`syncline list " + list + "`") +
      "; allowed is a path, too (\\, is a comma in a path)");
}

std::string device_of(const std::string& table) {
  std::string name = fs::path(table).filename().string();
  for (const char* ending : {".csv", "-measured", "-published", "-modelled"})
    if (name.ends_with(ending))
      name.resize(name.size() - std::string(ending).size());
  return name;
}

}  // namespace syncline
