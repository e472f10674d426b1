#include "sim/platform/link_factors.h"

#include <algorithm>
#include <set>

#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

bool fits_link(const LinkFactor& factor, const std::string& link) {
  return syncline::fits(factor.pattern, link) || syncline::fits(factor.pattern, name_in_file(link));
}

void check(const std::string& option, const std::vector<LinkFactor>& factors,
           const std::vector<std::string>& links, const std::set<std::string>& changing) {
  constexpr std::size_t most_named = 6;
  for (const LinkFactor& factor : factors) {
    const std::string begin = option + " = " + brief(factor.pattern) + ":...: ";
    bool any = false;
    for (const std::string& link : links) {
      if (!fits_link(factor, link))
        continue;
      any = true;
      if (changing.contains(name_in_file(link)))
        refuse("{}link {} follows a profile of its own; allowed are links without a profile", begin,
               brief(name_in_file(link)));
    }
    if (any)
      continue;
    constexpr std::size_t most_compared = 1000;
    std::set<std::string> names;
    for (std::size_t i = 0; i < links.size() && names.size() < most_compared; ++i)
      names.insert(brief(name_in_file(links[i])));
    refuse("{}no link has such a name; allowed are names such as {}, with * for any characters",
           begin, listed(nearest(factor.pattern, {names.begin(), names.end()}, most_named)));
  }
}

}  // namespace

std::string name_in_file(const std::string& link) {
  for (const std::string way : {"_UP", "_DOWN"})
    if (link.ends_with(way))
      return link.substr(0, link.size() - way.size());
  return link;
}

bool fits(const std::string& pattern, const std::string& name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string::npos;  // the last * so far, which matches up to `n`
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

double factor_of_link(const std::vector<LinkFactor>& factors, const std::string& link) {
  double all = 1;
  for (const LinkFactor& factor : factors)
    if (fits_link(factor, link))
      all *= factor.factor;
  return all;
}

double bandwidth_factor_of(const NetworkOptions& options, const std::string& link, bool is_card) {
  return factor_of_link(options.link_bandwidths, link) * (is_card ? options.network_efficiency : 1);
}

bool names_link(const std::vector<LinkFactor>& factors, const std::string& link) {
  return std::ranges::any_of(factors,
                             [&](const LinkFactor& factor) { return fits_link(factor, link); });
}

void check_link_factors(const NetworkOptions& options, const Profiles& profiles,
                        const std::vector<std::string>& links) {
  std::set<std::string> changing;
  for (const auto& profile : profiles.bandwidths)
    changing.insert(profile.first);
  check("bandwidth-factor", options.link_bandwidths, links, changing);
  check("latency-factor", options.link_latencies, links, profiles.latencies);
}

}  // namespace syncline
