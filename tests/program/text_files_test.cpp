// All text files (configurations, models, cost tables, measurements) are read in the same strict
// way, and none can block the program.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kernels/cost_table.h"
#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/options/user_input.h"
#include "sim/setup/model.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// A kind of file: a valid text, and what its reader makes of a path.
struct Kind {
  std::string name;
  std::string text;
  std::function<std::string(const std::string& path)> read;
};

const std::vector<Kind> kinds{
    {"configuration", "# mine\nmodel = resnet50\nbatch = 16\n",
     [](const std::string& path) {
       std::string all;
       for (const auto& [key, given] : parse_config_file(path))
         all += key + "=" + given.value + ";";
       return all;
     }},
    {"model", "# sample: row\n# parameters: 12\nlayer,parameters,forward_flop\na,5,1e9\nb,7,2e9\n",
     [](const std::string& path) {
       const Model model = read_model(path);
       return model.sample + " " + model.layers.back().name + " " +
              std::to_string(model.parameters()) + " " + number_text(model.forward_flop());
     }},
    {"cost table",
     "# device: test\n# provenance: measured\n"
     "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n"
     "topk,density=0.01,encode,1000,0.001,0,0,80,gauss\n",
     [](const std::string& path) {
       const CostTable table = read_cost_table(path);
       return table.about("provenance") + " " + table.rows.back().distribution;
     }},
    {"measurements", "workers,measured,role,source\n1,99,fit,my notes\n",
     [](const std::string& path) {
       const Csv csv = read_csv(path);
       return csv.columns.front() + " " + csv.columns.back() + " " + csv.rows.back().fields.back();
     }}};

std::string all_replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

TEST(TextFiles, MayHaveAByteOrderMarkAndLineEndsOfEitherSystem) {
  const std::string mark = "\xEF\xBB\xBF";
  const TemporaryFolder folder;
  for (const Kind& kind : kinds) {
    const std::string crlf = all_replaced(kind.text, "\n", "\r\n");
    const std::string plain = kind.read(folder.write("plain", kind.text));
    EXPECT_NE(plain, "");
    EXPECT_EQ(kind.read(folder.write("crlf", crlf)), plain) << kind.name;
    EXPECT_EQ(kind.read(folder.write("mark", mark + kind.text)), plain) << kind.name;
    EXPECT_EQ(kind.read(folder.write("both", mark + crlf)), plain) << kind.name;
    EXPECT_EQ(kind.read(folder.write("one", all_replaced(crlf, "# mine\r\n", "# mine\n"))), plain);
  }
}

TEST(TextFiles, NameTheLineOfWhatIsNoText) {
  const TemporaryFolder folder;
  for (const Kind& kind : kinds) {
    const auto error = [&](const std::string& text) {
      return error_of([&] { kind.read(folder.write("bad", text)); });
    };
    expect_mentions(error(kind.text + std::string("a\0b\n", 4)),
                    {"/bad:" + std::to_string(lines_in(kind.text) + 1), "NUL byte", "UTF-8"});
    expect_mentions(error(std::string("# a\0b\n", 6) + kind.text), {"/bad:1", "NUL byte"});
    expect_mentions(error(all_replaced(kind.text, "\n", "\r")), {"/bad:1", "carriage return"});
    expect_mentions(error("# " + std::string(1'000'000, 'x') + "\n" + kind.text),
                    {"/bad:1", "1000002 bytes", "allowed are 20000"});
  }
}

