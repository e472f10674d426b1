#include "sim/import/nccl_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "kernels/io/text.h"

namespace syncline {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::size_t most_log_bytes = 1'000'000'000;
constexpr std::size_t most_searched = 600;  // characters of a line
constexpr double largest = 1e18;            // of any number

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

void split_into(Words& words, std::string_view line) {
  words.clear();
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at]))
      ++at;
    if (at > begin)
      words.push_back(line.substr(begin, at - begin));
    while (at < line.size() && is_blank(line[at]))
      ++at;
  }
}

// A type of nccl-tests, such as uint8, half or fp8e4m3.
bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 11> beginnings{
      "int", "uint", "char", "half", "float", "bfloat", "double", "f8", "fp8", "fp16", "bf16"};
  return std::ranges::all_of(word, is_word) &&
         std::ranges::any_of(beginnings, [&](auto begin) { return word.starts_with(begin); });
}

// The digits at the end of a word, where a prefix may stand before a size; empty: there are none,
// or they end a name or a fraction.
std::string_view size_in(std::string_view word) {
  std::size_t begin = word.size();
  while (begin > 0 && is_digit(word[begin - 1]))
    --begin;
  const bool is_part = begin > 0 && (is_word(word[begin - 1]) || word[begin - 1] == '.');
  return is_part ? std::string_view() : word.substr(begin);
}

// The program of nccl-tests that a line names, such as all_gather_perf; empty: none.
std::string program_in(std::string_view line) {
  constexpr std::string_view end = "_perf";
  constexpr std::size_t longest_name = 20;  // a line may have any length
  constexpr std::array<std::string_view, 11> names{
      "all_reduce", "all_gather", "alltoall", "alltoallv", "broadcast",     "gather",
      "hypercube",  "reduce",     "scatter",  "sendrecv",  "reduce_scatter"};
  for (std::size_t at = line.find(end); at != line.npos; at = line.find(end, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && at - begin < longest_name && is_word(line[begin - 1]))
      --begin;
    const std::string_view name = line.substr(begin, at - begin);
    if (std::ranges::find(names, name) != names.end())
      return fmt::format("{}{}", name, end);
  }
  return {};
}

class NcclReader {
 public:
  explicit NcclReader(const std::string& path) : path_(path) {}

  NcclLog read() {
    const std::string text = text_of_file(path_, most_log_bytes);
    for (std::size_t begin = 0; begin < text.size(); ++line_) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      see(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    if (!other_program_.empty() && !is_all_reduce_)
      refuse_at(path_, other_line_, other_program_ + ": allowed is all_reduce_perf");
    if (ranks_.empty())
      refuse("no line '# Rank N ... on HOST device M', which gives the number of GPUs" +
             (first_.empty() ? "" : "; its first line begins with '" + brief(first_) + "'"));
    if (ranks_.size() == 1)
      refuse("one GPU: an all-reduce needs two or more");
    if (log_.rows.empty())
      refuse(columns_.empty() ? "no row of sizes and times: no line 'size count type ...'"
                              : "no row of sizes and times");
    log_.ranks = static_cast<int>(ranks_.size());
    log_.nodes = nodes();
    return std::move(log_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(brief_path(path_) + ": " + why);
  }
  [[noreturn]] void refuse_line(const std::string& why) const {
    refuse_at(path_, line_, printable(why));
  }

  void see(std::string_view line) {
    if (const std::string program = program_in(line); program == "all_reduce_perf") {
      is_all_reduce_ = true;
    } else if (!program.empty() && other_program_.empty()) {
      other_program_ = program;
      other_line_ = line_;
    }
    line = line.substr(0, most_searched);
    if (columns_.empty() && !first_.empty() && line.find("Rank") == line.npos &&
        line.find("size") == line.npos)
      return;
    split_into(words_, line);
    if (words_.empty())
      return;
    if (first_.empty())
      first_ = trimmed(std::string(line));
    if (const auto rank = std::ranges::find_if(
            words_, [](auto word) { return word == "Rank" || word.ends_with("#Rank"); });
        rank != words_.end() && see_rank(static_cast<std::size_t>(rank - words_.begin())))
      return;
    if (const auto size = std::ranges::find(words_, "size");
        size != words_.end() && size + 1 != words_.end() && size[1] == "count")
      see_columns(static_cast<std::size_t>(size - words_.begin()));
    else if (!columns_.empty())
      see_row();
  }

  // "Rank 0 Group 0 Pid 7 on HOST device 0 [0000:01:00] NVIDIA H100", where HOST may be empty.
  // False: the line is not of this form.
  bool see_rank(std::size_t at) {
    const auto from = words_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto on = std::find(from, words_.end(), "on");
    const auto device = std::find(on, words_.end(), "device");
    if (words_.end() - from < 2 || !is_digits(from[1]) || words_.end() - device < 2 ||
        !is_digits(device[1]))
      return false;
    if (on - from > 3 && from[2] == "Group" && from[3].find_first_not_of('0') != from[3].npos)
      refuse_line("group " + brief(std::string(from[3])) +
                  ": allowed is one group of GPUs, because several share their links");
    const std::string rank(from[1]);
    if (!ranks_.insert({rank, line_}).second)
      refuse_line("a second rank " + brief(rank) +
                  ": each process ran alone (nccl-tests built without MPI=1?)");
    const bool has_bus = words_.end() - device > 2 && device[2].starts_with('[');
    const std::string gpu = std::string(device[1]) + (has_bus ? std::string(device[2]) : "");
    ++gpus_[fmt::format("{}", fmt::join(on + 1, device, " "))][gpu];
    return true;
  }

  // A host's name stands for as many nodes as the log lists the same GPU of it.
  int nodes() const {
    int nodes = 0;
    for (const auto& [host, gpus] : gpus_)
      nodes +=
          std::ranges::max_element(gpus, {}, [](const auto& gpu) { return gpu.second; })->second;
    return nodes;
  }

  void see_columns(std::size_t at) {
    if (!columns_.empty())
      refuse_line("a second table: allowed is one");
    for (std::size_t i = at; i < words_.size(); ++i) {
      std::string name(words_[i]);
      std::erase(name, '#');
      if (name == "time")
        times_.push_back(columns_.size());
      columns_.push_back(name);
    }
    redop_ = place_of("redop");
    root_ = place_of("root");
    if (!redop_)
      refuse_line(root_ ? "a column root and no column redop: a broadcast, not an all-reduce"
                        : "no column redop: is it of all_reduce_perf?");
    if (times_.empty() || times_.back() + 2 >= columns_.size() ||
        columns_[times_.back() + 1] != "algbw" || columns_[times_.back() + 2] != "busbw")
      refuse_line("no columns 'time algbw busbw'");
  }

  std::optional<std::size_t> place_of(const std::string& column) const {
    const auto found = std::ranges::find(columns_, column);
    return found == columns_.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - columns_.begin()));
  }

