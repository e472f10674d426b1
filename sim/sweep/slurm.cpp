#include "sim/sweep/slurm.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/io/text.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr int most_tasks = 1000;  // Slurm's own limit, unless its MaxArraySize was raised

std::size_t whole_number(const std::string& name, const std::string& text, double most) {
  return static_cast<std::size_t>(
      checked_number({.name = name, .minimum = 1, .maximum = most, .whole = true}, text));
}

void require_sbatch() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':'))
    if (access((folder + "/sbatch").c_str(), X_OK) == 0)
      return;
  throw std::runtime_error(
      "--slurm: there is no sbatch in PATH: allowed is a machine that submits to Slurm; elsewhere "
      "leave --slurm out, or start --share 1/N to N/N yourself");
}

std::string with_each_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The command of each task: this command, but with the task's own share. With --resume, a task that
// Slurm starts again goes on with what is there. It uses as many processors as Slurm gives it.
std::string command_of_task(const CommandLine& line, std::size_t tasks) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(), "run"};
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  for (const auto& [name, option] : line.options)
    words.push_back("--" + name + "=" + option.value);
  const std::set<std::string> not_of_tasks{"slurm", "jobs", "resume"};
  for (const auto& [name, value] : line.flags)
    if (!not_of_tasks.contains(name))
      words.push_back("--" + name + "=" + value);
  words.emplace_back("--resume");
  std::string command = "exec";
  for (const std::string& word : words)
    command.append(" ").append(quoted(word));
  return command + " --jobs \"${SLURM_CPUS_PER_TASK:-1}\" --share \"$SLURM_ARRAY_TASK_ID/" +
         std::to_string(tasks) + "\"";
}

struct Answer {
  int status = 0;
  std::string text;
};

Answer printed_by(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr)
    throw std::runtime_error("--slurm: sbatch cannot be started");
  Answer answer;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    answer.text.append(buffer.data(), count);
  answer.status = pclose(pipe);
  return answer;
}

}  // namespace

Share share_of(const CommandLine& line) {
  const auto share = line.flag("share");
  if (!share)
    return {};
  const std::size_t slash = share->find('/');
  if (slash == std::string::npos)
    throw std::invalid_argument("--share " + brief(*share) +
                                ": allowed is I/N, the I-th of N shares");
  const std::size_t of = whole_number("--share, after the /", share->substr(slash + 1), 1e6);
  return {.number = whole_number("--share, before the /", share->substr(0, slash),
                                 static_cast<double>(of)),
          .of = of};
}

std::size_t tasks_of(const CommandLine& line) {
  const auto tasks = line.flag("slurm");
  return tasks ? whole_number("--slurm", *tasks, most_tasks) : 0;
}

void submit(const CommandLine& line, const std::vector<std::size_t>& cells) {
  const std::size_t tasks = tasks_of(line);
  require_sbatch();
  std::set<std::size_t> needed;
  for (const std::size_t cell : cells)
    needed.insert(Share::with(cell, tasks));

  const fs::path logs = fs::path(line.flags.at("out")) / "slurm";
  std::error_code error;
  const bool made = fs::create_directory(logs, error);
  if (error)
    throw std::runtime_error("--slurm: " + brief_path(logs.string()) +
                             ": cannot be made: " + error.message());
  std::string command = "exec sbatch --parsable --job-name=syncline --array=" +
                        ranges({needed.begin(), needed.end()});
  if (line.has("jobs"))
    command += " --cpus-per-task=" + std::to_string(jobs_of(line));
  // In a log's name % begins what Slurm fills in.
  const std::string log = with_each_replaced(fs::absolute(logs).string(), "%", "%%") + "/%A_%a.log";
  command += " --output=" + quoted(log) + " --wrap=" + quoted(command_of_task(line, tasks));
  const Answer answer = printed_by(command + " 2>&1");
  const std::vector<std::string> lines = split(trimmed(answer.text), '\n');
  // The last line is JOB or JOB;CLUSTER, perhaps below warnings.
  const std::string last = lines.empty() ? "" : lines.back();
  const std::string job = last.substr(0, last.find(';'));
  if (answer.status != 0 || job.empty() || job.find_first_not_of("0123456789") != job.npos) {
    if (made)
      fs::remove(logs, error);
    throw std::runtime_error("--slurm: sbatch refuses: " +
                             (trimmed(answer.text).empty()
                                  ? "it says nothing, not even the number of a job"
                                  : brief(lines.front())));
  }
  std::printf(
      "submitted job %s: %zu tasks for %zu cells, which write into %s\n"
      "When it has ended, the same command without --slurm and with --resume prints the "
      "table; with --slurm it submits what is missing.\n",
      job.c_str(), needed.size(), cells.size(), printable(line.flags.at("out")).c_str());
}

std::string quoted(const std::string& word) {
  return "'" + with_each_replaced(word, "'", R"('\'')") + "'";
}

std::string in_shell(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=,%+@-").find(c) != std::string_view::npos;
  });
  return is_plain ? word : quoted(word);
}

std::string ranges(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text.append(text.empty() ? "" : ",").append(std::to_string(numbers[i]));
    if (last > i)
      text.append("-").append(std::to_string(numbers[last]));
    i = last + 1;
  }
  return text;
}

}  // namespace syncline
