// Every file that a run opens is an input of its result: once, relabelled images kept the old loss
// with --resume, another table of servers kept the old throughput, and `check` reported that the
// program had changed.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <sys/inotify.h>

#include "sim/commands/commands.h"
#include "sim/commands/help.h"
#include "sim/gate/cause.h"
#include "sim/options/expand.h"
#include "sim/platform/platform_file.h"
#include "sim/sweep/cell_inputs.h"
#include "tests/program/checked_folder.h"
#include "tests/program/installation.h"
#include "tests/program/refused_platform.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

// MNIST's files with 2x2 images, dark for one label and bright for the other; or with labels
// unrelated to the images.
void write_images(const TemporaryFolder& folder, bool labels_fit,
                  const std::string& images_folder = "images") {
  for (const auto& [part, count] : {std::pair("train", 60U), {"t10k", 20U}}) {
    std::string images = big_endian({0x803, count, 2, 2});
    std::string labels = big_endian({0x801, count});
    for (unsigned i = 0; i < count; ++i) {
      const bool bright = i % 2 == 1;
      images += std::string(4, bright ? '\xf0' : '\x10');
      labels.push_back((labels_fit ? bright : i / 2 % 2 == 1) ? '\x01' : '\x00');
    }
    folder.write(images_folder + "/" + part + "-images-idx3-ubyte", images);
    folder.write(images_folder + "/" + part + "-labels-idx1-ubyte", labels);
  }
}

namespace fs = std::filesystem;

// The files that any process has opened in these folders.
class OpenedFiles {
 public:
  OpenedFiles(const Installation& program, const TemporaryFolder& own) {
    const std::string root = program.data("");
    std::vector<fs::path> folders{own.path(), root};
    for (const std::string& place : {own.path(), root})
      for (const auto& entry : fs::recursive_directory_iterator(place))
        if (entry.is_directory())
          folders.push_back(entry.path());
    for (const fs::path& folder : folders) {
      const std::string name = folder.string().starts_with(root)
                                   ? folder.lexically_relative(root)
                                   : folder.lexically_relative(own.path());
      name_of_[inotify_add_watch(watch_, folder.c_str(), IN_OPEN)] = name == "." ? "" : name + "/";
    }
    EXPECT_FALSE(name_of_.contains(-1)) << "no watch";
  }
  ~OpenedFiles() { close(watch_); }
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;

  // Returns those opened since the last call.
  std::set<std::string> take() const {
    std::set<std::string> names;
    alignas(inotify_event) std::array<char, 65536> buffer{};
    for (ssize_t size = 0; (size = read(watch_, buffer.data(), buffer.size())) > 0;)
      for (ssize_t i = 0; i < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + i);
        if ((event->mask & IN_ISDIR) == 0 && event->len > 0)
          names.insert(name_of_.at(event->wd) + event->name);
        i += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return names;
  }

 private:
  int watch_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  std::map<int, std::string> name_of_;
};

// The files that inputs_of() fingerprints, by the names that OpenedFiles uses.
std::set<std::string> listed_inputs(const Sweep& sweep, const TemporaryFolder& own) {
  std::set<std::string> names;
  for (const Scenario& scenario : sweep.cells)
    for (const auto& [kind, files] : input_files(scenario, read_platform(scenario))) {
      EXPECT_TRUE(std::ranges::count(noted_inputs, kind) > 0) << "check has no note of " << kind;
      for (const std::string& file : files) {
        if (file.empty())  // a platform in words
          continue;
        const fs::path path = fs::absolute(file);
        names.insert(path.lexically_relative(path.string().starts_with(own.path()) ? own.path()
                                                                                   : data_root()));
      }
    }
  return names;
}

void expect_all_listed(const std::set<std::string>& opened, const std::set<std::string>& listed,
                       const std::string& of) {
  for (const std::string& name : opened)
    EXPECT_TRUE(listed.contains(name)) << of << " opens " << name;
}

Arguments words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Sweep sweep_of(const Arguments& arguments) {
  return expand(merged_with_file(command_line("run", arguments)));
}