  // A row is two whole numbers and a type, wherever they begin, and what follows.
  void see_row() {
    std::size_t at = 0;
    while (at + 2 < words_.size() &&
           (!is_type(words_[at + 2]) || !is_digits(words_[at + 1]) || size_in(words_[at]).empty()))
      ++at;
    if (at + 2 >= words_.size())
      return;
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(at));
    words_[0] = size_in(words_[0]);
    const std::size_t time = times_.back();
    if (words_.size() < time + 3)
      refuse_line(
          fmt::format("{} fields: its columns are {}", words_.size(), fmt::join(columns_, " ")));
    if (words_[*redop_] == "none")
      refuse_line("redop none: not an all-reduce");
    if (root_ && words_[*root_] != "-1")
      refuse_line("root " + brief(std::string(words_[*root_])) +
                  ": a broadcast or a reduce, not an all-reduce");
    const double bytes = number(words_[0], "size");
    const double elements = number(words_[1], "count");
    const double time_us = number(words_[time], "time");
    const double busbw_GBps = number(words_[time + 2], "busbw");
    check_answers();
    if (bytes == 0)
      return;
    if (time_us == 0)
      refuse_line(fmt::format("{:.0f} bytes in 0 us: a time must be above 0", bytes));
    const auto n = static_cast<double>(ranks_.size());
    const double expected_GBps = n > 1 ? 2 * (n - 1) / n * bytes / time_us / 1e3 : busbw_GBps;
    if (std::abs(busbw_GBps - expected_GBps) > 0.03 * expected_GBps + 0.011)
      refuse_line(fmt::format("busbw {}, but {} ranks and its time give {:.2f} GB/s",
                              brief(std::string(words_[time + 2])), n, expected_GBps));
    if (log_.rows.size() == most_nccl_rows)
      refuse_line(fmt::format("more rows than {}, which are allowed", most_nccl_rows));
    log_.rows.push_back({.bytes = static_cast<std::uint64_t>(bytes),
                         .elements = static_cast<std::uint64_t>(elements),
                         .type = brief(std::string(words_[2])),
                         .time_s = 1e-6 * time_us});
  }

  // The columns after busbw: how many values were wrong, or N/A.
  void check_answers() const {
    const auto wrong = [&](std::size_t time) {
      return time + 3 < words_.size() ? words_[time + 3] : std::string_view("N/A");
    };
    const std::string_view last = wrong(times_.back());
    if (last != "N/A" && number(last, "wrong") > 1e-3)
      refuse_line(std::string(last) + " wrong values: the test failed");
    if (last == "N/A" && wrong(times_.front()) != "N/A")
      refuse_line("checked out of place only: not an all-reduce (sendrecv_perf?)");
  }

  double number(std::string_view word, const char* name) const {
    const auto value = number_in(std::string(word));
    if (!value || !(*value >= 0 && *value < largest))
      refuse_line(fmt::format("{} '{}': allowed are numbers from 0 to 1e18", name,
                              brief(std::string(word))));
    return *value;
  }

  std::string path_;
  int line_ = 1;
  Words words_;  // of the line
  std::string first_;
  bool is_all_reduce_ = false;
  std::string other_program_;
  int other_line_ = 0;
  std::map<std::string, int> ranks_;                        // the line of each
  std::map<std::string, std::map<std::string, int>> gpus_;  // of each host: how often it is listed
  std::vector<std::string> columns_;                        // empty: not seen yet
  std::vector<std::size_t> times_;                          // out of place and in place
  std::optional<std::size_t> redop_, root_;
  NcclLog log_;
};

}  // namespace

NcclLog read_nccl_log(const std::string& path) {
  return NcclReader(path).read();
}

}  // namespace syncline
