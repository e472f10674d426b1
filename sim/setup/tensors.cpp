// How a model's tensors are put together into buckets and units, and dealt to servers.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "kernels/io/text.h"
#include "sim/setup/model.h"

namespace syncline {
namespace {

// Merges neighbours: `joins[i]` means that tensor i (in backward order) is in the bucket of tensor
// i + 1.
std::vector<Bucket> bucketed(const std::vector<Layer>& backward, const std::vector<bool>& joins) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (!open)
      buckets.push_back({.index = static_cast<int>(buckets.size()), .first = backward[i].name});
    Bucket& bucket = buckets.back();
    bucket.parameters += backward[i].parameters;
    bucket.forward_flop += backward[i].forward_flop;
    bucket.again_flop += backward[i].again_flop;
    ++bucket.tensors;
    bucket.last = backward[i].name;
    open = joins[i];
  }
  return buckets;
}

// The block of a tensor: "h.0" for "h.0.attn.weight". The name up to the first number, if more than
// one word follows. Empty: the tensor is in no block.
std::string block_of(const std::string& tensor) {
  const std::vector<std::string> words = split(tensor, '.');
  std::string block;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    block += (i > 0 ? "." : "") + words[i];
    if (i > 0 && !words[i].empty() && words[i].find_first_not_of("0123456789") == std::string::npos)
      return block;
  }
  return {};
}

bool shows_blocks(const Model& model) {
  std::string first;
  for (const Layer& layer : model.layers)
    if (const std::string block = block_of(layer.name); !block.empty()) {
      if (!first.empty() && block != first)
        return true;
      first = block;
    }
  return false;
}

constexpr double parameters_of_a_part = 1e8;

int parts_of(const Model& model, std::optional<int> parts) {
  return parts.value_or(
      static_cast<int>(std::ceil(static_cast<double>(model.parameters()) / parameters_of_a_part)));
}

std::vector<Layer> in_backward_order(const Model& model) {
  return {model.layers.rbegin(), model.layers.rend()};
}

}  // namespace

std::vector<Bucket> fused_buckets(const Model& model, const Fusion& fusion, int value_bytes) {
  const std::vector<Layer> backward = in_backward_order(model);
  if (fusion.kind == Fusion::Kind::all)
    return bucketed(backward, std::vector<bool>(backward.size(), true));
  std::vector<bool> joins(backward.size(), false);
  double filled = 0;
  double limit = fusion.first_bytes.value_or(fusion.bytes);
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    filled += static_cast<double>(backward[i].parameters) * value_bytes;
    const double next = static_cast<double>(backward[i + 1].parameters) * value_bytes;
    joins[i] = fusion.closes_after ? filled < limit : filled + next <= limit;
    if (!joins[i]) {
      filled = 0;
      limit = fusion.bytes;
    }
  }
  return bucketed(backward, joins);
}

std::vector<Bucket> unit_buckets(const Model& model, std::optional<int> parts) {
  const std::vector<Layer> backward = in_backward_order(model);
  const bool by_block = !parts && shows_blocks(model);
  const double part = static_cast<double>(model.parameters()) / parts_of(model, parts);
  const auto unit_of = [&](const Layer& layer, double before) {
    return std::floor((before + static_cast<double>(layer.parameters) / 2) / part);
  };
  std::vector<bool> joins(backward.size(), false);
  double before = 0;
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    const double next = before + static_cast<double>(backward[i].parameters);
    joins[i] = by_block ? block_of(backward[i].name) == block_of(backward[i + 1].name)
                        : unit_of(backward[i], before) == unit_of(backward[i + 1], next);
    before = next;
  }
  return bucketed(backward, joins);
}

std::string describe_units(const Model& model, std::optional<int> parts) {
  if (parts)
    return "of equal size, about";
  return shows_blocks(model) ? "as tensors' names show blocks"
                             : "of up to 100 million parameters, as names show no blocks";
}

std::vector<Bucket> cycled_buckets(const Model& model, const Fusion& fusion, int value_bytes,
                                   const std::vector<double>& ready_s) {
  const std::vector<Layer> backward = in_backward_order(model);
  // A gradient that is ready at the end of a cycle is in time for it.
  const auto end_of_cycle = [&](std::size_t i) {
    constexpr double rounding = 1e-9;
    return std::max(1.0, std::ceil(ready_s[i] / fusion.cycle_s - rounding)) * fusion.cycle_s;
  };
  std::vector<bool> joins(backward.size(), false);
  double filled = 0;
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    filled += static_cast<double>(backward[i].parameters) * value_bytes;
    const double next = static_cast<double>(backward[i + 1].parameters) * value_bytes;
    joins[i] = end_of_cycle(i) == end_of_cycle(i + 1) && filled + next <= fusion.bytes;
    if (!joins[i])
      filled = 0;
  }
  std::vector<Bucket> buckets = bucketed(backward, joins);
  std::size_t last = 0;
  for (Bucket& bucket : buckets) {
    last += static_cast<std::size_t>(bucket.tensors);
    bucket.waits_s = std::max(0.0, end_of_cycle(last - 1) - ready_s[last - 1]);
  }
  return buckets;
}