// A run with files of the user's own, and with every file of the program's own data that an option
// can request.
TEST(InputsOfAResult, AreAllFilesThatARunOpens) {
  const Installation program;
  const TemporaryFolder own;
  write_images(own, true);
  own.write("rows.txt", "0 1e9\n");
  own.write("p.xml", with_file("bandwidth_file", "rows.txt"));
  own.write("m.csv", checked_model);
  own.write("costs.csv", checked_cost_table());
  const OpenedFiles opened(program, own);
  fs::current_path(own.path());
  std::set<std::string> all;
  for (const std::string line :
       {"--platform two-hosts --model resnet50 --device v100 --framework pytorch-ddp --price 1",
        "--platform two-hosts --model resnet50 --throughput 9 --schedule asp "
        "--server-overhead tensorflow-1.10",
        "--platform p.xml --model m.csv --throughput 9 --compressor topk --density 0.01 "
        "--device costs.csv --price 1",
        "--platform dgx:nodes=2:cards=8x400Gbps:ib --model resnet50 --device v100 --reality "
        "typical",
        "--platform dgx:nodes=2 --model resnet50 --device v100-modelled --compressor topk "
        "--density 0.01",
        "--platform two-hosts --throughput 9 --learn digits",
        "--platform two-hosts --throughput 9 --learn softmax --data images --batch 5"}) {
    Arguments arguments = words_of(line + " --iterations 2 --warmup 0");
    const std::set<std::string> listed = listed_inputs(sweep_of(arguments), own);
    opened.take();
    arguments.insert(arguments.begin(), "run");
    const Ended ended = program.run(arguments, own.path());
    EXPECT_EQ(ended.code, 0) << line << "\n" << ended.err;
    const std::set<std::string> now = opened.take();
    expect_all_listed(now, listed, line);
    all.insert(now.begin(), now.end());
  }
  for (const char* some :
       {"platforms/devices.csv", "platforms/frameworks.csv", "platforms/networks.csv",
        "platforms/server-software.csv", "models/throughput.csv", "models/resnet50.csv",
        "platforms/two-hosts.xml", "kernels/profiles/v100-modelled.csv", "p.xml", "rows.txt",
        "m.csv", "costs.csv", "images/train-images-idx3-ubyte"})
    EXPECT_TRUE(all.contains(some)) << some;
}

// Uses the example of each option of a scenario, so that future options are tested, too.
TEST(InputsOfAResult, AreAllFilesThatAnOptionMakesItOpen) {
  const Installation program;
  const TemporaryFolder none;
  const OpenedFiles opened(program, none);
  fs::current_path(SYNCLINE_SOURCE_DIR);
  int looked_at = 0;
  for (const auto& [word, meanings_of_word] : meanings())
    for (const Meaning& meaning : meanings_of_word) {
      Arguments arguments = words_of(meaning.example);
      if (!meaning.kind.starts_with("an option") ||
          meaning.kind.starts_with("an option of the command") ||
          (arguments.at(1) != "run" && arguments.at(1) != "explain"))
        continue;
      arguments.erase(arguments.begin(), arguments.begin() + 2);
      const Sweep sweep = sweep_of(arguments);
      if (sweep.cells.size() > 1)
        continue;
      const std::set<std::string> listed = listed_inputs(sweep, none);
      opened.take();
      arguments.insert(arguments.begin(), "explain");
      if (program.run(arguments, SYNCLINE_SOURCE_DIR).code == 0)
        ++looked_at;
      expect_all_listed(opened.take(), listed, meaning.example);
    }
  EXPECT_GT(looked_at, 60);
}

