// Names of any length, invalid dates, and tables without rows get an answer of one line: once, each
// of them killed the program by a signal.
#include <gtest/gtest.h>

#include "tests/program/installation.h"
#include "tests/program/refused_platform.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

void expect_one_line(const Ended& ended, const std::vector<std::string>& mentions) {
  EXPECT_EQ(ended.code, 2) << "signal " << ended.signal << ended.out.substr(0, 500);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err.substr(0, 500);
  EXPECT_LT(ended.err.size(), 2500U) << "names are cut";
  expect_mentions(ended.err, mentions);
}

// Two hosts that nothing connects.
std::string without_routes(const std::string& a, const std::string& b) {
  return head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n<host id=\"" + a +
         "\" speed=\"1Tf\"/><host id=\"" + b +
         "\" speed=\"1Tf\"/>\n<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
         "</zone></platform>\n";
}

// The standard library's regular expressions recurse for each character.
TEST(LongNames, OfHostsAreCutWhereTheyHaveNoRoute) {
  for (const char letter : {'a', '*', '[', ':', '\''})
    for (const std::size_t length : {30'000U, 100'000U}) {
      const TemporaryFolder folder;
      folder.write("p.xml", without_routes(std::string(length, letter), "b"));
      const std::string cut = std::string(50, letter);
      for (const Arguments& more : {Arguments{"run", "--out", "o"}, {"run", "--batch", "1,2"}}) {
        Arguments arguments = more;
        arguments.insert(arguments.end(), {"--platform", "p.xml", "--model", "resnet20",
                                           "--throughput", "9", "--iterations", "1"});
        expect_one_line(run_program(arguments, folder.path()),
                        {"p.xml: hosts " + cut, " and b have no route between them"});
      }
      expect_one_line(run_program({"explain", "--platform", "p.xml", "--model", "resnet20",
                                   "--throughput", "9"},
                                  folder.path()),
                      {"p.xml", letter == '*' ? "hosts" : cut});
      EXPECT_FALSE(fs::exists(folder.path("o")));
    }
}

TEST(SourceDateEpoch, ThatIsNoDateIsRefusedBeforeAnythingIsSimulated) {
  const Arguments run{"run", "--platform",   "two-hosts", "--model", "resnet20", "--throughput",
                      "100", "--iterations", "2",         "--html",  "p.html"};
  for (const char* bad : {"9223372036854775807", "9223372036854775808", "253402300800", "-1", "abc",
                          "1e9", "5x", "nan", "1.5", "", " 5", "\x1b[2J"}) {
    const TemporaryFolder folder;
    expect_one_line(
        run_program(run, folder.path(), [&] { setenv("SOURCE_DATE_EPOCH", bad, 1); }),
        {"SOURCE_DATE_EPOCH = ", "allowed are whole seconds since 1970, 0 to 253402300799"});
    EXPECT_TRUE(listing_of(folder.path()).empty()) << bad;
  }
  for (const auto& [good, day] : {std::pair{"0", "1970-01-01"}, {"253402300799", "9999-12-31"}}) {
    const TemporaryFolder folder;
    const Ended ended =
        run_program(run, folder.path(), [date = good] { setenv("SOURCE_DATE_EPOCH", date, 1); });
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_mentions(text_of(folder.path("p.html")), {day});
  }
}

// The program's own tables, as the owner of an installation may edit them: without rows, without
// columns, empty.
TEST(TablesOfTheProgram, WithoutRowsAreNamed) {
  const Installation program;
  const std::vector<std::pair<std::string, Arguments>> uses{
      {"platforms/frameworks.csv", {"--framework", "pytorch-ddp"}},
      {"platforms/networks.csv", {"--framework", "horovod", "--reality", "typical"}},
      {"platforms/server-software.csv",
       {"--schedule", "asp", "--server-overhead", "tensorflow-1.10"}},
      {"platforms/devices.csv", {"--price", "devices"}},
      {"models/throughput.csv", {"--device", "v100"}},
      {"models/resnet20.csv", {}},
      {"kernels/profiles/v100-modelled.csv",
       {"--compressor", "topk", "--density", "0.01", "--device", "v100-modelled"}}};
  for (const auto& [table, more] : uses) {
    const std::string whole = text_of(program.data(table));
    std::string columns = "\n" + whole;
    for (std::size_t at = 0; (at = columns.find("\n#", at)) != std::string::npos;)
      columns.erase(at, columns.find('\n', at + 1) - at);
    columns = columns.substr(1, columns.find('\n', 1));
    for (const std::string& text : {columns, std::string("# nothing\n"), std::string()}) {
      program.write(table, text);
      Arguments arguments{"run",      "--platform",   "two-hosts", "--model",
                          "resnet20", "--iterations", "1"};
      if (table != "models/throughput.csv")
        arguments.insert(arguments.end(), {"--throughput", "9"});
      arguments.insert(arguments.end(), more.begin(), more.end());
      const TemporaryFolder folder;
      expect_one_line(program.run(arguments, folder.path()), {fs::path(table).filename().string()});
      for (const Arguments& other : {Arguments{"list"},
                                     {"list", "devices"},
                                     {"list", "cost-tables"},
                                     {"help", "v100"},
                                     {"help", "framework"}})
        EXPECT_EQ(program.run(other, folder.path()).signal, 0) << table << other.back();
    }
    program.write(table, whole);
  }
}

}  // namespace
}  // namespace syncline
