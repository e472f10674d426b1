// Texts of platform files, and tables of those that are refused.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "sim/platform/platform_file.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

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

// The files that with_file() may name.
inline void write_profiles(const TemporaryFolder& folder) {
  folder.write("off.txt", "0 1\n0.5 0\n");
  folder.write("slow.txt", "0 1e9\n1 -3\n");
  EXPECT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
}

// In one line.
inline void expect_refused(const std::vector<Case>& cases) {
  const TemporaryFolder folder;
  write_profiles(folder);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    folder.write("p.xml", one.xml);
    const std::string refusal = read_platform(folder.path("p.xml")).refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
    expect_mentions(refusal, {"p.xml"});
    expect_mentions(refusal, one.mentions);
  }
}

}  // namespace syncline