std::vector<Bucket> merged_buckets(const Model& model, int value_bytes, double backward_s,
                                   double startup_s, double seconds_per_byte,
                                   double compress_seconds_per_byte) {
  const std::vector<Layer> backward = in_backward_order(model);
  const std::size_t n = backward.size();
  const double flop = model.forward_flop();

  // When each gradient has been computed and compressed, in seconds from the start of backward.
  std::vector<double> ready(n);
  double elapsed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    elapsed +=
        backward_s * backward[i].forward_flop / flop +
        static_cast<double>(backward[i].parameters) * value_bytes * compress_seconds_per_byte;
    ready[i] = elapsed;
  }
  // ended[i] is the earliest time at which the first i gradients can have been exchanged; their
  // last bucket then begins with gradient began[i]. A bucket with gradients `first` to i - 1 sets
  // out when its last gradient is ready and the exchange of all gradients before `first` has ended.
  // Among the candidates for `first` whose exchange before ends in time, the last is the best,
  // because its bucket is the smallest. The others wait in a queue, compared by their end without
  // their own bytes; one that is no better than a later one leaves. `ended` and `ready` never fall,
  // so each enters once and leaves once: a model may have `most_layers` tensors.
  std::vector<double> ended(n + 1, 0);
  std::vector<std::size_t> began(n + 1, 0);
  std::vector<double> bytes(n + 1, 0);  // of the first i gradients
  std::deque<std::size_t> waiting;
  const auto without_bytes = [&](std::size_t first) {
    return ended[first] - bytes[first] * seconds_per_byte;
  };
  std::size_t in_time = 0;  // the last `first` for which no gradient waits
  for (std::size_t i = 1; i <= n; ++i) {
    bytes[i] = bytes[i - 1] + static_cast<double>(backward[i - 1].parameters) * value_bytes;
    while (!waiting.empty() && without_bytes(waiting.back()) >= without_bytes(i - 1))
      waiting.pop_back();
    waiting.push_back(i - 1);
    while (in_time + 1 < i && ended[in_time + 1] <= ready[i - 1])
      ++in_time;
    while (!waiting.empty() && waiting.front() <= in_time)
      waiting.pop_front();
    ended[i] = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::size_t first) {
      const double end = std::max(ended[first], ready[i - 1]) + startup_s +
                         (bytes[i] - bytes[first]) * seconds_per_byte;
      if (end < ended[i] || (end == ended[i] && first > began[i])) {
        ended[i] = end;
        began[i] = first;
      }
    };
    consider(in_time);
    if (!waiting.empty())
      consider(waiting.front());
  }
  std::vector<bool> joins(n, true);
  for (std::size_t end = n; end > 0; end = began[end])
    joins[end - 1] = false;
  return bucketed(backward, joins);
}

void deal_tensors(const Model& model, int servers, std::vector<Bucket>& buckets) {
  std::size_t tensor = model.layers.size();
  for (Bucket& bucket : buckets) {
    bucket.parts.assign(index(servers), {});
    for (int i = 0; i < bucket.tensors; ++i) {
      ServerPart& part = bucket.parts[--tensor % index(servers)];
      part.parameters += model.layers[tensor].parameters;
      ++part.tensors;
    }
    std::uint64_t before = 0;
    for (ServerPart& part : bucket.parts)
      part.before = std::exchange(before, before + part.parameters);
  }
}

void sort_tensors(const Model& model, std::uint64_t below, std::vector<Bucket>& buckets) {
  auto layer = model.layers.rbegin();
  for (Bucket& bucket : buckets) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> shapes;
    for (int i = 0; i < bucket.tensors; ++i, ++layer)
      if (layer->parameters < below)
        bucket.small_parameters += layer->parameters;
      else if (layer->columns > 0)
        ++shapes[{layer->parameters / layer->columns, layer->columns}];
    for (const auto& [shape, count] : shapes)
      bucket.shapes.push_back({shape.first, shape.second, count});
  }
}

}  // namespace syncline
