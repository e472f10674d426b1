#include "kernels/calibrate/growing_table.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <unistd.h>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"

namespace syncline {
namespace {

// A regular file is replaced whenever rows are added; a pipe or a terminal gets the whole table
// once.
bool grows(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

// On a terminal, one line that is rewritten; elsewhere, a line for every twentieth measurement.
void show_progress(std::size_t done, std::size_t all, double seconds, const std::string& what) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal)
    std::fprintf(stderr, "\r[%zu/%zu, %.0f s] %-60s%s", done, all, seconds, what.c_str(),
                 done == all ? "\n" : "");
  else if (done == 1 || done % 20 == 0 || done == all)
    std::fprintf(stderr, "[%zu/%zu, %.0f s] %s\n", done, all, seconds, what.c_str());
}

// For example "at 65536 elements cat, topk; at 262144 elements cat".
std::string named(const std::vector<const Measurement*>& measurements) {
  std::map<std::size_t, std::vector<std::string>> names;
  for (const Measurement* one : measurements)
    if (auto& known = names[one->elements];
        std::find(known.begin(), known.end(), one->name) == known.end())
      known.push_back(one->name);
  std::string text;
  for (const auto& [elements, known] : names) {
    text += (text.empty() ? "at " : "; at ") + std::to_string(elements) + " elements";
    for (const std::string& name : known)
      text += (&name == &known.front() ? " " : ", ") + name;
  }
  return text;
}

}  // namespace

void require_same(const CostTable& table, const std::string& key, const std::string& ours,
                  const char* option) {
  if (table.about(key) != ours)
    throw std::invalid_argument(std::string(option) + " " + table.path + ": its " + key + " is '" +
                                table.about(key) + "', here it is '" + ours +
                                "': these must be equal");
}

std::size_t take_rows(const std::vector<CostRow>& rows, CostTable& table) {
  std::set<CostRow::Key> newer;
  for (const CostRow& row : rows)
    newer.insert(row.key());
  const std::size_t older =
      std::erase_if(table.rows, [&](const CostRow& row) { return newer.contains(row.key()); });
  table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  return older;
}

void say_written(const CalibrateOptions& options, std::size_t rows, std::size_t older) {
  std::printf(
      "%s %zu rows to %s%s\n", options.out.empty() ? "added" : "wrote", rows,
      table_path(options).c_str(),
      older == 0 ? "" : (", " + std::to_string(older) + " of them replacing older ones").c_str());
}

void say_nothing_came(const CalibrateOptions& options, const char* why) {
  std::string asked;
  for (const std::string& name : options.compressors)
    asked += (asked.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "no rows: nothing %s %s (%s): %s\n",
               options.append.empty() ? "written to" : "added to", table_path(options).c_str(),
               asked.c_str(), why);
}

GrowingTable::GrowingTable(const CalibrateOptions& options, HeaderLines machine)
    : options_(options), machine_(std::move(machine)) {
  if (!options.append.empty()) {
    table_ = read_cost_table(options.append);
    require_same(table_, "device", machine_.front().second, "--append");
  }
  if (options.resume.empty())
    return;
  table_ = read_cost_table(options.resume, true);
  require_same(table_, "device", machine_.front().second, "--resume");
  require_same(table_, "command", options.command, "--resume");
  require_same(table_, "commit", commit(), "--resume");
  std::ranges::copy_if(table_.header, std::back_inserter(older_clocks_),
                       [](const auto& line) { return line.first == clocks_key; });
  const std::string& noisy = table_.about("noisy");
  noisy_ = number_in<std::size_t>(noisy.substr(0, noisy.find(' '))).value_or(0);
}

void GrowingTable::add(const std::string& name, const std::string& settings,
                       const std::string& operation, std::size_t elements, double bytes_moved,
                       double wire_bytes, const std::string& distribution, const Timing& timing) {
  const double n = static_cast<double>(elements), rate = bytes_moved / timing.median;
  fresh_noisy_ += timing.quiet ? 0 : 1;
  fresh_.push_back({name, settings, operation, n, timing.median, timing.p10, timing.p90, wire_bytes,
                    distribution});
  std::printf("%-22s %-19s %-11s %-38s %10.0f %9.3f ms %9.1f Me/s %7.1f GB/s %4.0f %%%s\n",
              name.c_str(), operation.c_str(), distribution.c_str(), settings.substr(0, 38).c_str(),
              n, timing.median * 1e3, n / timing.median * 1e-6, rate * 1e-9,
              rate / method_.copy_bandwidth * 100, timing.quiet ? "" : "  noisy");
}

