#include "sim/gate/git.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kernels/io/text.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes_of_git = 10'000'000;
constexpr int no_such_program = 127;

struct GitAnswer {
  int code = 0;
  std::string out;
  std::string error;  // the first line of its stderr
};

// Reads both pipes until they are closed, so that neither waits for the other.
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

// The list of `git rev-parse --local-env-vars`.
constexpr std::array variables_of_repositories{"GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                               "GIT_COMMON_DIR",
                                               "GIT_CONFIG",
                                               "GIT_CONFIG_COUNT",
                                               "GIT_CONFIG_PARAMETERS",
                                               "GIT_DIR",
                                               "GIT_GRAFT_FILE",
                                               "GIT_IMPLICIT_WORK_TREE",
                                               "GIT_INDEX_FILE",
                                               "GIT_INTERNAL_SUPER_PREFIX",
                                               "GIT_NO_REPLACE_OBJECTS",
                                               "GIT_OBJECT_DIRECTORY",
                                               "GIT_PREFIX",
                                               "GIT_REPLACE_REF_BASE",
                                               "GIT_SHALLOW_FILE",
                                               "GIT_WORK_TREE"};

// Makes git obey the folder alone, not a repository named in the environment, as in a git hook.
// Switches off what a repository's settings could make git run or fetch. Git writes nothing.
void seal() {
  for (const char* name : variables_of_repositories)
    unsetenv(name);
  for (const auto& [name, value] : {std::pair{"GIT_OPTIONAL_LOCKS", "0"},
                                    {"GIT_NO_LAZY_FETCH", "1"},
                                    {"GIT_ALLOW_PROTOCOL", ""},
                                    {"GIT_TERMINAL_PROMPT", "0"}})
    setenv(name, value, 1);
}

const std::vector<std::string> sealed_git{"git",
                                          "-c",
                                          "safe.bareRepository=explicit",
                                          "-c",
                                          "core.fsmonitor=false",
                                          "-c",
                                          "core.hooksPath=/dev/null"};

GitAnswer git(const std::string& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = sealed_git;
  all.insert(all.end(), {"-C", folder});
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0)
    throw std::runtime_error(std::string("cannot start git: ") + std::strerror(errno));
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    seal();
    execvp("git", argv.data());
    _exit(no_such_program);
  }
  close(out[1]);
  close(err[1]);
  std::array<std::string, 2> texts;
  read_both({out[0], err[0]}, texts);
  close(out[0]);
  close(err[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  GitAnswer answer{.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   .out = std::move(texts[0]),
                   .error = texts[1].substr(0, texts[1].find('\n'))};
  if (answer.code == no_such_program)
    throw std::runtime_error("git is not installed: allowed is a folder instead of a commit");
  return answer;
}

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw std::runtime_error(brief_path(folder) + ": git knows no commits of it (" + why +
                           "): allowed is a folder of a repository");
}

// A commit can contain a folder that git takes for a bare repository, and whose settings it would
// obey. Git has safe.bareRepository from 2.38 on.
void refuse_bare_repository(const std::string& folder) {
  std::error_code error;
  const auto has = [&](const fs::path& path) { return fs::exists(path, error); };
  for (fs::path at = fs::weakly_canonical(folder, error); !has(at / ".git");
       at = at.parent_path()) {
    if (has(at / "HEAD") && (has(at / "commondir") || (has(at / "objects") && has(at / "refs"))))
      refuse_folder(folder, "its HEAD, objects and refs in " + brief_path(at.string()) +
                                " are a bare repository, as a commit can bring one");
    if (at == at.parent_path())
      return;
  }
}

void require_repository(const std::string& folder) {
  refuse_bare_repository(folder);
  const GitAnswer answer = git(folder, {"rev-parse", "--is-inside-work-tree"});
  if (answer.code != 0 || trimmed(answer.out) != "true")
    refuse_folder(folder, answer.error.empty() ? "no work tree" : brief(answer.error));
}

// The output of git. Throws if git fails.
std::string printed(const std::string& folder, const std::vector<std::string>& arguments) {
  GitAnswer answer = git(folder, arguments);
  if (answer.code != 0)
    refuse_folder(folder, brief(answer.error));
  return std::move(answer.out);
}

}  // namespace

std::string commit_named(const std::string& ref, const std::string& folder) {
  require_repository(folder);
  const GitAnswer answer =
      git(folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
  if (answer.code != 0 || ref.empty())
    throw std::runtime_error("'" + brief(ref) +
                             "' is no folder, and no commit of this repository: allowed are " +
                             "both; a shallow clone has few (fetch-depth: 0 has all)");
  return trimmed(answer.out);
}

std::optional<std::string> text_at(const std::string& commit, const std::string& folder,
                                   const std::string& file) {
  if (printed(folder, {"ls-tree", "--name-only", commit, "--", file}).empty())
    return std::nullopt;
  const std::string name = commit + ":./" + file;
  GitAnswer answer = git(folder, {"cat-file", "blob", name});
  if (answer.code != 0 || answer.out.size() > most_bytes_of_git)
    throw std::runtime_error(
        brief(name) + ": cannot be read: " +
        (answer.code != 0
             ? brief(answer.error) +
                   "; a partial clone has not all files of a commit: allowed is a whole one"
             : "more than 10 MB"));
  return std::move(answer.out);
}

std::string commit_of(const std::string& folder) {
  require_repository(folder);
  const std::string commit =
      trimmed(printed(folder, {"rev-parse", "--verify", "--short=12", "HEAD^{commit}"}));
  // Of a submodule only its commit counts: otherwise git would start itself in each submodule.
  const std::string differ = printed(
      folder, {"status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"});
  return commit + (differ.empty() ? "" : "-dirty");
}

}  // namespace syncline
