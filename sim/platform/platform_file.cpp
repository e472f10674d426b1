#include "sim/platform/platform_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/import/foreign_files.h"
#include "sim/platform/platform_check.h"
#include "sim/platform/platform_text.h"

namespace syncline {
namespace {

PlatformFile file_of_words(const std::string& words, bool for_simgrid) {
  PlatformPlan plan = platform_plan(words);
  PlatformFile file;
  if (for_simgrid) {
    require_for_simgrid(plan);
    file = checked_words(words, platform_text(plan));
  } else {
    file.hosts = plan.gpu_count() + plan.nodes();
    file.cards.kind = plan.network;
    for (const PlatformPlan::Cards& cards : plan.cards)
      if (std::ranges::count(file.cards.rates_Bps, cards.Bps) == 0)
        file.cards.rates_Bps.push_back(cards.Bps);
  }
  const std::vector<std::string> warnings = slow_words(plan, slow_Bps);
  file.warnings.insert(file.warnings.end(), warnings.begin(), warnings.end());
  file.plan = std::move(plan);
  return file;
}

// Names the kind of another tool's file; empty: a platform, or unknown.
std::string what_it_is_instead(const std::string& path) {
  try {
    constexpr std::size_t most_bytes = 100'000'000;
    return foreign_file(text_of_file(path, most_bytes), "platform");
  } catch (const std::runtime_error&) {  // the error was reported before
    return {};
  }
}

// Why the rates of this file's network cards cannot be multiplied; empty: they can.
std::string why_no_efficiency(const Profiles& profiles) {
  if (profiles.cards.empty())
    return "no link says that it is a network card; allowed are platforms in words, and files in "
           "which the cards' links have the property kind = card, or cards for several as one link";
  for (const std::string& card : profiles.cards)
    if (profiles.bandwidths.contains(card))
      return fmt::format(
          "link {} has kind = card and follows a bandwidth profile of its own; allowed are cards "
          "without a profile",
          brief(card));
  return {};
}

}  // namespace

PlatformFile read_platform(const Scenario& scenario) {
  PlatformFile file = read_platform(scenario.platform, scenario.fidelity != Fidelity::analytic);
  if (scenario.network_efficiency == 1 || !file.refusal.empty() || file.plan)
    return file;
  const std::string why = why_no_efficiency(file.profiles);
  if (why.empty())
    return file;
  return {.files = {scenario.platform},
          .refusal = fmt::format("{}: network-efficiency = {}: {}", brief_path(scenario.platform),
                                 scenario.network_efficiency, why)};
}

PlatformFile read_platform(const std::string& platform, bool for_simgrid) {
  try {
    return is_platform_words(platform) ? file_of_words(platform, for_simgrid)
                                       : checked_file(platform);
  } catch (const std::invalid_argument& error) {
    return {.refusal = platform + ": " + error.what()};
  } catch (const std::runtime_error& error) {
    if (is_platform_words(platform))
      return {.refusal = error.what()};
    const std::string foreign = what_it_is_instead(platform);
    return {.files = {platform},
            .refusal = foreign.empty() ? error.what() : brief_path(platform) + ": " + foreign};
  }
}

}  // namespace syncline
