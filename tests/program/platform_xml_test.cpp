// Content of a platform file that cannot be simulated, or would be simulated differently, is
// refused before SimGrid reads it: in one line with file and line, element and what is allowed, and
// exit code 2.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/refused_platform.h"

namespace syncline {
namespace {

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, InOneLineWithExitCodeTwo) {
  expect_refused(GetParam());
}

std::string setting(const std::string& key, const std::string& value) {
  return platform(
      {.before = "<config id=\"c\"><prop id=\"" + key + "\" value=\"" + value + "\"/></config>\n"});
}

const std::vector<Case> effects{
    {"ANetworkOfItsOwn",
     setting("network/bandwidth-factor", "2"),
     {"p.xml:4", "network/bandwidth-factor", "options of the scenario"}},
    {"ACalibrationOfMpi",
     setting("smpi/bw-factor", "65472:0.9"),
     {"p.xml:4", "smpi/bw-factor", "options of the scenario"}},
    {"ASpeedOfHosts", setting("cpu/model", "Cas01"), {"p.xml:4", "cpu/model"}},
    {"AProgram",
     platform({.after = "<actor host=\"a\" function=\"f\"/>\n"}),
     {"p.xml:10", "<actor>", "starts no programs"}},
    {"AnotherFile",
     platform({.before = "<include file=\"/etc/passwd\"/>\n"}),
     {"p.xml:4", "<include>", "one file"}},
    {"AnExternalEntity",
     "<!DOCTYPE platform [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n<platform/>",
     {"p.xml:1", "<!DOCTYPE>", "simgrid.dtd"}},
    {"AnotherDoctype",
     "<!DOCTYPE platform SYSTEM \"http://somewhere/else.dtd\">\n<platform/>",
     {"p.xml:1", "somewhere", "simgrid.dtd"}},
    {"AProfileInAPipe", with_file("state_file", "pipe"), {"p.xml:7", "<link> l", "regular files"}},
    {"AProfileOfADevice",
     with_file("bandwidth_file", "/dev/zero"),
     {"p.xml:7", "/dev/zero", "regular files"}},
};
INSTANTIATE_TEST_SUITE_P(Effects, Refused, testing::ValuesIn(effects), name_of_case);

// Properties of the link in line 7; another link follows it.
std::string with_properties(const std::string& properties) {
  return platform({.link = whole_link + ">" + properties + "</link><link id=\"m\" " + whole_link});
}

const std::vector<Case> windows{
    {"AWindowOfNoNumber",
     with_properties("<prop id=\"tcp-window\" value=\"4MiB\"/>"),
     {"p.xml:7", "tcp-window = 4MiB", "1 to 1e15 bytes"}},
    {"AWindowOfNoByte",
     with_properties("<prop id=\"tcp-window\" value=\"0\"/>"),
     {"p.xml:7", "tcp-window = 0", "1 to 1e15 bytes"}},
    {"NegativeStreams",
     with_properties("<prop id=\"tcp-window\" value=\"9\"/><prop id=\"streams\" value=\"-1\"/>"),
     {"p.xml:7", "streams = -1", "1 to 1e15"}},
    {"StreamsWithoutAWindow",
     with_properties("<prop id=\"streams\" value=\"4\"/>"),
     {"p.xml:7", "<link> l", "streams without tcp-window"}},
};
INSTANTIATE_TEST_SUITE_P(Windows, Refused, testing::ValuesIn(windows), name_of_case);

Case of_host(const std::string& name, const std::string& attributes,
             const std::vector<std::string>& mentions) {
  Case one{name, platform({.host = attributes}), {"p.xml:5", "<host> a", "allowed"}};
  one.mentions.insert(one.mentions.end(), mentions.begin(), mentions.end());
  return one;
}

Case of_link(const std::string& name, const std::string& bandwidth, const std::string& latency) {
  const bool bad_latency = bandwidth == "1GBps";
  return {name,
          platform({.link = "bandwidth=\"" + bandwidth + "\" latency=\"" + latency + "\""}),
          {"p.xml:7", "<link> l", bad_latency ? "latency = " + latency : "bandwidth = " + bandwidth,
           "allowed are numbers with"}};
}

const std::vector<Case> values{
    of_link("NegativeLatency", "1GBps", "-1ms"),
    of_link("LatencyThatIsNoNumber", "1GBps", "nan"),
    of_link("LatencyOfAnUnknownUnit", "1GBps", "1sec"),
    of_link("NegativeBandwidth", "-1GBps", "0"),
    of_link("NoBandwidth", "0", "0"),
    of_link("BandwidthThatIsNoNumber", "nan", "0"),
    of_link("EndlessBandwidth", "inf", "0"),
    of_link("BandwidthOfAnUnknownUnit", "1GB/s", "0"),
    of_link("LatencyTooSmallForANumber", "1GBps", "1e-309s"),
    of_link("HugeBandwidth", "1e400Bps", "0"),
    of_host("EndlessSpeed", "speed=\"inf\"", {"speed = inf"}),
    of_host("NegativeSpeed", "speed=\"-1Gf\"", {"speed = -1Gf"}),
    of_host("SpeedThatLosesTheWork", "speed=\"1e-300\"", {"speed = 1e-300", "at least 1f"}),
    of_host("SpeedWithAComma", "speed=\"1,5Gf\"", {"speed = 1,5Gf", "each with its unit"}),
    of_host("SpeedOfAnUnknownUnit", "speed=\"1GHz\"", {"speed = 1GHz"}),
    of_host("HalfACore", "speed=\"1Tf\" core=\"1.5\"", {"core = 1.5", "whole numbers from 1"}),
    of_host("BlanksInCoordinates", "speed=\"1Tf\" coordinates=\"1  2 3\"",
            {"coordinates = 1", "a blank between them"}),
    of_host("EmptyCores", "speed=\"1Tf\" core=\"\"", {"core = ", "whole numbers from 1"}),
    of_host("NoCore", "speed=\"1Tf\" core=\"0\"", {"core = 0", "whole numbers from 1"}),
    of_host("NegativeCores", "speed=\"1Tf\" core=\"-2\"", {"core = -2", "whole numbers from 1"}),
    of_host("StateThatItHasNot", "speed=\"1Tf\" pstate=\"1\"", {"pstate = 1"}),
    of_host("UnknownAttribute", "speed=\"1Tf\" colour=\"red\"", {"colour", "speed_file"}),
    {"NulByte", platform({.host = std::string("speed=\"1Tf\0\"", 12)}), {"p.xml:5", "NUL"}},
    {"AttributeTwice", platform({.host = "speed=\"1Tf\" speed=\"2Tf\""}), {"p.xml:5", "twice"}},
    {"AttributeThatIsMissing", platform({.host = ""}), {"p.xml:5", "<host> a", "no speed"}},
    {"TraceOfTwoHosts",
     platform({.before = "<trace id=\"t\" periodicity=\"-1\">0 1</trace>\n",
               .inside = "<trace_connect kind=\"SPEED\" trace=\"t\" element=\"a\"/>\n"
                         "<trace_connect kind=\"SPEED\" trace=\"t\" element=\"b\"/>\n"}),
     {"p.xml:11", "connected to a already", "a <trace> of its own"}},
    {"PeriodOfAFile",
     platform({.before = "<trace id=\"t\" file=\"off.txt\" periodicity=\"9\"/>\n"}),
     {"p.xml:4", "PERIODICITY in the file"}},
};
INSTANTIATE_TEST_SUITE_P(Values, Refused, testing::ValuesIn(values), name_of_case);

const std::vector<Case> crashes{
    {"NoZone", head + "<platform version=\"4.1\">\n</platform>\n", {"0 worker hosts"}},
    {"WifiLink",
     platform({.link = whole_link + R"( sharing_policy="WIFI")"}),
     {"p.xml:7", "<link> l", "WIFI", "SPLITDUPLEX"}},
    {"WifiZone", platform({.zone = "routing=\"Wifi\""}), {"p.xml:4", "<zone> z", "Dijkstra"}},
    {"UnknownElement", platform({.inside = "<switch id=\"s\"/>\n"}), {"<switch> s", "router"}},
    {"TextOutsideATrace", platform({.inside = "hello"}), {"<zone> z", "hello", "<trace>"}},
    {"TorusOfAWord", cluster("0-7", "TORUS", "x"), {"p.xml:5", "<cluster> c", "such as 4,4,2"}},
    {"TorusOfNothing", cluster("0-7", "TORUS", "0,8"), {"p.xml:5", "such as 4,4,2"}},
    {"TorusOfOtherHosts", cluster("0-7", "TORUS", "3,3"), {"9 hosts", "radical = 0-7 names 8"}},
    {"FatTreeWithoutAPart", cluster("0-7", "FAT_TREE", "2;4,2;1,2"), {"such as 2;4,4;1,2;1,2"}},
    {"FatTreeOfTwoMinds", cluster("0-7", "FAT_TREE", "3;4,2;1,2;1,2"), {"number of levels"}},
    {"DragonflyOfWords", cluster("0-7", "DRAGONFLY", "x;y"), {"such as 3,4;3,2;3,1;2"}},
    {"DragonflyOfManyGroups", cluster("0-7", "DRAGONFLY", "8,1;1,1;1,1;1"), {"8 groups", "blades"}},
    {"ProfileOfWords", profile("fast 1"), {"p.xml:5", "'fast'", "a time in seconds and a value"}},
    {"ProfileWithoutRows", profile(""), {"p.xml:4", "without rows"}},
    {"ProfileOfOneWord", profile("STOCHASTIC"), {"p.xml:5", "'STOCHASTIC'", "1 words"}},
    {"ProfileOfANegativeSpeed", profile("0 -1"), {"<trace> t", "-1", "parts of the speed from 0"}},
    {"ProfileBackInTime", profile("5 1\n3 1", "-5"), {"p.xml:6", "from 5 to 3 s"}},
    {"ProfileOfAShortPeriod", profile("0 1", "1e-9"), {"p.xml:4", "1e-09 s", "0.001 s or more"}},
    {"ProfileThatRepeatsTooEarly", profile("0 1\n6 1", "3"), {"p.xml:4", "6 s or more"}},
    {"ProfileOfALink", profile("0 1", "-1", "LINK_AVAIL"), {"LINK_AVAIL", "bandwidth_file"}},
    {"LinkThatGoesOff", with_file("state_file", "off.txt"), {"p.xml:7", "off.txt", "goes off"}},
    {"NegativeBandwidthInAFile", with_file("bandwidth_file", "slow.txt"), {"slow.txt", "-3"}},
    {"ProfileThatIsNotThere",
     with_file("latency_file", "no.txt"),
     {"p.xml:7", "no.txt", "no such"}},
    {"HostThatGoesOff",
     profile("0 1\n0.05 0", "-1", "HOST_AVAIL"),
     {"host a", "0.05 s", "stay on"}},
    {"HostThatIsNeverOn", profile("0 0", "-1", "HOST_AVAIL"), {"host a"}},
};
INSTANTIATE_TEST_SUITE_P(Crashes, Refused, testing::ValuesIn(crashes), name_of_case);

const std::vector<Case> sizes{
    {"FiveMillionHosts", cluster("0-4999999"), {"p.xml:5", "<cluster> c", "5000000", "1000000"}},
    {"ABillionHosts", cluster("0-999999999"), {"p.xml:5", "1000000000 hosts", "are 1000000"}},
    {"HostsOfManyClusters", cluster("0-599999,600000-1199999"), {"1200000", "are 1000000"}},
    {"LargeTorus", cluster("0-7", "TORUS", "1000,1000,1000"), {"1000000000 hosts", "are 1000000"}},
    {"TorusBeyondAllNumbers",
     cluster("0-7", "TORUS", "1000000,1000000,1000000,1000000"),
     {"more than 1e15 hosts"}},
    {"FatTreeOfManyLinks", cluster("0-7", "FAT_TREE", "2;4,2;4,1000000;1,1"), {"links", "4000000"}},
    {"RadicalThatGoesDown", cluster("7-0"), {"p.xml:5", "radical = 7-0", "go up"}},
    {"RadicalOfWords", cluster("a-b"), {"p.xml:5", "radical = a-b", "such as 0-7,12"}},
};
INSTANTIATE_TEST_SUITE_P(Sizes, Refused, testing::ValuesIn(sizes), name_of_case);

// Long files are not among the cases above, which are built whenever any test starts.
std::string nested_zones(int depth) {
  std::string xml = head + "<platform version=\"4.1\">\n";
  for (int i = 0; i < depth; ++i)
    xml += "<zone id=\"z" + std::to_string(i) + "\" routing=\"Full\">\n";
  for (int i = 0; i < depth; ++i)
    xml += "</zone>";
  return xml + "</platform>\n";
}

std::string many_hosts(int hosts) {
  std::string xml = head + "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n";
  for (int i = 0; i < hosts; ++i)
    xml += "<host id=\"h" + std::to_string(i) + "\" speed=\"1Tf\"/>\n";
  return xml + "</zone></platform>\n";
}

TEST(LongPlatformFile, IsRefusedInOneLineWithExitCodeTwo) {
  expect_refused({"LongFile", std::string(100'000'001, ' '), {"100000001 bytes", "are 100000000"}});
  expect_refused({"NestedZones", nested_zones(10'000), {"<zone>", "allowed are 63"}});
  expect_refused({"LongName",
                  platform({.inside = "<router id=\"" + std::string(100'001, 'x') + "\"/>\n"}),
                  {"p.xml:9", "<router>", "id of 100001 bytes", "are 100000"}});
  expect_refused({"LargeFullZone", many_hosts(10'001), {"p.xml:4", "10001", "10000", "Dijkstra"}});
}

const std::vector<Case> beginnings{
    {"ByteOrderMark", "\xEF\xBB\xBF" + platform({}), {"p.xml:1", "byte order mark"}},
    {"Utf16", std::string("\xFF\xFE<\0?\0", 6), {"p.xml:1", "UTF-16"}},
    {"StandaloneFile",
     "<?xml version=\"1.0\" standalone=\"yes\"?>" + platform({}).substr(head.find('\n')),
     {"p.xml:1", "<?xml version=\"1.0\"?>"}},
    {"BlankInTheDeclaration",
     "<?xml version=\"1.0\" ?>" + platform({}).substr(head.find('\n')),
     {"p.xml:1", "<?xml version=\"1.0\"?>"}},
    {"DoctypeOfAnotherRoot",
     "<!DOCTYPE platforms SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform/>",
     {"p.xml:1", "platforms", "<!DOCTYPE platform SYSTEM"}},
    {"DoctypeOfAnotherPlace",
     "<!DOCTYPE platform SYSTEM \"http://somewhere/simgrid.dtd\">\n<platform/>",
     {"p.xml:1", "somewhere", "https://simgrid.org/simgrid.dtd"}},
    {"CdataOutsideATrace", platform({.inside = "<![CDATA[ ]]>"}), {"p.xml:9", "CDATA", "<zone>"}},
};
INSTANTIATE_TEST_SUITE_P(Beginnings, Refused, testing::ValuesIn(beginnings), name_of_case);

const std::vector<Case> orders{
    {"HostOutsideAZone",
     platform({.before = "<host id=\"c\" speed=\"1Tf\"/>\n"}),
     {"p.xml:4", "<host> c", "in <platform> at its beginning", "zone, AS, cluster, trace"}},
    {"LinkAfterRoutes",
     platform({.inside = "<link id=\"m\" " + whole_link + "/>\n"}),
     {"p.xml:9", "<link> m", "in <zone> after <route>", "allowed here are route"}},
    {"ClusterAmongHosts",
     platform({.inside = "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-7\" speed=\"1Tf\" "
                         "bw=\"1GBps\" lat=\"0\"/>\n"}),
     {"p.xml:9", "<cluster> c", "in <zone>"}},
    {"HostAfterTraces",
     head + "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
            "<trace id=\"t\" periodicity=\"-1\">0 1</trace>\n<host id=\"a\" speed=\"1f\"/>\n"
            "</zone></platform>\n",
     {"p.xml:5", "<host> a", "after <trace>"}},
    {"LinkInAHost",
     platform({.host = "speed=\"1Tf\"><link id=\"m\" " + whole_link + "/></host><router id=\"r\""}),
     {"p.xml:5", "<link> m", "in <host>", "prop"}},
    {"PropertyOfARouter",
     platform({.host = "speed=\"1Tf\"/><router id=\"r\"><prop id=\"a\" value=\"b\"/></router><host "
                       "id=\"c\" speed=\"1f\""}),
     {"p.xml:5", "<prop>", "in <router>", "no elements"}},
};
INSTANTIATE_TEST_SUITE_P(Orders, Refused, testing::ValuesIn(orders), name_of_case);

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
