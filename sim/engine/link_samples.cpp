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

// Moves what is more than `full` to later samples, or to earlier ones, as long as they have room.
template <class Iterator>
void move_on(Iterator begin, Iterator end, double full, double part) {
  double carried = 0;
  for (Iterator sample = begin; sample != end; ++sample) {
    const double excess = part * std::max(0.0, *sample - full);
    const double taken = std::min(carried, std::max(0.0, full - *sample));
    *sample += taken - excess;
    carried += excess - taken;
  }
  if (begin != end)
    *std::prev(end) += carried;  // there is no more time
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
    link.sampled_bytes.assign(static_cast<std::size_t>(count), 0);
  for (const TracedMessage& message : trace.messages)
    if (message.bytes > 0)
      for (const int link : routes.between(message.from, message.to).links)
        add(trace.links[static_cast<std::size_t>(link)].sampled_bytes, trace.sample_s,
            message.sent_s, message.arrived_s, static_cast<double>(message.bytes));
  for (LinkUse& link : trace.links) {
    const double full = link.bandwidth_Bps * trace.sample_s;
    std::vector<double>& samples = link.sampled_bytes;
    move_on(samples.begin(), samples.end(), full, 0.5);
    move_on(samples.rbegin(), samples.rend(), full, 1);
    move_on(samples.begin(), samples.end(), full, 1);
  }
}

}  // namespace syncline
