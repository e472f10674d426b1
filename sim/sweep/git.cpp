#include "sim/sweep/git.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kernels/io/text.h"

namespace syncline {
namespace {

constexpr std::size_t most_bytes_of_git = 10'000'000;
constexpr int no_such_program = 127;

struct Answer {
  int code = 0;
  std::string out;
  std::string said;  // the first line of what it said besides
};

// Reads both ends until they are closed, so that neither waits for the other.
void read_both(const std::array<int, 2>& ends, std::array<std::string, 2>& texts) {
  std::array<pollfd, 2> open{pollfd{ends[0], POLLIN, 0}, pollfd{ends[1], POLLIN, 0}};
  std::array<char, 1 << 16> part{};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR)
      return;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || open[i].revents == 0)
        continue;
      const ssize_t got = read(open[i].fd, part.data(), part.size());
      if (got > 0 && texts[i].size() <= most_bytes_of_git)
        texts[i].append(part.data(), static_cast<std::size_t>(got));
      else if (got == 0 || (got < 0 && errno != EINTR))
        open[i].fd = -1;
    }
  }
}

Answer git(const std::string& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"git", "--no-optional-locks", "-C", folder};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> out{}, said{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(said.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0)
    throw std::runtime_error(std::string("cannot start git: ") + std::strerror(errno));
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(said[1], STDERR_FILENO);
    execvp("git", argv.data());
    _exit(no_such_program);
  }
  close(out[1]);
  close(said[1]);
  std::array<std::string, 2> texts;
  read_both({out[0], said[0]}, texts);
  close(out[0]);
  close(said[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Answer answer{.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                .out = std::move(texts[0]),
                .said = texts[1].substr(0, texts[1].find('\n'))};
  if (answer.code == no_such_program)
    throw std::runtime_error("git is not installed: allowed is a folder instead of a commit");
  return answer;
}

void require_repository(const std::string& folder) {
  const Answer answer = git(folder, {"rev-parse", "--is-inside-work-tree"});
  if (answer.code != 0 || trimmed(answer.out) != "true")
    throw std::runtime_error(brief_path(folder) + ": git knows no commits of it (" +
                             brief(answer.said.empty() ? "no work tree" : answer.said) +
                             "): allowed is a folder of a repository");
}

}  // namespace

std::string commit_named(const std::string& ref, const std::string& folder) {
  require_repository(folder);
  const Answer answer =
      git(folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
  if (answer.code != 0 || ref.empty())
    throw std::runtime_error("'" + brief(ref) +
                             "' is no folder, and no commit of this repository: allowed are " +
                             "both; a shallow clone has few (fetch-depth: 0 has all)");
  return trimmed(answer.out);
}

std::optional<std::string> text_at(const std::string& commit, const std::string& folder,
                                   const std::string& file) {
  const std::string name = commit + ":./" + file;
  if (git(folder, {"cat-file", "-e", name}).code != 0)
    return std::nullopt;
  Answer answer = git(folder, {"cat-file", "blob", name});
  if (answer.code != 0 || answer.out.size() > most_bytes_of_git)
    throw std::runtime_error(brief(name) + ": cannot be read: " +
                             (answer.code != 0 ? brief(answer.said) : "more than 10 MB"));
  return std::move(answer.out);
}

std::string commit_of(const std::string& folder) {
  require_repository(folder);
  const Answer answer =
      git(folder, {"describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"});
  if (answer.code != 0)
    throw std::runtime_error(brief_path(folder) + ": git knows no commits of it (" +
                             brief(answer.said) + "): allowed is a folder of a repository");
  return trimmed(answer.out);
}

}  // namespace syncline
