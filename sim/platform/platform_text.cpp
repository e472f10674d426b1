#include "sim/platform/platform_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "kernels/io/text.h"

namespace syncline {
namespace {

// `kind`: card or cards, where its rate is that of network cards.
std::string split_duplex(const std::string& name, const std::string& bandwidth, double latency_s,
                         const std::string& kind = "") {
  return fmt::format(
      "<link id=\"{}\" bandwidth=\"{}\" latency=\"{:.12g}s\" sharing_policy=\"SPLITDUPLEX\"{}\n",
      name, bandwidth, latency_s,
      kind.empty() ? "/>" : "><prop id=\"kind\" value=\"" + kind + "\"/></link>");
}

std::string up_link(const std::string& link) {
  return "<link_ctn id=\"" + link + "\" direction=\"UP\"/>";
}

std::string down_link(const std::string& link) {
  return "<link_ctn id=\"" + link + "\" direction=\"DOWN\"/>";
}

std::string way(const std::string& from, const std::string& to, const std::string& links) {
  return fmt::format("<route src=\"{}\" dst=\"{}\">{}</route>\n", from, to, links);
}

std::string rate(double Bps) {
  return fmt::format("{:.12g}GBps", Bps / 1e9);
}

// The zone of a node: its GPUs, its memory, and a router on the way out.
std::string node_zone(const PlatformPlan& plan, int number, const std::string& site) {
  const std::string node = fmt::format("node{}", number);
  const int gpus = plan.gpus[static_cast<std::size_t>(number)];
  const PlatformPlan::Cards own = plan.cards[static_cast<std::size_t>(number)];
  const PlatformPlan::Gpu& kind = plan.gpu_kinds[static_cast<std::size_t>(number)];
  const bool one_card = own.count == 1;
  const std::string memory = node + "-memory";
  const std::string host =
      plan.host_Bps > 0 ? "<link_ctn id=\"" + node + "-host\"/>" : std::string();
  const auto gpu = [&](int i) { return fmt::format("{}-gpu{}", node, i); };
  const auto card = [&](int i) { return fmt::format("{}-nic{}", node, i * own.count / gpus); };
  const std::string of_node = "<prop id=\"node\" value=\"" + node + "\"/>";
  const std::string more =
      "<prop id=\"device\" value=\"" + kind.device + "\"/>" +
      (plan.network.empty() ? "" : "<prop id=\"network\" value=\"" + plan.network + "\"/>") +
      (site.empty() ? "" : "<prop id=\"site\" value=\"" + site + "\"/>") + "</host>\n";
  std::string hosts;
  std::string links;
  std::string ways;
  for (int i = 0; i < gpus; ++i) {
    const std::string inside = plan.nvlink ? "-nvlink" : "-pcie";
    hosts += "<host id=\"" + gpu(i) + "\" speed=\"" + kind.speed + "\">" + of_node + more;
    links += split_duplex(gpu(i) + "-pcie", kind.slot, plan.nvlink ? 0 : plan.inside_s / 2);
    if (plan.nvlink && gpus > 1)
      links += split_duplex(gpu(i) + "-nvlink", plan.text("nvlink"), plan.inside_s / 2);
    ways += way(gpu(i), node + "-out",
                up_link(gpu(i) + "-pcie") + host + (one_card ? "" : up_link(card(i))));
    ways += way(gpu(i), memory, up_link(gpu(i) + "-pcie") + host + down_link(memory));
    for (int other = i + 1; other < gpus; ++other)
      ways +=
          way(gpu(i), gpu(other), up_link(gpu(i) + inside) + host + down_link(gpu(other) + inside));
  }
  if (plan.host_Bps > 0)
    links += fmt::format("<link id=\"{}-host\" bandwidth=\"{}\" latency=\"0s\"/>\n", node,
                         plan.text("host"));
  for (int i = 0; !one_card && i < own.count; ++i)
    links += split_duplex(fmt::format("{}-nic{}", node, i), rate(own.Bps), plan.card_s(), "card");
  if (!one_card)
    links += split_duplex(memory + "-nics", rate(own.count * own.Bps), plan.card_s(), "cards");
  ways += way(memory, node + "-out", up_link(memory) + (one_card ? "" : up_link(memory + "-nics")));
  return fmt::format(
      "<zone id=\"{0}\" routing=\"Full\">\n{1}<host id=\"{0}-memory\" speed=\"1Tf\">{2}<prop "
      "id=\"role\" value=\"host\"/></host>\n<router id=\"{0}-out\"/>\n{3}{4}{5}</zone>\n",
      node, hosts, of_node, links, split_duplex(memory, rate(own.count * memory_port_Bps), 0),
      ways);
}

// A zone in a star: its XML, its router, and the link to the middle.
struct Arm {
  std::string zone, xml, router, link, link_xml;
};

std::string star(const std::string& name, const std::string& middle, const std::vector<Arm>& arms) {
  std::string xml = "<zone id=\"" + name + "\" routing=\"Floyd\">\n";
  for (const Arm& arm : arms)
    xml += arm.xml;
  xml +=
      fmt::format("<zone id=\"{0}\" routing=\"Floyd\"><router id=\"{0}-root\"/></zone>\n", middle);
  for (const Arm& arm : arms)
    xml += arm.link_xml;
  for (const Arm& arm : arms)
    xml += fmt::format(
        "<zoneRoute src=\"{}\" dst=\"{}\" gw_src=\"{}\" gw_dst=\"{}-root\">{}</zoneRoute>\n",
        arm.zone, middle, arm.router, middle, up_link(arm.link));
  return xml + "</zone>\n";
}

// Nodes on one switch: from `first` to before `last`.
std::string nodes_on_a_switch(const PlatformPlan& plan, const std::string& name,
                              const std::string& middle, int first, int last,
                              const std::string& site) {
  std::vector<Arm> arms;
  for (int node = first; node < last; ++node) {
    const std::string zone = fmt::format("node{}", node);
    const auto [cards, card_Bps] = plan.cards[static_cast<std::size_t>(node)];
    const std::string link = zone + (cards == 1 ? "-nic" : "-nics");
    arms.push_back({zone, node_zone(plan, node, site), zone + "-out", link,
                    split_duplex(link, rate(cards * card_Bps), cards == 1 ? plan.card_s() : 0,
                                 cards == 1 ? "card" : "cards")});
  }
  return star(name, middle, arms);
}

std::string site_zone(const PlatformPlan& plan, const std::string& name, const std::string& prefix,
                      int first, int last, const std::string& site) {
  if (plan.nodes_per_leaf == 0)
    return nodes_on_a_switch(plan, name, prefix + "switch", first, last, site);
  std::vector<Arm> arms;
  for (int node = first; node < last; node += plan.nodes_per_leaf) {
    const std::string group = fmt::format("{}group{}", prefix, arms.size());
    const std::string leaf = fmt::format("{}leaf{}", prefix, arms.size());
    arms.push_back({group,
                    nodes_on_a_switch(plan, group, leaf, node,
                                      std::min(node + plan.nodes_per_leaf, last), site),
                    leaf + "-root", leaf + "-up",
                    split_duplex(leaf + "-up", rate(plan.uplink_Bps), 0)});
  }
  return star(name, prefix + "spine", arms);
}

std::string indented(const std::string& zones) {
  std::string text;
  std::size_t depth = 1;
  for (std::size_t at = 0; at < zones.size();) {
    const std::size_t end = zones.find('\n', at) + 1;
    const std::string line = zones.substr(at, end - at);
    depth -= line.starts_with("</zone>") ? 1 : 0;
    text.append(2 * depth, ' ').append(line);
    depth += line.starts_with("<zone ") && !line.ends_with("</zone>\n") ? 1 : 0;
    at = end;
  }
  return text;
}

std::string comment(const PlatformPlan& plan) {
  std::string text = fmt::format(
      "  {}: {} GPUs in {}, from family {}, which without other words is\n  {}.\n\n", plan.words,
      plan.gpu_count(), counted(plan.nodes(), "node"), plan.family->name, plan.family->sentence);
  for (const PlatformWord& word : platform_word_rows()) {
    const auto value = plan.values.find(word.name);
    const bool between_sites = word.name == "distance" || word.name == "line";
    if (value == plan.values.end() || (between_sites && plan.sites == 1) ||
        (word.name == "oversubscription" && plan.nodes_per_leaf == 0))
      continue;
    const bool has_kind = word.name == "cards" && !plan.network.empty();
    text += fmt::format("  {} = {}{}: {}\n    {}\n", word.name, value->second.text,
                        has_kind ? ":" + plan.network : "", word.sentence, value->second.source);
  }
  text +=
      "\n  Rates are each way, and nominal: a program gets less from a network.\n"
      "  Inside a node GPUs communicate without blocking, and their bytes cross no card.\n"
      "  Servers on a node are in its memory: 48 GB/s each way for each card, over all cards.\n";
  const int most_cards =
      std::ranges::max_element(plan.cards, {}, &PlatformPlan::Cards::count)->count;
  if (most_cards > 1)
    text +=
        "  A link NODE-nics is all cards of a node together, NODE-memory-nics the same as its "
        "memory\n  uses them: servers' bytes wait for what its GPUs send and receive, over any "
        "card.\n";
  if (plan.nodes_per_leaf > 0)
    text += fmt::format(
        "  A link leafN-up is the way to the spine of the {} leaf switch{} of {} nodes together.\n",
        plan.text("rails") == "on" ? most_cards : 1,
        plan.text("rails") == "on" && most_cards > 1 ? "es" : "", plan.nodes_per_leaf);
  text += "  A link appears as NAME_UP (towards the switch) and NAME_DOWN in SimGrid.\n";
  if (plan.host_Bps > 0)
    text += "  NODE-host has no direction: what a node's GPUs send and receive shares it.\n";
  return text;
}

}  // namespace

std::string platform_text(const PlatformPlan& plan) {
  std::string zone;
  if (plan.sites == 1) {
    zone = site_zone(plan, plan.family->name, "", 0, plan.nodes(), "");
  } else {
    std::vector<Arm> arms;
    int first = 0;
    for (int i = 0; i < plan.sites; ++i) {
      const std::string site = fmt::format("site{}", i);
      const int last = first + plan.nodes_at(i);
      const std::string middle = plan.nodes_per_leaf > 0 ? "-spine-root" : "-switch-root";
      arms.push_back({site, site_zone(plan, site, site + "-", first, last, site), site + middle,
                      site + "-line",
                      split_duplex(site + "-line", plan.text("line"), plan.distance_s / 2)});
      first = last;
    }
    zone = star(plan.family->name, "between-sites", arms);
  }
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "
         "\"https://simgrid.org/simgrid.dtd\">\n<!--\n" +
         comment(plan) + "-->\n<platform version=\"4.1\">\n" + indented(zone) + "</platform>\n";
}

}  // namespace syncline
