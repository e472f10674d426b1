#include "sim/options/sizes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "kernels/io/text.h"
#include "kernels/io/units.h"

namespace syncline {
namespace {

std::uint64_t message_size(const std::string& text, const std::string& where) {
  const bool is_short = !text.empty() && std::string("KMGT").find(text.back()) != std::string::npos;
  const auto bytes = number_in(without_unit("size-bytes", text + (is_short ? "iB" : "")));
  if (!bytes || !(*bytes >= value_of_message_bytes) || *bytes > largest_message_bytes ||
      std::fmod(*bytes, value_of_message_bytes) != 0)
    throw std::invalid_argument(
        fmt::format("{}: size '{}': allowed are multiples of 4 bytes, a float, from 4 to 1T, with "
                    "a unit (K, M, G: 1024 and its powers; or kB, MiB, ...)",
                    where, brief(text)));
  return static_cast<std::uint64_t>(*bytes);
}

bool is_ellipsis(const std::string& text) {
  return text == "..." || text == "\u2026";
}

}  // namespace

std::vector<std::uint64_t> message_sizes(const Given& list) {
  const std::vector<std::string> texts = values_of(list);
  if (texts.size() > most_cells)
    throw std::invalid_argument(
        fmt::format("{}: {} sizes: allowed are up to {}", list.where, texts.size(), most_cells));
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!is_ellipsis(texts[i])) {
      sizes.push_back(message_size(texts[i], list.where));
      continue;
    }
    if (i == 0 || i + 1 == texts.size() || is_ellipsis(texts[i + 1]))
      throw std::invalid_argument(list.where +
                                  ": '...' stands between two sizes, such as 8,...,1G");
    const std::uint64_t last = message_size(texts[i + 1], list.where);
    if (last <= sizes.back())
      throw std::invalid_argument(fmt::format(
          "{}: {},...,{}: allowed is a larger size behind '...'", list.where, sizes.back(), last));
    while (2 * sizes.back() < last)
      sizes.push_back(2 * sizes.back());
  }
  std::vector<std::uint64_t> sorted = sizes;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw std::invalid_argument(fmt::format("{}: size {} is given twice", list.where, *twice));
  return sizes;
}

}  // namespace syncline
