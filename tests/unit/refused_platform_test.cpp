// Content of a platform file that cannot be simulated, or would be simulated differently, is
// refused before SimGrid reads it: in one line with file and line, element and what is allowed.
#include <gtest/gtest.h>

#include "tests/unit/platform_texts.h"

namespace syncline {
namespace {

std::string with_setting(const std::string& key, const std::string& value) {
  return platform(
      {.before = "<config id=\"c\"><prop id=\"" + key + "\" value=\"" + value + "\"/></config>\n"});
}

const std::vector<Case> bad_effects{
    {"ACalibrationOfMpi",
     with_setting("smpi/bw-factor", "65472:0.9"),
     {"p.xml:4", "smpi/bw-factor", "options of the scenario"}},
    {"ASpeedOfHosts", with_setting("cpu/model", "Cas01"), {"p.xml:4", "cpu/model"}},
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
TEST(RefusedPlatform, EffectsOfSettingsAndOtherFiles) {
  expect_refused(bad_effects);
}

// Properties of the link in line 7; another link follows it.
std::string with_properties(const std::string& properties) {
  return platform({.link = whole_link + ">" + properties + "</link><link id=\"m\" " + whole_link});
}

const std::vector<Case> bad_windows{
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
TEST(RefusedPlatform, Windows) {
  expect_refused(bad_windows);
}

Case bad_host(const std::string& name, const std::string& attributes,
              const std::vector<std::string>& mentions) {
  Case one{name, platform({.host = attributes}), {"p.xml:5", "<host> a", "allowed"}};
  one.mentions.insert(one.mentions.end(), mentions.begin(), mentions.end());
  return one;
}

Case bad_link(const std::string& name, const std::string& bandwidth, const std::string& latency) {
  const bool bad_latency = bandwidth == "1GBps";
  return {name,
          platform({.link = "bandwidth=\"" + bandwidth + "\" latency=\"" + latency + "\""}),
          {"p.xml:7", "<link> l", bad_latency ? "latency = " + latency : "bandwidth = " + bandwidth,
           "allowed are numbers with"}};
}

const std::vector<Case> bad_values{
    bad_link("NegativeLatency", "1GBps", "-1ms"),
    bad_link("LatencyThatIsNoNumber", "1GBps", "nan"),
    bad_link("LatencyOfAnUnknownUnit", "1GBps", "1sec"),
    bad_link("NegativeBandwidth", "-1GBps", "0"),
    bad_link("NoBandwidth", "0", "0"),
    bad_link("BandwidthThatIsNoNumber", "nan", "0"),
    bad_link("EndlessBandwidth", "inf", "0"),
    bad_link("BandwidthOfAnUnknownUnit", "1GB/s", "0"),
    bad_link("LatencyTooSmallForANumber", "1GBps", "1e-309s"),
    bad_link("HugeBandwidth", "1e400Bps", "0"),
    bad_host("EndlessSpeed", "speed=\"inf\"", {"speed = inf"}),
    bad_host("NegativeSpeed", "speed=\"-1Gf\"", {"speed = -1Gf"}),
    bad_host("SpeedThatLosesTheWork", "speed=\"1e-300\"", {"speed = 1e-300", "at least 1f"}),
    bad_host("SpeedWithAComma", "speed=\"1,5Gf\"", {"speed = 1,5Gf", "each with its unit"}),
    bad_host("SpeedOfAnUnknownUnit", "speed=\"1GHz\"", {"speed = 1GHz"}),
    bad_host("HalfACore", "speed=\"1Tf\" core=\"1.5\"", {"core = 1.5", "whole numbers from 1"}),
    bad_host("BlanksInCoordinates", "speed=\"1Tf\" coordinates=\"1  2 3\"",
             {"coordinates = 1", "a blank between them"}),
    bad_host("EmptyCores", "speed=\"1Tf\" core=\"\"", {"core = ", "whole numbers from 1"}),
    bad_host("NoCore", "speed=\"1Tf\" core=\"0\"", {"core = 0", "whole numbers from 1"}),
    bad_host("NegativeCores", "speed=\"1Tf\" core=\"-2\"", {"core = -2", "whole numbers from 1"}),
    bad_host("StateThatItHasNot", "speed=\"1Tf\" pstate=\"1\"", {"pstate = 1"}),
    bad_host("UnknownAttribute", "speed=\"1Tf\" colour=\"red\"", {"colour", "speed_file"}),
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
TEST(RefusedPlatform, Values) {
  expect_refused(bad_values);
}

const std::vector<Case> bad_crashes{
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
};
TEST(RefusedPlatform, WhatSimGridWouldEndAt) {
  expect_refused(bad_crashes);
}

const std::vector<Case> bad_sizes{
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
TEST(RefusedPlatform, Sizes) {
  expect_refused(bad_sizes);
}

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

TEST(RefusedPlatform, LongFiles) {
  expect_refused(
      {{"LongFile", std::string(100'000'001, ' '), {"100000001 bytes", "are 100000000"}},
       {"NestedZones", nested_zones(10'000), {"<zone>", "allowed are 63"}},
       {"LongName",
        platform({.inside = "<router id=\"" + std::string(100'001, 'x') + "\"/>\n"}),
        {"p.xml:9", "<router>", "id of 100001 bytes", "are 100000"}},
       {"LargeFullZone", many_hosts(10'001), {"p.xml:4", "10001", "10000", "Dijkstra"}}});
}

const std::vector<Case> bad_beginnings{
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
TEST(RefusedPlatform, Beginnings) {
  expect_refused(bad_beginnings);
}

const std::vector<Case> bad_orders{
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
TEST(RefusedPlatform, OrdersOfElements) {
  expect_refused(bad_orders);
}

// Hosts a and b are in lines 5 and 6, the link between them in line 7.
const std::vector<Case> bad_networks{
    {"AHostOfNoSuchNetwork",
     platform({.host = "speed=\"1Tf\"><prop id=\"network\" value=\"xb\"/></host><host id=\"c\" "
                       "speed=\"1Tf\""}),
     {"p.xml:5", "network = xb", "no such kind of network", "roce"}},
    {"HostsOfTwoNetworks",
     platform({.host = "speed=\"1Tf\"><prop id=\"network\" value=\"ib\"/></host><host id=\"c\" "
                       "speed=\"1Tf\"><prop id=\"network\" value=\"tcp\"/></host><host id=\"d\" "
                       "speed=\"1Tf\""}),
     {"p.xml:5", "network = tcp", "another host has ib", "one kind"}},
    {"ALinkOfNoSuchKind",
     platform({.link = whole_link + "><prop id=\"kind\" value=\"nic\"/></link><link id=\"m\" " +
                       whole_link}),
     {"p.xml:7", "kind = nic", "card, ", "cards"}},
};
TEST(RefusedPlatform, KindsOfNetwork) {
  expect_refused(bad_networks);
}

}  // namespace
}  // namespace syncline
