// A small folder for `syncline check`, whose cells take a tenth of a second.
#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/program/program.h"

namespace syncline {

// Four machines behind a switch, and two more for servers, with a card each. A step of 20 MB takes
// longer than the 3 ms of computation.
inline std::string checked_platform() {
  std::string hosts, links, routes;
  for (const std::string name : {"a", "b", "c", "d", "s", "t"}) {
    hosts += "    <host id=\"" + name + "\" speed=\"1Tf\"><prop id=\"node\" value=\"" + name +
             "\"/><prop id=\"role\" value=\"" + (name < "s" ? "worker" : "server") +
             "\"/></host>\n";
    links += "    <link id=\"" + name +
             "-nic\" bandwidth=\"1GBps\" latency=\"10us\" sharing_policy=\"SPLITDUPLEX\"/>\n";
    routes += "    <route src=\"" + name + "\" dst=\"switch\"><link_ctn id=\"" + name +
              "-nic\" direction=\"UP\"/></route>\n";
  }
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Floyd\">\n" +
         hosts + "    <router id=\"switch\"/>\n" + links + routes + "</zone>\n</platform>\n";
}

inline const std::string checked_model = R"(# model: small
# sample: image
# source: made up
layer,parameters,forward_flop
first,1000000,10000000
middle,3000000,11250000
last,1000000,10000000
)";

inline const std::string check_settings =
    "platform = platform.xml\nmodel = model.csv\nefficiency = 1\nworkers = 4\nseed = 1\n"
    "jitter = 0\nbucket-bytes = all\n";

inline std::string checked_cost_table() {
  std::string text =
      "# device: made up\n# provenance: measured\n"
      "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const char* density : {"0.01", "0.05"})
    for (const char* operation : {"encode", "decode"})
      for (const char* size : {"1000", "100000000"})
        text += std::string("topk,density=") + density + "," + operation + "," + size +
                ",0.001,0.001,0.001,80,normal\n";
  return text;
}

inline std::string with_change(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Independent of the machine's own git settings.
inline const std::string plain_git =
    "git -c user.name=Somebody -c user.email=somebody@localhost -c commit.gpgsign=false "
    "-c init.defaultBranch=main ";

using Arguments = std::vector<std::string>;

// A folder with a ring, a compressor and servers, already blessed.
class CheckedFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("c/platform.xml", checked_platform());
    folder_.write("c/model.csv", checked_model);
    folder_.write("c/costs.csv", checked_cost_table());
    folder_.write("c/ring.cfg", check_settings + "schedule = bsp\n");
    folder_.write("c/topk.cfg",
                  check_settings + "compressor = topk\ndensity = 0.01\ndevice = costs.csv\n");
    folder_.write("c/ssp.cfg",
                  check_settings + "schedule = ssp\nstaleness = 0\nservers = 1\niterations = 30\n");
    const Ended blessed = run({"--bless", "--because", "the first, \"as is\""});
    ASSERT_EQ(blessed.code, 0) << blessed.err << blessed.out;
    expected_ = text_of(folder_.path("c/expected.csv"));
  }
  Ended run(const Arguments& more = {}) const {
    Arguments arguments{"check", "c"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, folder_.path());
  }
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    folder_.write(file, with_change(text_of(folder_.path(file)), from, to));
  }
  void git(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.path() + "' && " + plain_git + arguments;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void commit(const std::string& message) const {
    git("add -A c");
    git("commit -q -m '" + message + "'");
  }
  const TemporaryFolder folder_;
  std::string expected_;
};

// The same as the first commit of a repository.
class CheckedRepository : public CheckedFolder {
 protected:
  void SetUp() override {
    if (std::system("command -v git >/dev/null") != 0)
      GTEST_SKIP() << "git is missing";
    CheckedFolder::SetUp();
    git("init -q .");
    commit("base");
  }
};

}  // namespace syncline
