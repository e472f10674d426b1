// Names in a platform must refer to existing parts and must be unique: otherwise it is refused
// before SimGrid reads it, in one line with file, line and element.
#include "tests/unit/platform_texts.h"

namespace syncline {
namespace {

std::string route(const std::string& ends, const std::string& link) {
  return "<route " + ends + ">" + link + "</route>\n";
}

std::string flat_cluster(const std::string& id, const std::string& radical) {
  return "<cluster id=\"" + id + "\" prefix=\"h\" suffix=\"\" radical=\"" + radical +
         "\" speed=\"1f\" bw=\"1GBps\" lat=\"0\"/>\n";
}

// A route in line 6 between two zones of one host each.
std::string zone_route(const std::string& src, const std::string& dst, const std::string& gw_src,
                       const std::string& gw_dst) {
  return head +
         "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
         "<zone id=\"x\" routing=\"Full\"><host id=\"a\" speed=\"1f\"/></zone>\n"
         "<zone id=\"y\" routing=\"Full\"><host id=\"b\" speed=\"1f\"/></zone>\n"
         "<zoneRoute src=\"" +
         src + "\" dst=\"" + dst + "\" gw_src=\"" + gw_src + "\" gw_dst=\"" + gw_dst +
         "\"/></zone></platform>\n";
}

std::string bypass(const std::string& gw_src, const std::string& gw_dst) {
  std::string xml = zone_route("x", "y", gw_src, gw_dst);
  for (const char* id : {"x", "y"})
    xml.insert(xml.find("</zone>", xml.find("id=\"" + std::string(id) + "\"")),
               "<router id=\"r" + std::string(id) + "\"/>");
  return xml.replace(xml.find("zoneRoute"), 9, "bypassZoneRoute");
}

std::string cluster_zone(const std::string& host_link) {
  return head +
         "<platform version=\"4.1\"><zone id=\"z\" routing=\"Cluster\"><host id=\"a\" "
         "speed=\"1f\"/>\n<link id=\"l\" " +
         whole_link + "/><link id=\"s\" " + whole_link + " sharing_policy=\"SPLITDUPLEX\"/>\n" +
         host_link + "</zone></platform>\n";
}

const std::vector<Case> bad_names{
    {"NoUtf8", platform({.host = "speed=\"1T\xff\""}), {"p.xml:5", "\\xff"}},
    {"EscapeInAName", platform({.host = "speed=\"1Tf&#27;\""}), {"p.xml:5", "character"}},
    {"LineEndInAName",
     platform({.inside = "<router id=\"r&#10;s\"/>\n"}),
     {"p.xml:9", "r\\x0as", "without control characters"}},
    {"RouteToNobody",
     platform({.inside = route(R"(src="a" dst="c")", R"(<link_ctn id="l"/>)")}),
     {"p.xml:9", "<route>", "dst = c", "no host or router"}},
    {"RouteOverNothing",
     platform({.inside = route(R"(src="b" dst="b")", R"(<link_ctn id="m"/>)")}),
     {"p.xml:9", "<link_ctn> m", "no <link>"}},
    {"RouteOverADirectionThatIsNot",
     platform({.inside = route(R"(src="b" dst="b")", R"(<link_ctn id="l" direction="UP"/>)")}),
     {"p.xml:9", "<link_ctn> l", "direction = UP", "not SPLITDUPLEX"}},
    {"TwoHostsOfOneName",
     platform({.before = "", .host = "speed=\"1Tf\"/><host id=\"b\" speed=\"1f\""}),
     {"p.xml:6", "<host> b", "a second host"}},
    {"RouterOfAHostsName",
     platform({.host = "speed=\"1Tf\"/><router id=\"a\""}),
     {"p.xml:5", "<router> a", "a second host, router or zone"}},
    {"ZoneInAZoneOfItsName",
     head + "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n<zone id=\"z\" "
            "routing=\"Full\"/></zone></platform>\n",
     {"p.xml:4", "<zone> z", "a second"}},
    {"TwoZonesAtTheTop",
     platform({.after = "<zone id=\"y\" routing=\"Full\"/>\n"}),
     {"p.xml:10", "<zone> y", "a second zone at the top"}},
    {"HostsOfTwoClusters",
     head + "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n" +
         flat_cluster("c", "0-3") + flat_cluster("d", "3-5") + "</zone></platform>\n",
     {"p.xml:5", "<cluster> d", "a second host of the name h3"}},
    {"LongPrefix",
     head + "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"" + std::string(99'999, 'x') +
         "\" suffix=\"\" radical=\"0-999999\" speed=\"1f\" bw=\"1GBps\" lat=\"0\"/></platform>\n",
     {"p.xml:3", "<cluster> c", "99999 bytes", "allowed are 255"}},
    {"RouteBack",
     platform({.inside = route(R"(src="b" dst="a" symmetrical="NO")", "")}),
     {"p.xml:9", "<route>", "a second route from b to a"}},
    {"RouteOfNoLinks",
     platform({.inside = route(R"(src="a" dst="a")", "")}),
     {"p.xml:9", "<route>", "no <link_ctn>"}},
    {"RouteTwice",
     platform({.zone = "routing=\"Dijkstra\"",
               .inside = route(R"(src="b" dst="a")", R"(<link_ctn id="l"/>)")}),
     {"p.xml:9", "a second route from b to a"}},
    {"RouteInAStar",
     platform({.zone = "routing=\"Cluster\""}),
     {"p.xml:8", "<route>", "routing = cluster", "Dijkstra"}},
    {"RouteToAnotherZone",
     head +
         "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n<zone id=\"x\" "
         "routing=\"Full\"><host id=\"a\" speed=\"1f\"/></zone>\n<zone id=\"y\" routing=\"Full\">"
         "<host id=\"b\" speed=\"1f\"/>\n<route src=\"b\" dst=\"a\"/></zone></zone></platform>\n",
     {"p.xml:6", "dst = a", "no host or router of this name"}},
    {"ZoneRouteToItsOwnZone", zone_route("x", "z", "a", "b"), {"p.xml:6", "dst = z", "no zone"}},
    {"GatewayOfTheOtherZone", zone_route("x", "y", "b", "a"), {"p.xml:6", "gw_src = b", "src = x"}},
    {"GatewayOfABypassInTheOtherZone",
     bypass("ry", "ry"),
     {"p.xml:6", "<bypassZoneRoute>", "gw_src = ry", "src = x"}},
    {"HostWithoutItsPlace",
     platform({.zone = "routing=\"Vivaldi\""}),
     {"p.xml:5", "<host> a", "no coordinates", "3 numbers"}},
    {"GatewayThatIsAZone", zone_route("x", "y", "x", "b"), {"p.xml:6", "gw_src = x"}},
    {"LinkOfAHostThatIsNot",
     cluster_zone("<host_link id=\"q\" up=\"l\" down=\"l\"/>"),
     {"p.xml:5", "<host_link> q", "no host of this platform"}},
    {"LinkOfAHostThatHasTwoWays",
     cluster_zone("<host_link id=\"a\" up=\"s\" down=\"s_DOWN\"/>"),
     {"p.xml:5", "up = s", "s_UP"}},
    {"TraceOfNoHost",
     platform({.before = "<trace id=\"t\" periodicity=\"-1\">0 1</trace>\n",
               .inside = "<trace_connect trace=\"t\" element=\"q\"/>\n"}),
     {"p.xml:10", "<trace_connect>", "no host of this platform"}},
    {"PeerInAnotherZone",
     head + "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n<peer id=\"p\" "
            "speed=\"1f\" bw_in=\"1Bps\" bw_out=\"1Bps\"/></zone></platform>\n",
     {"p.xml:4", "<peer> p", "Vivaldi"}},
    {"NoTopologyOfTheName",
     cluster("0-7", "\" sharing_policy=\"", "2"),
     {"p.xml:5", "topology = : allowed are FLAT"}},
    {"TwoLinksOfOneName",
     platform({.inside = "<link id=\"l\" " + whole_link + "/>\n"}),
     {"p.xml:9", "<link> l", "allowed is one"}},
};
TEST(RefusedPlatform, Names) {
  expect_refused(bad_names);
}

}  // namespace
}  // namespace syncline
