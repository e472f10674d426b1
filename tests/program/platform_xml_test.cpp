// Platform files as the program reads them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/refused_platform.h"

namespace syncline {
namespace {

// tests/unit/refused_platform_test.cpp has everything that is refused; the program says it so:
TEST(RefusedPlatform, IsAnsweredInOneLineWithExitCodeTwo) {
  expect_refused({"AValue", platform({.host = "speed=\"inf\""}), {"p.xml:5", "speed = inf"}});
  expect_refused({"AProfile", with_file("bandwidth_file", "slow.txt"), {"slow.txt", "-3"}});
  expect_refused({"APipe", with_file("state_file", "pipe"), {"p.xml:7", "regular files"}});
  expect_refused({"LongFile", std::string(100'000'001, ' '), {"are 100000000"}});
}

// SimGrid, or the scenario, decides these.
TEST(RefusedPlatform, IsAlsoOneThatItsTextAloneDoesNotShow) {
  const std::string setting =
      "<config id=\"c\"><prop id=\"network/bandwidth-factor\" value=\"2\"/></config>\n";
  expect_refused({"ANetworkOfItsOwn",
                  platform({.before = setting}),
                  {"p.xml:4", "network/bandwidth-factor", "options of the scenario"}});
  expect_refused({"HostThatGoesOff",
                  profile("0 1\n0.05 0", "-1", "HOST_AVAIL"),
                  {"host a", "0.05 s", "stay on"}});
  expect_refused({"HostThatIsNeverOn", profile("0 0", "-1", "HOST_AVAIL"), {"host a"}});
  expect_refused(
      {"NoZone", head + "<platform version=\"4.1\">\n</platform>\n", {"0 worker hosts"}});
  const std::string third = "speed=\"1Tf\"/><host id=\"c\" speed=\"1Tf\"";
  for (const char* routing : {"routing=\"Full\"", "routing=\"Floyd\""})
    expect_refused({"HostWithoutAWay",
                    platform({.zone = routing, .host = third}),
                    {"have no route between them: allowed are"}});
}

// Warnings about a platform that is unusual but valid.
std::vector<std::string> warnings_of(const std::string& xml, const std::string& rows = "") {
  const TemporaryFolder folder;
  folder.write("rows.txt", rows);
  folder.write("p.xml", xml);
  const Ended ended = run_program({"run", "--model", "resnet50", "--throughput", "10",
                                   "--iterations", "3", "--platform", "p.xml", "--out", "o"},
                                  folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path("o")))
    if (file.path().extension() == ".json")
      return nlohmann::json::parse(text_of(file.path().string()))
          .at("figures")
          .at("warnings")
          .get<std::vector<std::string>>();
  return {};
}

bool mentioned(const std::vector<std::string>& warnings, const std::string& words) {
  return std::ranges::any_of(
      warnings, [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(PlatformWarnings, SayWhichLinkIsSlow) {
  EXPECT_TRUE(mentioned(warnings_of(platform({.link = R"(bandwidth="1kBps" latency="0")"})),
                        "<link> l has bandwidth = 1kBps (line 7)"));
  EXPECT_FALSE(mentioned(warnings_of(platform({})), "link"));
}

TEST(PlatformWarnings, SayWhichBandwidthFollowsAProfile) {
  EXPECT_TRUE(mentioned(warnings_of(with_file("bandwidth_file", "rows.txt"), "0 1e9\n1 10\n"),
                        "bandwidth of link l follows a profile, from 10 to 1000000000"));
}

// A <cluster> does not say which node a host is on: four hosts are four nodes, unless
// workers-per-node is given.
TEST(PlatformWarnings, NameWorkersPerNodeWhereEachHostCountsAsANode) {
  const auto warnings_of_cluster = [](const std::string& property,
                                      const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    folder.write("p.xml",
                 head +
                     "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"h\" suffix=\"\" "
                     "radical=\"0-3\" speed=\"1Tf\" bw=\"1GBps\" lat=\"1us\">" +
                     property + "</cluster></platform>\n");
    std::vector<std::string> run{"run", "--json",       "--model", "resnet50",   "--throughput",
                                 "10",  "--iterations", "3",       "--platform", "p.xml"};
    run.insert(run.end(), more.begin(), more.end());
    const Ended ended = run_program(run, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto cell = nlohmann::json::parse(ended.out).at("cells").at(0);
    return cell.at("result").at("figures").at("warnings").get<std::vector<std::string>>();
  };
  const std::vector<std::string> told = warnings_of_cluster("", {});
  EXPECT_TRUE(mentioned(told, "each of 4 workers is a node"));
  EXPECT_EQ(std::ranges::count_if(told,
                                  [](const std::string& line) {
                                    return line.find("workers-per-node") != std::string::npos;
                                  }),
            1);
  for (const char* per_node : {"1", "2", "4"})
    EXPECT_FALSE(mentioned(warnings_of_cluster("", {"--workers-per-node", per_node}), "node"));
  EXPECT_FALSE(mentioned(warnings_of_cluster("", {"--workers", "1"}), "workers-per-node"));
  EXPECT_FALSE(mentioned(warnings_of_cluster(R"(<prop id="node" value="n"/>)", {}), "node"));
}

TEST(PlatformWarnings, SayOnceWhatIsIgnored) {
  const std::string plain = platform({});
  const std::string full = platform(
      {.before = "<config id=\"c\"><prop id=\"tracing/filename\" value=\"precious.txt\"/>"
                 "<prop id=\"smpi/privatization\" value=\"1\"/></config>\n"
                 "<storage_type id=\"ssd\" size=\"1GB\"><model_prop id=\"r\" value=\"1\"/>"
                 "</storage_type>\n",
       .host = "speed=\"1Tf\"><disk id=\"d\" read_bw=\"1kBps\" write_bw=\"1kBps\"><prop "
               "id=\"size\" value=\"1\"/></disk><prop id=\"remote_disk\" value=\"/x:d:b\"/>"
               "<mount storageId=\"x\" name=\"/\"/></host><host id=\"login\" "
               "speed=\"1Tf\"><prop id=\"role\" value=\"none\"/></host><host id=\"c\" "
               "speed=\"1Tf\"><prop id=\"role\" value=\"none\"/></host><router id=\"r\""});
  const auto warnings = warnings_of(full);
  ASSERT_EQ(warnings.size(), warnings_of(plain).size() + 1);
  EXPECT_TRUE(mentioned(warnings,
                        "ignored, because training does not use it: config smpi/privatization, "
                        "config tracing/filename, disk, "
                        "host with role = none (2 times), mount, remote_disk, storage_type"));
  const auto figures = [](const std::string& xml) {
    const TemporaryFolder folder;
    folder.write("precious.txt", "mine");
    folder.write("p.xml", xml);
    const Ended ended = run_program({"run", "--json", "--model", "resnet50", "--throughput", "10",
                                     "--iterations", "3", "--platform", "p.xml"},
                                    folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(text_of(folder.path("precious.txt")), "mine");
    auto all = nlohmann::json::parse(ended.out).at("cells").at(0).at("result").at("figures");
    all.erase("warnings");
    return all.dump();
  };
  EXPECT_EQ(figures(full), figures(plain));
}

// XML turns line ends and tabs in attributes into blanks; without that, SimGrid and this program
// would use different names. CR and LF count as one.
TEST(PlatformNames, HaveABlankWhereTheFileHasALineEndOrATab) {
  const auto report = [](const std::string& xml) {
    const TemporaryFolder folder;
    folder.write("p.xml", xml);
    const Ended ended = run_program({"run", "--model", "resnet50", "--throughput", "10",
                                     "--iterations", "3", "--platform", "p.xml", "--out", "o"},
                                    folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(run_program({"report", "o"}, folder.path()).code, 0);
    return ended.out;
  };
  const auto with = [](const std::string& blank) {
    std::string xml = platform({.host = "speed=\"1Tf\"><prop id=\"node\" value=\"x" + blank +
                                        "y\"/><prop id=\"remote_disk\" value=\"1\"/></host><host "
                                        "id=\"c" +
                                        blank +
                                        "d\" speed=\"1Tf\"><prop id=\"role\" "
                                        "value=\"none\"/></host><router id=\"r\""});
    for (const std::string of : {"link id=\"l", "link_ctn id=\"l"})
      xml.insert(xml.find(of) + of.size(), blank + "k");
    return xml;
  };
  const std::string plain = report(with(" "));
  expect_mentions(plain, {"l k"});
  for (const char* blank : {"\n", "\t", "\r\n", "\r"})
    EXPECT_EQ(report(with(blank)), plain) << testing::PrintToString(blank);
  EXPECT_NE(report(with("  ")), plain);
  expect_refused({"ALineEndByItsNumber", with("&#10;"), {"p.xml:5", "without control characters"}});
}

TEST(PlatformProfiles, BesideThePlatformCountNotThoseWhereTheProgramStarts) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  folder.write("sub/p.xml", with_file("latency_file", "rows.txt"));
  folder.write("sub/rows.txt", "0 1e-6\n");
  folder.write("rows.txt", "0 -7\n");
  EXPECT_EQ(run_program({"run", "--model", "resnet50", "--throughput", "10", "--iterations", "3",
                         "--platform", "sub/p.xml"},
                        folder.path())
                .code,
            0);
}

}  // namespace
}  // namespace syncline
