#include "sim/sweep/output_paths.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/sweep/out_folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// The path to which a file is written. Links may lead to a file that does not exist yet.
std::string without_detours(const std::string& path) {
  std::error_code error;
  fs::path plain = fs::absolute(path, error);
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(plain, error)); ++links)
    plain = plain.parent_path() / fs::read_symlink(plain, error);
  plain = fs::weakly_canonical(plain, error);
  return error ? path : plain.string();
}

// A device or a pipe holds nothing that could be lost.
bool may_hold_a_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

}  // namespace

void require_ours(const std::string& flag, const std::string& path, const std::string& begin) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return;
  if (const auto found = begin_of(path); !found || (!found->empty() && !found->starts_with(begin)))
    throw std::runtime_error(flag + " " + brief_path(path) +
                             ": is there and was not written by syncline: allowed is another " +
                             "name, or moving it away");
}

void OutputPaths::reserve(const std::string& path, const std::string& is) {
  if (!path.empty() && may_hold_a_file(path))
    reserved_.emplace(without_detours(path), is);
}

void OutputPaths::require_free(const std::string& flag, const std::string& path) const {
  if (const auto taken = reserved_.find(without_detours(path)); taken != reserved_.end())
    throw std::runtime_error(flag + " " + brief_path(path) + ": is " + taken->second +
                             ": allowed is another name");
}

void OutputPaths::add(const std::string& flag, const std::string& path, const std::string& begin) {
  require_free(flag, path);
  require_ours(flag, path, begin);
  try {
    check_place(path);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(flag + " " + error.what());
  }
  reserve(path, "what " + flag + " writes");
}

std::string path_of(const CommandLine& line, const std::string& flag, const char* of) {
  const std::string path = line.flag(flag).value_or("");
  if (path.empty() && line.has(flag))
    throw std::invalid_argument("--" + flag + " is empty: allowed is the path of a " + of);
  return path;
}

std::vector<fs::path> entries_of(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw std::invalid_argument(brief_path(folder) + ": no such folder");
  std::vector<fs::path> paths;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    paths.push_back(entries->path());
  if (error)
    throw std::invalid_argument(brief_path(folder) + ": cannot be read: " + error.message());
  std::ranges::sort(paths);
  return paths;
}

std::string title_of_folder(const std::string& path) {
  const auto normal = [](const fs::path& written) {
    const fs::path shorter = written.lexically_normal();
    return shorter.has_filename() ? shorter : shorter.parent_path();
  };
  fs::path folder = normal(path);
  std::error_code error;
  if (folder == "." || folder.filename() == "..")
    if (const fs::path whole = normal(fs::absolute(path, error)); !error)
      folder = whole.has_filename() ? whole.filename() : whole;
  return printable(folder.string());
}

std::string place_of(const CommandLine& line, const std::string& flag, const std::string& begin,
                     OutputPaths& places) {
  const std::string path = path_of(line, flag, "file");
  if (!path.empty())
    places.add("--" + flag, path, begin);
  return path;
}

}  // namespace syncline