// 100 samples/s of a worker become 168.94 for two workers at 0.39 ms per tensor, and 6.915 at 39
// ms.
TEST(StaleServerSoftware, IsSimulatedAgainAndIsTheCauseThatCheckNames) {
  const Installation program;
  const TemporaryFolder folder;
  const std::string options =
      "platform = two-hosts\nmodel = resnet20\nthroughput = 100\niterations = 2\n"
      "schedule = asp\nserver-overhead = tensorflow-1.10\n";
  folder.write("a.cfg", options);
  const auto throughput = [&](const Arguments& more) -> double {
    Arguments arguments{"run", "a.cfg", "--out", "o"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = program.run(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(
        text_of(folder.path("o/result.json")))["figures"]["throughput_samples_per_s"];
  };
  EXPECT_NEAR(throughput({}), 168.94, 0.01);
  EXPECT_EQ(program.run({"check", ".", "--bless", "--because", "x"}, folder.path()).code, 0);
  expect_mentions(text_of(folder.path("expected.csv")), {"a,server_software_file,"});
  EXPECT_NEAR(throughput({"--resume"}), 168.94, 0.01);
  const std::string table = "platforms/server-software.csv";
  program.write(table, with_change(text_of(program.data(table)), "tensorflow-1.10,3.9e-4",
                                   "tensorflow-1.10,3.9e-2"));
  EXPECT_NEAR(throughput({"--resume"}), 6.915, 0.01);
  const Ended moved = program.run({"check", "."}, folder.path());
  EXPECT_EQ(moved.code, 1) << moved.err;
  expect_mentions(moved.out, {"MOVED", "changed: the server software file"});
}

double loss_of(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "run",     "--platform",   "two-hosts", "--throughput",    "100", "--learn",
      "softmax", "--data",       "images",    "--learning-rate", "1",   "--batch",
      "5",       "--iterations", "60",        "--out",           "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = run_program(arguments, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return nlohmann::json::parse(text_of(folder.path("out/result.json")))["figures"]["loss"];
}

TEST(RelabelledData, AreLearnedAgainByAResumedRun) {
  const TemporaryFolder folder;
  write_images(folder, true);
  const double before = loss_of(folder, {});
  EXPECT_LT(before, 0.4);
  EXPECT_EQ(loss_of(folder, {"--resume"}), before);
  write_images(folder, false);
  const double resumed = loss_of(folder, {"--resume"});
  EXPECT_GT(resumed, 0.6);
  EXPECT_EQ(resumed, loss_of(folder, {}));
}

TEST(RelabelledData, AreTheCauseThatCheckNames) {
  const TemporaryFolder folder;
  write_images(folder, true);
  folder.write("lesson.cfg",
               "platform = two-hosts\nthroughput = 100\nlearn = softmax\ndata = images\n"
               "learning-rate = 1\nbatch = 5\niterations = 60\n");
  EXPECT_EQ(run_program({"check", ".", "--bless", "--because", "first"}, folder.path()).code, 0);
  const std::string expected = text_of(folder.path("expected.csv"));
  expect_mentions(expected, {"lesson,data_file,", "lesson,loss,"});
  const Ended met = run_program({"check", "."}, folder.path());
  EXPECT_EQ(met.code, 0) << met.out << met.err;
  write_images(folder, false);
  const Ended moved = run_program({"check", "."}, folder.path());
  EXPECT_EQ(moved.code, 1) << moved.out << moved.err;
  expect_mentions(moved.out, {"lesson", "loss", "changed: the data file"});
}

// The digits that come with the program are a file, too.
TEST(RelabelledData, OfTheProgramAreNoted) {
  const TemporaryFolder folder;
  folder.write("digits.cfg",
               "platform = two-hosts\nthroughput = 100\nlearn = digits\niterations = 3\n");
  folder.write("timed.cfg",
               "platform = two-hosts\nthroughput = 100\nmodel = resnet20\niterations = 3\n");
  EXPECT_EQ(run_program({"check", ".", "--bless", "--because", "first"}, folder.path()).code, 0);
  const std::string expected = text_of(folder.path("expected.csv"));
  expect_mentions(expected, {"digits,data_file,"});
  EXPECT_EQ(expected.find("timed,data_file"), std::string::npos);
}

// Once, bytes of the folder's name reached the terminal, and errors of a library reached the user.
TEST(Printable, IsWhatIsShownOfDataInAnyFolder) {
  const TemporaryFolder folder;
  const std::string odd = "d\x1b[2J\xff";
  const std::string shown = "d\\x1b[2J\\xff";
  write_images(folder, true, odd);
  for (const std::string command : {"run", "explain"}) {
    std::vector<std::string> arguments{
        command, "--platform", "two-hosts", "--throughput", "100", "--learn", "softmax", "--data",
        odd,     "--batch",    "5",         "--iterations", "60"};
    if (command == "run")
      arguments.insert(arguments.end(), {"--out", "o", "--trace", "--html", "page.html"});
    for (const bool json : {false, true}) {
      if (json)
        arguments.emplace_back("--json");
      const Ended ended = run_program(arguments, folder.path());
      EXPECT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ((ended.out + ended.err).find_first_of("\x1b\xff"), std::string::npos) << command;
      expect_mentions(ended.out, {json ? "d\\\\x1b[2J\\\\xff" : shown});
    }
  }
  for (const auto& [name, text] : files_of(folder.path("o")))
    EXPECT_EQ(text.find_first_of("\x1b\xff"), std::string::npos) << name;
  const Ended none = run_program({"run", "--platform", "two-hosts", "--throughput", "100",
                                  "--learn", "softmax", "--data", "n\x1b\xff"},
                                 folder.path());
  EXPECT_EQ(none.code, 2);
  expect_mentions(none.err, {"no data 'n\\x1b\\xff'"});
}

}  // namespace
}  // namespace syncline
