#include "sim/sweep/out_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/report/learned_tables.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_at_path(const std::string& path, const std::string& reason) {
  throw std::runtime_error("--out " + brief_path(path) + ": " + reason);
}

// Whether the text begins a result's JSON, of any schema: with these words in order, and nothing
// but blanks and a number between them.
bool begins_a_result(std::string_view text) {
  for (const char* word : {"{", "\"schema\"", ":", ",", "\"tool\"", ":", "\"syncline "}) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n0123456789"), text.size()));
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(std::string_view(word).size());
  }
  return true;
}

// Whether a file with this beginning was written by a run, of this version or an older one.
bool is_ours(const std::string& name, const std::string& begin) {
  if (name.ends_with(".trace.json"))
    return begin.starts_with(perfetto_begin);
  if (name.ends_with(".json"))
    return begins_a_result(begin);
  if (name.ends_with(".trace.csv"))
    return begin.starts_with("start_s,end_s,rank,stream,");
  for (const LearnedTable& table : learned_tables())
    if (name.ends_with("." + table.name + ".csv"))
      return begin.starts_with(table.begin);
  return begin.starts_with(begin_of_results()) ||
         begin.starts_with("name,aggregate,algorithm,") ||  // up to version 0.3
         begin.substr(0, begin.find('\n')).find(",throughput_samples_per_s,") != std::string::npos;
}

}  // namespace

std::string begin_of_results() {
  const std::vector<std::string> columns = option_names();
  return columns[0] + "," + columns[1] + "," + columns[2] + ",";
}

std::optional<std::string> begin_of(const fs::path& path) {
  std::string begin(8192, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return {};
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin;
}

void remove_if_ours(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return;
  if (const auto begin = begin_of(path); begin && is_ours(path.filename(), *begin))
    fs::remove(path, error);
}

MadeFolders::MadeFolders(const std::string& path, const std::string& flag) {
  if (path.empty())
    return;
  std::error_code error;
  for (fs::path part = fs::absolute(path);
       fs::status(part, error).type() == fs::file_type::not_found; part = part.parent_path())
    made_.push_back(part);
  fs::create_directories(path, error);
  if (error)
    throw std::runtime_error(flag + " " + brief_path(path) +
                             ": cannot be made: " + error.message());
}

MadeFolders::~MadeFolders() {
  std::error_code not_empty;
  for (const fs::path& part : made_)
    fs::remove(part, not_empty);
}

OutFolder::OutFolder(const std::string& path, bool shared) : path_(path), made_(path) {
  if (path.empty())
    return;
  lock(shared);
  remove_unfinished(path);
  try {
    check_place(path + "/results.csv");
  } catch (const std::runtime_error& error) {
    close(locked_);
    refuse_at_path(path, error.what());
  }
}

OutFolder::~OutFolder() {
  if (locked_ >= 0)
    close(locked_);
}

void OutFolder::require_ours(const std::string& name) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return;
  const std::string allowed = ": allowed is another folder, or moving it away";
  if (!fs::is_regular_file(status))
    refuse_at_path(path_, name + " is there and is no file" + allowed);
  const std::optional<std::string> begin = begin_of(path);
  if (!begin)
    refuse_at_path(path_, name + " is there and cannot be read" + allowed);
  if (!begin->empty() && !is_ours(name, *begin))
    refuse_at_path(path_, name + " is there and was not written by syncline" + allowed);
}

void OutFolder::lock(bool shared) {
  locked_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (locked_ < 0)
    refuse_at_path(path_, "cannot be read: " + std::string(std::strerror(errno)));
  // The processes of a run that was just killed end a moment after it. On a file system without
  // locks there is nothing to wait for.
  const int kind = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  for (int tries = 0; flock(locked_, kind) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == 100) {
      close(locked_);
      refuse_at_path(
          path_, "another run writes there: allowed is another folder, or waiting for it to end");
    }
    usleep(20000);
  }
}

}  // namespace syncline