HeaderLines GrowingTable::header(const std::string& unfinished) const {
  char bandwidth[64];
  std::snprintf(bandwidth, sizeof bandwidth, "%.4g bytes/s read and written",
                method_.copy_bandwidth);
  HeaderLines lines = machine_;
  lines.insert(lines.end(),
               {{"date", today()},
                {"commit", commit()},
                {"command", options_.command},
                {"copy bandwidth", bandwidth},
                {"provenance", "measured"},
                {"method", "median of 3 to 31 samples; " + method_.cold_cache + " before each"},
                {"noisy", std::to_string(noisy_) + " of " + std::to_string(table_.rows.size()) +
                              " rows: quartiles more than " + method_.small_spread + " apart"}});
  lines.insert(lines.end(), older_clocks_.begin(), older_clocks_.end());
  if (method_.notes)
    for (const auto& line : method_.notes())
      lines.push_back(line);
  for (const std::string& one : left_out_)
    lines.emplace_back("left out", one);
  if (!not_reached_.empty())
    lines.emplace_back("not reached", named(not_reached_));
  if (!unfinished.empty())
    lines.emplace_back(unfinished_key, unfinished);
  return lines;
}

void GrowingTable::save(const std::string& unfinished) {
  if (options_.append.empty())
    table_.header = header(unfinished);
  write_cost_table(table_, table_path(options_));
}

void GrowingTable::make(const Measurement& one) {
  fresh_.clear();
  fresh_noisy_ = 0;
  one.make();
  replaced_ += take_rows(fresh_, table_);
  noisy_ += fresh_noisy_;
  added_ += fresh_.size();
}

int GrowingTable::measure(const std::vector<Measurement>& all, const MeasuringMethod& method) {
  method_ = method;
  const bool growing = grows(table_path(options_));
  std::set<CostRow::Key> known;  // rows of an earlier run; --append measures all again
  if (!options_.resume.empty())
    for (const CostRow& row : table_.rows)
      known.insert(row.key());
  std::size_t at = 0, done = 0;
  for (const Measurement& one : all) {
    ++at;
    const bool is_there =
        std::ranges::all_of(one.rows, [&](const CostRow::Key& key) { return known.contains(key); });
    if (!is_there && seconds_since(begun_) >= options_.budget_s)
      not_reached_.push_back(&one);
    if (!is_there && not_reached_.empty()) {
      show_progress(at, all.size(), seconds_since(begun_), one.what());
      try {
        make(one);
      } catch (const std::exception& error) {
        left_out_.push_back(printable(one.what() + ": " + error.what()));
        std::fprintf(stderr, "left out: %s\n", left_out_.back().c_str());
        if (const std::string reason = method_.lost ? method_.lost() : ""; !reason.empty())
          throw std::runtime_error("ended by " + one.what() + ": " + reason);
        continue;
      }
      std::fflush(stdout);
    }
    done += is_there || not_reached_.empty() ? 1 : 0;
    if (!is_there && not_reached_.empty() && growing)
      save(std::to_string(done) + " of " + std::to_string(all.size()) + " measurements");
  }
  return finish(all.size());
}

int GrowingTable::finish(std::size_t measurements) {
  const bool changes = !table_.rows.empty() && (added_ > 0 || options_.append.empty());
  if (changes) {
    save("");
    say_written(options_, added_, replaced_);
  }
  if (!not_reached_.empty())
    std::fprintf(stderr, "not reached within %s s, %zu of %zu measurements: %s\n",
                 number_text(options_.budget_s).c_str(), not_reached_.size(), measurements,
                 named(not_reached_).c_str());
  if (!left_out_.empty())
    std::fprintf(stderr, "left out, %zu of %zu measurements (see above)\n", left_out_.size(),
                 measurements);
  if (!changes)
    say_nothing_came(options_, measurements == 0   ? "this device can measure none of it"
                               : left_out_.empty() ? "no measurement was reached"
                                                   : "everything was left out");
  return left_out_.empty() && changes ? 0 : 1;
}

}  // namespace syncline
