// Tables of platform files that are refused.
#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {

inline const std::string head =
    "<?xml version=\"1.0\"?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";

inline const std::string whole_link = R"(bandwidth="1GBps" latency="10us")";

// Two hosts and a link, which is in line 7.
struct Parts {
  std::string before;  // in the zone, in line 4
  std::string zone = "routing=\"Full\"";
  std::string host = "speed=\"1Tf\"";  // the first host, in line 5
  std::string link = whole_link;
  std::string inside;  // at the end of the zone
  std::string after;
};

inline std::string platform(const Parts& parts) {
  return head + "<platform version=\"4.1\">\n" + parts.before + "<zone id=\"z\" " + parts.zone +
         ">\n<host id=\"a\" " + parts.host + "/>\n<host id=\"b\" speed=\"1Tf\"/>\n<link id=\"l\" " +
         parts.link + "/>\n<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n" +
         parts.inside + "</zone>\n" + parts.after + "</platform>\n";
}

inline std::string cluster(const std::string& radical, const std::string& topology = "",
                           const std::string& parameters = "") {
  return head + "<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Full\">\n" +
         "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"" + radical +
         "\" speed=\"1Tf\" bw=\"1GBps\" lat=\"1us\"" +
         (topology.empty()
              ? ""
              : " topology=\"" + topology + "\" topo_parameters=\"" + parameters + "\"") +
         "/>\n</zone></platform>\n";
}

// A profile of the first host's speed; its first row is in line 5.
inline std::string profile(const std::string& rows, const std::string& period = "-1",
                           const std::string& kind = "SPEED") {
  return platform(
      {.before = "<trace id=\"t\" periodicity=\"" + period + "\">\n" + rows + "\n</trace>\n",
       .inside = "<trace_connect kind=\"" + kind + "\" trace=\"t\" element=\"a\"/>"});
}

// The link's profile in a file next to the platform.
inline std::string with_file(const std::string& attribute, const std::string& file) {
  return platform({.link = whole_link + " " + attribute + "=\"" + file + "\""});
}

struct Case {
  std::string name;
  std::string xml;
  std::vector<std::string> mentions;
};

// Its name in ctest.
inline void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

inline Ended run_platform(const TemporaryFolder& folder, const std::string& xml) {
  folder.write("p.xml", xml);
  return run_program({"run", "--model", "resnet50", "--throughput", "10", "--iterations", "3",
                      "--warmup", "0", "--platform", "p.xml"},
                     folder.path());
}

inline void expect_refused(const Case& one) {
  const TemporaryFolder folder;
  folder.write("off.txt", "0 1\n0.5 0\n");
  folder.write("slow.txt", "0 1e9\n1 -3\n");
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const auto began = std::chrono::steady_clock::now();
  const Ended ended = run_platform(folder, one.xml);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"syncline: ", "p.xml"});
  expect_mentions(ended.err, one.mentions);
  std::string text = ended.err;  // without the folder and its random letters
  for (std::size_t at = 0; (at = text.find(folder.path())) != std::string::npos;)
    text.erase(at, folder.path().size());
  for (const char* inside :
       {"sto", "bad_alloc", "Assertion", "Segmentation", "Impossible", "std::"})
    EXPECT_EQ(text.find(inside), std::string::npos) << ended.err;
}

inline std::string name_of_case(const testing::TestParamInfo<Case>& about) {
  return about.param.name;
}

}  // namespace syncline
