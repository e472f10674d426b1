#include "tests/laws/rails.h"

#include <fmt/format.h>

#include "tests/laws/simulated.h"

namespace syncline {

std::string rails_platform(const Rails& rails) {
  std::string text =
      R"(<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">)"
      R"(<platform version="4.1"><zone id="all" routing="Floyd">)"
      R"(<zone id="core" routing="Floyd"><router id="middle"/></zone>)";
  for (std::size_t n = 0; n < rails.gpus.size(); ++n) {
    text += fmt::format(R"(<zone id="z{}" routing="Floyd">)", n);
    for (int g = 0; g < rails.gpus[n]; ++g)
      text += fmt::format(
          R"(<host id="n{0}g{1}" speed="1Tf"><prop id="node" value="n{0}"/></host>)", n, g);
    text += fmt::format(R"(<router id="in{0}"/><router id="out{0}"/>)", n);
    for (int g = 0; g < rails.gpus[n]; ++g)
      text += fmt::format(
          R"(<link id="l{}-{}" bandwidth="{}Bps" latency="{}s" sharing_policy="SPLITDUPLEX"/>)", n,
          g, rails.inside_Bps, rails.inside_latency_s);
    for (int c = 0; c < rails.cards; ++c)
      text += fmt::format(
          R"(<link id="c{}-{}" bandwidth="{}Bps" latency="{}s" sharing_policy="SPLITDUPLEX"/>)", n,
          c, rails.card_Bps, rails.card_latency_s);
    for (int g = 0; g < rails.gpus[n]; ++g)
      text += fmt::format(
          R"(<route src="n{0}g{1}" dst="in{0}"><link_ctn id="l{0}-{1}" direction="UP"/></route>)"
          R"(<route src="n{0}g{1}" dst="out{0}"><link_ctn id="c{0}-{2}" direction="UP"/></route>)",
          n, g, g * rails.cards / rails.gpus[n]);
    text += "</zone>";
  }
  for (std::size_t n = 0; n < rails.gpus.size(); ++n)
    text += fmt::format(R"(<link id="t{}" bandwidth="1e14Bps" latency="0s"/>)", n);
  for (std::size_t n = 0; n < rails.gpus.size(); ++n)
    text += fmt::format(R"(<zoneRoute src="z{0}" dst="core" gw_src="out{0}" gw_dst="middle">)"
                        R"(<link_ctn id="t{0}"/></zoneRoute>)",
                        n);
  return written_platform(text + "</zone></platform>");
}

}  // namespace syncline
