// A TCP flow alone gets the bandwidth of its route, or its window's bytes per round trip.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// A worker and a server, 15 ms and 10 Gbit/s apart, with properties of the link.
std::string far_apart(const std::string& properties, const std::string& policy = "SPLITDUPLEX") {
  return written_platform(
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\"><zone id=\"world\" routing=\"Floyd\">\n"
      "<host id=\"here\" speed=\"1Tf\"/>\n"
      "<host id=\"there\" speed=\"1Tf\"><prop id=\"role\" value=\"server\"/></host>\n"
      "<router id=\"between\"/>\n"
      "<link id=\"near\" bandwidth=\"100Gbps\" latency=\"0us\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "<link id=\"sea\" bandwidth=\"10Gbps\" latency=\"15ms\" sharing_policy=\"" +
      policy + "\">" + properties +
      "</link>\n"
      "<route src=\"here\" dst=\"between\"><link_ctn id=\"near\" direction=\"UP\"/></route>\n"
      "<route src=\"between\" dst=\"there\"><link_ctn id=\"sea\"" +
      (policy == "SPLITDUPLEX" ? " direction=\"UP\"" : "") + "/></route>\n</zone></platform>\n");
}

constexpr double pushed_bytes = 100e6;

// Bytes/s of a push, without the latency.
double rate_of_push(const std::string& platform, const Options& more = {}) {
  Options options{{"platform", platform},  {"model", model_of({25'000'000})},
                  {"schedule", "asp"},     {"servers", "1"},
                  {"bucket-bytes", "all"}, {"partition-bytes", "1e9"},
                  {"iterations", "3"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  const Row push = simulated(options).rows("push").front();
  return pushed_bytes / (push.end_s - push.start_s);
}

const std::string one_window = "<prop id=\"tcp-window\" value=\"1000000\"/>";

TEST(TcpWindow, LimitsAFlowToItsBytesPerRoundTrip) {
  for (const char* policy : {"SPLITDUPLEX", "SHARED", "FATPIPE"}) {
    EXPECT_NEAR(rate_of_push(far_apart("", policy)) / 1.25e9, 1, 1e-6) << policy;
    EXPECT_NEAR(rate_of_push(far_apart(one_window, policy)) / (1e6 / 30e-3), 1, 1e-6) << policy;
    EXPECT_NEAR(rate_of_push(far_apart(one_window + "<prop id=\"streams\" value=\"8\"/>", policy)) /
                    (8e6 / 30e-3),
                1, 1e-6)
        << policy;
    EXPECT_NEAR(
        rate_of_push(far_apart(one_window + "<prop id=\"streams\" value=\"800\"/>", policy)) /
            1.25e9,
        1, 1e-6)
        << policy;
  }
  EXPECT_NEAR(rate_of_push(far_apart(one_window), {{"latency-factor", "2"}}) / (1e6 / 60e-3), 1,
              1e-6);
}

// A ring of two: each sends half of the gradient twice, one flow at a time each way.
TEST(TcpWindow, LimitsEveryStepOfARing) {
  for (const char* fidelity : {"step", "flow"}) {
    Options far{{"model", model_of({25'000'000})},
                {"bucket-bytes", "all"},
                {"overlap", "off"},
                {"fidelity", fidelity},
                {"iterations", "2"}};
    far["platform"] = written_platform(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\"><zone id=\"world\" routing=\"Full\">\n"
        "<host id=\"a\" speed=\"1Tf\"/>\n<host id=\"b\" speed=\"1Tf\"/>\n"
        "<link id=\"sea\" bandwidth=\"10Gbps\" latency=\"15ms\" "
        "sharing_policy=\"SPLITDUPLEX\">" +
        one_window +
        "</link>\n<route src=\"a\" dst=\"b\"><link_ctn id=\"sea\" direction=\"UP\"/></route>\n"
        "</zone></platform>\n");
    const double exchange_s = 2 * (15e-3 + pushed_bytes / 2 / (1e6 / 30e-3));
    EXPECT_NEAR(simulated(far).iteration_s(), 0.1 + exchange_s, 1e-6) << fidelity;
    EXPECT_NEAR(predicted(far).exchange_s, exchange_s, 1e-6) << fidelity;
  }
}

}  // namespace
}  // namespace syncline
