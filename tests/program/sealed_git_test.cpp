// `check --against` and `--history` call git: git then runs nothing that a commit has brought, uses
// no other repository, and writes nothing.
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "tests/program/checked_folder.h"
#include "tests/repo/commands.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

class SealedGit : public CheckedRepository {
 protected:
  void expect_refused(const Arguments& more, const std::vector<std::string>& mentions) const {
    const Ended ended = run(more);
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
    EXPECT_FALSE(fs::exists(folder_.path("RAN"))) << "what a commit has brought was run";
    EXPECT_FALSE(fs::exists(folder_.path("h.csv")));
  }
};

// Git takes a folder with HEAD, objects and refs for a repository, and its settings may name
// programs.
TEST_F(SealedGit, RunsNothingOfABareRepositoryThatACommitHasBrought) {
  const std::string ran = "echo ran >" + folder_.path("RAN") + "; false";
  const std::string worktree = "\tbare = false\n\tworktree = \".\"\n";
  folder_.write("c/HEAD", "ref: refs/heads/main\n");
  folder_.write("c/objects/.keep", "");
  folder_.write("c/refs/heads/main", "1111111111111111111111111111111111111111\n");
  folder_.write("c/config", "[core]\n\trepositoryformatversion = 1\n" + worktree +
                                "\tfsmonitor = \"" + ran +
                                "\"\n[extensions]\n\tpartialClone = o\n[remote \"o\"]\n"
                                "\turl = \".\"\n\tpromisor = true\n\tuploadpack = \"" +
                                ran + "\"\n");
  git("add -A -f c");
  git("commit -q -m bare");
  const std::vector<std::string> mentions{"c: git knows no commits of it", "bare repository"};
  expect_refused({"--against", "HEAD"}, mentions);
  expect_refused({"--history", "h.csv"}, mentions);
  // A repository whose objects are elsewhere.
  folder_.write("c/commondir", "../elsewhere\n");
  fs::create_directory(folder_.path("elsewhere"));
  for (const char* part : {"objects", "refs", "config"})
    fs::rename(folder_.path("c/" + std::string(part)),
               folder_.path("elsewhere/" + std::string(part)));
  expect_refused({"--against", "HEAD"}, mentions);
  expect_refused({"--history", "h.csv"}, mentions);
}

// Programs named in the clone's own settings are not run either: a file system monitor, and hooks.
TEST_F(SealedGit, RunsNothingThatTheRepositoryIsSetTo) {
  const std::string ran = "echo ran >" + folder_.path("RAN");
  git("config core.fsmonitor '" + ran + "; false'");
  folder_.write(".git/hooks/post-index-change", "#!/bin/sh\n" + ran + "\n");
  fs::permissions(folder_.path(".git/hooks/post-index-change"), fs::perms::owner_all);
  EXPECT_EQ(run({"--against", "HEAD", "--history", "h.csv"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_.path("RAN")));
}

// As in a git hook, which sets these variables for its own repository.
TEST_F(SealedGit, KnowsNoRepositoryThatTheEnvironmentNames) {
  edit("c/ring.cfg", "seed = 1", "seed = 2");
  const Arguments arguments{"check", "c", "--against", "HEAD", "--history", "h.csv"};
  const Ended plain = run_program(arguments, folder_.path());
  const std::string history = text_of(folder_.path("h.csv"));
  expect_mentions(plain.out, {"option seed 1 -> 2"});
  const std::vector<std::string> variables =
      split(trimmed(succeeds("git rev-parse --local-env-vars")), '\n');
  EXPECT_GT(variables.size(), 10U);
  const Ended in_hook = run_program(arguments, folder_.path(), [&] {
    for (const std::string& variable : variables)
      setenv(variable.c_str(), "/nowhere", 1);
  });
  EXPECT_EQ(in_hook.code, plain.code) << in_hook.err;
  EXPECT_EQ(in_hook.out, plain.out);
  EXPECT_EQ(text_of(folder_.path("h.csv")), history);
}

// A touched file makes git read it, and git would then record that in the index.
TEST_F(SealedGit, WritesNoIndex) {
  fs::last_write_time(folder_.path("c/ring.cfg"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto before = listing_of(folder_.path(".git"));
  EXPECT_EQ(run({"--against", "HEAD", "--history", "h.csv"}).code, 0);
  EXPECT_TRUE(listing_of(folder_.path(".git")) == before);
  EXPECT_EQ(text_of(folder_.path("h.csv")).find("-dirty"), std::string::npos);
  edit("c/ring.cfg", "seed = 1", "seed = 2");
  EXPECT_EQ(run({"--history", "h.csv"}).code, 0);
  expect_mentions(text_of(folder_.path("h.csv")), {"-dirty,ring,"});
  EXPECT_TRUE(listing_of(folder_.path(".git")) == before);
}

// Files that were not fetched must not count as missing: everything would be new.
TEST_F(SealedGit, RefusesACommitWhoseFilesAPartialCloneHasNot) {
  edit("c/ring.cfg", "schedule = bsp", "schedule = asp");
  ASSERT_EQ(run({"--bless", "--because", "another"}).code, 0);
  commit("another");
  git("config uploadpack.allowFilter true");
  const TemporaryFolder clone;
  git("clone -q --filter=blob:none 'file://" + folder_.path() + "' " + clone.path("r"));
  const Ended ended = run_program({"check", "c", "--against", "HEAD~1"}, clone.path("r"));
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {":./expected.csv: cannot be read", "partial clone"});
}

}  // namespace
}  // namespace syncline