TEST(TextFiles, AreRegularFilesOfAReasonableSize) {
  const TemporaryFolder folder;
  const std::string huge = folder.write("huge", "");
  std::filesystem::resize_file(huge, 1'000'000'000'000);
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("round", folder.path("round"));
  for (const Kind& kind : kinds) {
    const auto error = [&](const std::string& path) { return error_of([&] { kind.read(path); }); };
    for (const std::string& path :
         {folder.path(), folder.path("pipe"), std::string("/dev/zero"), std::string("/dev/null")})
      EXPECT_EQ(error(path), path + ": a folder, a pipe or a device: allowed are regular files");
    // 10 MB, and 64 MB for a model, which may be a recorded trace.
    expect_mentions(error(huge), {huge, "1000000000000 bytes: allowed are ", "000000"});
    expect_mentions(error(folder.path("none")), {"/none: no such file"});
    expect_mentions(error(folder.path("round")), {"/round: cannot be read: Too many levels"});
    expect_mentions(error(std::string(100'000, 'x')), {"xxx...: cannot be read: File name too"});
  }
}

// As users meet them: the program neither waits for a pipe nor reads an endless device.
TEST(TextFiles, DoNotHoldTheProgramUp) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  for (const std::string file : {"pipe", "/dev/zero"}) {
    for (const char* option : {"--model", "--platform", "--device"}) {
      std::vector<std::string> arguments{"run", option, file, "--throughput", "10"};
      for (const auto& [name, value] : {std::pair{"--model", "resnet50"},
                                        {"--platform", "two-hosts"},
                                        {"--compressor", "onebit"}})
        if (std::string(name) != option)
          arguments.insert(arguments.end(), {name, value});
      const Ended ended = run_program(arguments, folder.path());
      EXPECT_EQ(ended.code, 2) << option << ended.err;
      EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
      expect_mentions(ended.err, {option, "'" + file + "'"});
    }
    expect_mentions(run_program({"run", file}, folder.path()).err, {file, "a pipe"});
  }
  for (const std::string name : {"measured.csv", "scenario.cfg"}) {
    const std::string path = "of-" + name;
    folder.write(path + "/measured.csv", "workers,measured,role,source\n1,9,report,x\n");
    folder.write(path + "/scenario.cfg", "model = resnet50\nplatform = two-hosts\n");
    std::filesystem::remove(folder.path(path + "/" + name));
    ASSERT_EQ(mkfifo(folder.path(path + "/" + name).c_str(), 0600), 0);
    expect_mentions(run_program({"validate", path}, folder.path()).err,
                    {path + "/" + name, "a pipe"});
  }
}

TEST(TextFiles, SayEverythingOnce) {
  const TemporaryFolder folder;
  const auto error = [&](const Kind& kind, const std::string& text) {
    return error_of([&] { kind.read(folder.write("bad", text)); });
  };
  EXPECT_EQ(error(kinds[0], "batch = 1\n\nbatch = 2\n"),
            folder.path("bad") + ":3: batch is given twice");
  const std::string layers = "layer,parameters,forward_flop\na,1,1\n";
  expect_mentions(error(kinds[1], "layer,parameters,parameters,forward_flop\na,1,2,3\n"),
                  {"/bad:1", "second column 'parameters'"});
  for (const std::string key : {"sample", "parameters"})
    expect_mentions(error(kinds[1], "# " + key + ": 1\n# " + key + ": 1\n" + layers),
                    {"/bad", "a second '# " + key + ": ...' line"});
  EXPECT_EQ(kinds[1].read(folder.write("good", "# note: a\n# note: b\n" + layers)), "sample a 1 1");
  expect_mentions(error(kinds[3], "workers,measured,role,workers,source\n"),
                  {"/bad:1", "second column 'workers'"});
}

TEST(CommandLine, SaysEverythingOnce) {
  const std::vector<std::vector<std::string>> all{
      {"--batch", "1", "--batch", "1"}, {"--batch=1", "--batch=2"}, {"--jobs", "1", "--jobs", "2"},
      {"--out", "a", "--out", "b"},     {"--resume", "--resume"},   {"--trace", "--trace"}};
  const TemporaryFolder folder;
  for (std::vector<std::string> arguments : all) {
    arguments.insert(arguments.begin(), "run");
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 2);
    expect_mentions(ended.err,
                    {arguments[1].substr(0, arguments[1].find('=')) + " is given twice"});
  }
  EXPECT_TRUE(listing_of(folder.path()).empty());
}

TEST(Brief, IsTheBeginningAndEndsBetweenCharacters) {
  EXPECT_EQ(brief("short\n"), "short\\x0a");
  EXPECT_EQ(brief(std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(brief(std::string(101, 'x')), std::string(100, 'x') + "...");
  EXPECT_EQ(brief("x" + all_replaced(std::string(60, 'x'), "x", "ö")),
            "x" + all_replaced(std::string(49, 'x'), "x", "ö") + "...");
}

// Very long text is shown by its beginning.
TEST(Messages, ShowTheBeginningOfWhatIsLong) {
  const TemporaryFolder folder;
  const std::string book(19'000, 'x');  // the longest line that a file may have
  const auto expect_brief = [&](const std::vector<std::string>& arguments) {
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 2) << arguments[1].substr(0, 20);
    EXPECT_EQ(lines_in(ended.err), 1U);
    EXPECT_LT(ended.err.size(), 2000U) << ended.err.substr(0, 200);
    EXPECT_NE(ended.err.find("xxx..."), std::string::npos) << ended.err.substr(0, 2000);
  };
  for (const std::string option :
       {"platform", "model", "workers", "batch", "throughput", "precision", "schedule", "exchange",
        "compressor", "network", "overlap", "bucket-bytes", "iterations", "jobs", "out"}) {
    std::vector<std::string> arguments{"run", "--" + option, book, "--throughput", "10"};
    if (option == "throughput")
      arguments.resize(3);
    for (const auto& [name, value] : {std::pair{"model", "resnet50"}, {"platform", "two-hosts"}})
      if (name != option)
        arguments.insert(arguments.end(), {std::string("--") + name, value});
    expect_brief(arguments);
  }
  expect_brief({"run", "--model", "resnet50", "--platform", "two-hosts", "--throughput", "10",
                "--compressor", "onebit", "--device", book});
  for (const std::string& text :
       {"batch = " + book, book + " = 1", book, "[" + book + "]", "model = " + book})
    expect_brief({"run", folder.write("bad.cfg", "platform = two-hosts\n" + text + "\n")});
  const std::string layers = "layer,parameters,forward_flop\n";
  for (const std::string& text : {book + "\na\n", layers + "a," + book + ",1\n",
                                  "# parameters: " + book + "\n" + layers + "a,1,1\n"})
    expect_brief({"run", "--platform", "two-hosts", "--throughput", "10", "--model",
                  folder.write("bad.csv", text)});
  for (const std::string& command : {std::string("list"), std::string("validate"), book})
    expect_brief({command, book});
  expect_brief({"run", book});
  expect_brief({"run", book, book});
  expect_brief({"run", "--" + book, "1"});
}

}  // namespace
}  // namespace syncline
