#include "sim/engine/link_samples.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace syncline {
namespace {

constexpr double samples_per_iteration = 50;
constexpr double most_samples = 20'000;

// Adds bytes that move evenly between these times.
void add(std::vector<double>& samples, double sample_s, double from_s, double to_s, double bytes) {
  const auto at = [&](double s) {
    return std::min(static_cast<std::size_t>(s / sample_s), samples.size() - 1);
  };
  const std::size_t first = at(from_s);
  const std::size_t last = at(to_s);
  if (first == last) {
    samples[first] += bytes;
    return;
  }
  const double rate_Bps = bytes / (to_s - from_s);
  double left = bytes;
  for (std::size_t i = first; i < last; ++i) {
    const double until_s = static_cast<double>(i + 1) * sample_s;
    const double part = std::min(left, rate_Bps * (until_s - from_s));
    samples[i] += part;
    left -= part;
    from_s = until_s;
  }
  samples[last] += left;
}

// Moves `part` of the bytes above a sample's `full` on to the next samples that have room: later
// ones, or with reverse iterators earlier ones.
template <class Iterator, class Full>
void move_on(Iterator begin, Iterator end, Full full, double part) {
  double carried = 0;
  for (Iterator sample = begin; sample != end; ++sample, ++full) {
    const double excess = part * std::max(0.0, *sample - *full);
    const double taken = std::min(carried, std::max(0.0, *full - *sample));
    *sample += taken - excess;
    carried += excess - taken;
  }
  if (begin != end)
    *std::prev(end) += carried;  // there is no more time
}

// Bytes that a link can carry in each of its samples.
std::vector<double> full_samples(const LinkUse& link, double sample_s) {
  std::vector<double> full(link.sampled_bytes.size(), link.bandwidth.first_Bps * sample_s);
  for (std::size_t i = 0; i < full.size() && !link.bandwidth.is_constant(); ++i)
    full[i] = link.bandwidth.carried_bytes(static_cast<double>(i + 1) * sample_s) -
              link.bandwidth.carried_bytes(static_cast<double>(i) * sample_s);
  return full;
}

}  // namespace

void sample_links(Routes& routes, Trace& trace) {
  double iterations = 0;
  for (const Row& row : trace.rows)
    iterations = std::max(iterations, row.iteration + 1.0);
  const double count = std::clamp(samples_per_iteration * iterations, 1.0, most_samples);
  trace.sample_s = trace.end_s / count;
  if (trace.sample_s <= 0)
    return;
  for (LinkUse& link : trace.links)
    if (!link.fatpipe)  // flows share none of its bandwidth
      link.sampled_bytes.assign(static_cast<std::size_t>(count), 0);
  for (const TracedMessage& message : trace.messages)
    if (message.bytes > 0)
      for (const int link : routes.between(message.from, message.to).links)
        add(trace.links[index(link)].sampled_bytes, trace.sample_s, message.sent_s,
            message.arrived_s, static_cast<double>(message.bytes));
  for (LinkUse& link : trace.links) {
    std::vector<double>& samples = link.sampled_bytes;
    const std::vector<double> full = full_samples(link, trace.sample_s);
    move_on(samples.begin(), samples.end(), full.begin(), 0.5);
    move_on(samples.rbegin(), samples.rend(), full.rbegin(), 1);
    move_on(samples.begin(), samples.end(), full.begin(), 1);
  }
}

}  // namespace syncline
