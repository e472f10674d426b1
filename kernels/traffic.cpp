#include "kernels/traffic.h"

namespace syncline {

Amount scattered(const Amount& count, double among) {
  const double cells = std::ceil(among / 8);
  if (count.spread == 0 && (count.mean <= 0 || count.mean >= among))
    return count.mean <= 0 ? 0.0 : sector_bytes * cells;
  const double share = std::clamp(count.mean / among, 0.0, 1.0);
  const double touched = 1 - std::pow(1 - share, 8);
  const double chance = 6 * std::sqrt(cells * touched * (1 - touched));
  return sector_bytes * Amount(cells * touched, chance + count.spread + 1,
                               cells * touched * std::pow(1 - touched, 3));
}

StreamOperations repeated(const StreamOperations& operations, std::size_t times) {
  StreamOperations all;
  for (std::size_t time = 0; time < times; ++time)
    all.insert(all.end(), operations.begin(), operations.end());
  return all;
}

double bytes_of(const StreamOperations& operations) {
  double bytes = 0;
  for (const StreamOperation& operation : operations)
    bytes += operation.read.mean + operation.written.mean;
  return bytes;
}

}  // namespace syncline
