#include "tests/laws/replay_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "kernels/philox.h"
#include "sim/catalogue/data.h"
#include "sim/setup/model.h"

namespace syncline {
namespace {}  // namespace

Elements part(const Elements& all, int parts, int first, int last) {
  const std::size_t size = all.end - all.begin;
  return {all.begin + size * index(first) / index(parts),
          all.begin + size * index(last) / index(parts)};
}

Floats ReplayedMessages::sent(const Stream& stream, int iteration, const Floats& values) {
  if (values.empty())
    return {};
  if (scenario_.compressor->name == "topk")
    return largest(left_[stream], values);
  return decoded(stream, iteration, values);
}

Floats ReplayedMessages::left(const Stream& stream, std::size_t size) const {
  if (const auto found = left_.find(stream); found != left_.end() && !found->second.empty())
    return found->second;
  if (const auto found = states_.find(stream); found != states_.end()) {
    const Values values = residual(found->second);
    if (!values.empty())
      return {values.begin(), values.end()};
  }
  return Floats(size);
}

// Exact top-k with error feedback.
Floats ReplayedMessages::largest(Floats& left, const Floats& values) const {
  const bool feedback = scenario_.compressor->keeps_residual(scenario_.compressor_settings);
  left.resize(values.size());
  Floats all(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    all[i] = feedback ? values[i] + left[i] : values[i];
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(all[a]) > std::abs(all[b]); });
  const double density = scenario_.compressor_settings.number("density");
  order.resize(static_cast<std::size_t>(
      std::max(1.0, std::floor(density * static_cast<double>(values.size())))));
  Floats sent(values.size());
  for (const std::size_t i : order)
    sent[i] = all[i];
  for (std::size_t i = 0; i < values.size() && feedback; ++i)
    left[i] = all[i] - sent[i];
  return sent;
}

Floats ReplayedMessages::decoded(const Stream& stream, int iteration, const Floats& values) {
  const auto& [rank, stage, bucket, first] = stream;
  const Compressor& compressor = *scenario_.compressor;
  const PhiloxWords words = philox(
      {compressor.shared_draw ? 0u : static_cast<std::uint32_t>(rank) + 1,
       static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32), 2},
      static_cast<std::uint32_t>(scenario_.seed), static_cast<std::uint32_t>(scenario_.seed >> 32));
  const Draw draw{.seed = std::uint64_t{words[1]} << 32 | words[0],
                  .step = static_cast<std::uint32_t>(iteration),
                  .tensor = static_cast<std::uint32_t>(bucket * 16 + stage)};
  Message message;
  compressor.reference.encode(scenario_.compressor_settings, Gradient(values), draw,
                              states_[stream], message);
  Floats sent(values.size());
  compressor.reference.decode(scenario_.compressor_settings, message, Precision::fp32, draw, sent);
  return sent;
}

ReplayRules::ReplayRules(const Options& options, const Trace& trace)
    : trace(trace),
      learned(*trace.learned),
      scenario(resolved(options)),
      learning(scenario.learning),
      data(load_data(learning.data, learning.data_folder, learning.generated, scenario.seed)),
      objective(learning.problem->objective(learning.problem_settings, data, scenario.seed)),
      sampler(data, trace.workers, scenario.learned_samples(), scenario.seed, learning.skew),
      messages(scenario),
      size(objective.parameters()),
      parameters(objective.initial.begin(), objective.initial.end()),
      velocity(size),
      plain(size, true) {
  result.initial = parameters;
  result.gradients.resize(size);
  result.lost.resize(size);
  cut();
}

Replayed ReplayRules::replayed() {
  result.parameters = parameters;
  result.unsent.resize(size);
  for (const auto& [stream, span] : streams) {
    std::vector<std::size_t> compressed;
    for (std::size_t i = span.begin; i < span.end; ++i)
      if (!plain[i])
        compressed.push_back(i);
    const Floats left = messages.left(stream, compressed.size());
    for (std::size_t i = 0; i < compressed.size(); ++i)
      result.unsent[compressed[i]] += left[i];
  }
  return result;
}

// Each tensor of the timed model, from last to first, has the same share of the learned parameters
// as of the timed ones.
void ReplayRules::cut() {
  const bool answered = scenario.schedule->server != nullptr;
  Model model;
  if (scenario.model.empty())
    for (const Tensor& tensor : objective.tensors)
      model.layers.push_back({tensor.name, tensor.parameters, tensor.forward_flop});
  else
    model = read_model(scenario.model);
  const Fusion fusion = scenario.schedule->aggregator != nullptr ? Fusion{.kind = Fusion::Kind::all}
                                                                 : scenario.fusion;
  const auto value = static_cast<int>(value_bytes(scenario.precision));
  std::uint64_t all = 0;
  for (const Layer& layer : model.layers)
    all += layer.parameters;
  std::uint64_t done = 0;
  auto layer = model.layers.rbegin();
  const auto place = [&] { return size - static_cast<std::size_t>(size * done / all); };
  for (const Bucket& bucket : fused_buckets(model, fusion, value)) {
    Elements span{.begin = 0, .end = place()};
    for (int tensor = 0; tensor < bucket.tensors; ++tensor, ++layer) {
      const std::size_t end = place();
      done += layer->parameters;
      for (std::size_t i = place(); i < end && scenario.compresses(); ++i)
        plain[i] = layer->parameters < scenario.dense_below;
    }
    span.begin = place();
    buckets.push_back(span);
    const double bytes = static_cast<double>(bucket.parameters) * value;
    const double piece = answered ? scenario.exchange_settings.number("partition-bytes") : HUGE_VAL;
    partitions.push_back(
        scenario.compresses() ? 1 : static_cast<int>(std::max(1.0, std::ceil(bytes / piece))));
  }
}

// In flows, a bucket has two pieces, or more while that makes at most some two hundred messages:
// the first partition, and all others in equal parts.
int ReplayRules::pieces(int bucket) const {
  const int most = scenario.fidelity == Fidelity::step
                       ? partitions[index(bucket)]
                       : std::max(2, 256 / (trace.workers * trace.servers));
  return std::min(partitions[index(bucket)], most);
}

Elements ReplayRules::span_of(int server, int bucket, int piece) const {
  const Elements shard = part(buckets[index(bucket)], trace.servers, server, server + 1);
  const int others = pieces(bucket) - 1;
  const auto begin = [&](int i) {
    return i == 0 ? 0 : 1 + (partitions[index(bucket)] - 1) * (i - 1) / std::max(others, 1);
  };
  return part(shard, partitions[index(bucket)], begin(piece), begin(piece + 1));
}

double ReplayRules::rate(std::int64_t applied) const {
  const double samples = static_cast<double>(applied) * scenario.learned_samples();
  const double warm = learning.rate_warm_up_epochs * static_cast<double>(data.train.count);
  const double first = learning.rate / trace.workers;
  if (samples < warm)
    return first + (learning.rate - first) * samples / warm;
  const auto in_rounds = [&](int iterations) {
    const Schedule& schedule = *scenario.schedule;
    const int round =
        schedule.round == nullptr ? 1 : schedule.round(scenario.schedule_settings, trace.workers);
    return (iterations + round - 1) / round * round;
  };
  const double run =
      static_cast<double>(in_rounds(*scenario.iterations) + in_rounds(scenario.warmup)) *
      trace.workers * scenario.learned_samples();
  if (learning.rate_schedule == Learning::RateSchedule::step)
    return learning.rate * (samples < run / 2 ? 1 : samples < 0.75 * run ? 0.1 : 0.01);
  if (learning.rate_schedule == Learning::RateSchedule::cosine)
    return learning.rate * (1 + std::cos(std::numbers::pi * std::min(samples / run, 1.0))) / 2;
  return learning.rate;
}

Floats ReplayRules::gradient(int worker, int iteration, const Floats& at, double weight) const {
  Floats gradient(size);
  objective.gradient(at, sampler.samples(worker, iteration), gradient);
  double square = 0;
  for (const float value : gradient)
    square += static_cast<double>(value) * value;
  if (learning.clip_norm > 0 && std::sqrt(square) > learning.clip_norm)
    weight *= learning.clip_norm / std::sqrt(square);
  for (float& value : gradient)
    value *= static_cast<float>(weight);
  return gradient;
}

Floats ReplayRules::seen(const ReplayedMessages::Stream& stream, const Elements& span,
                         int iteration, const float* values) {
  const bool of_gradients = std::get<1>(stream) == 0;
  if (of_gradients)
    streams[stream] = span;
  Floats seen(span.end - span.begin);
  Floats compressed;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (of_gradients)
      result.gradients[i] += values[i - span.begin];
    if (plain[i])
      seen[i - span.begin] = as_sent(values[i - span.begin], scenario.precision);
    else
      compressed.push_back(values[i - span.begin]);
  }
  const Floats sent = messages.sent(stream, iteration, compressed);
  for (std::size_t i = span.begin, next = 0; i < span.end; ++i)
    if (!plain[i])
      seen[i - span.begin] = sent[next++];
  return seen;
}

const Floats& ReplayRules::answer(const ReplayedMessages::Stream& stream, const Elements& span,
                                  int iteration) {
  const auto begin = result.initial.data() + span.begin;
  const auto end = result.initial.data() + span.end;
  Floats& from = known.try_emplace(stream, begin, end).first->second;
  Floats& sum = has.try_emplace(stream, begin, end).first->second;
  Floats change(from.size());
  for (std::size_t i = 0; i < change.size(); ++i)
    change[i] = parameters[span.begin + i] - from[i];
  const Floats sent = seen(stream, span, iteration, change.data());
  const bool remembers = scenario.compressor->keeps_residual(scenario.compressor_settings);
  const Floats left = messages.left(stream, change.size());
  for (std::size_t i = 0, next = 0; i < change.size(); ++i) {
    const float now = parameters[span.begin + i];
    from[i] = remembers ? now : from[i] + sent[i];
    sum[i] += sent[i];
    const float missing = remembers && !plain[span.begin + i] ? left[next++] : 0;
    if (remembers)
      result.farthest = std::max<double>(result.farthest, std::abs(sum[i] + missing - now));
  }
  return sum;
}

void ReplayRules::step(Floats& parameters, Floats& velocity, const Elements& span,
                       const Floats& sum, double gradients, double weight, bool weighed) const {
  const double decay = learning.weight_decay * gradients * (weighed ? weight : 1);
  const auto rate = static_cast<float>(weighed ? 1 : weight);
  for (std::size_t i = span.begin; i < span.end; ++i) {
    float change = sum[i - span.begin];
    if (decay != 0)
      change += static_cast<float>(decay) * parameters[i];
    if (learning.momentum > 0)
      change = velocity[i] = static_cast<float>(learning.momentum) * velocity[i] + change;
    parameters[i] -= rate * change;
  }
}

void ReplayRules::count_applied(int parts) {
  std::map<Key, int> applied;
  std::vector<double> times;
  for (const Row& row : trace.rows) {
    const Key key(row.rank, row.iteration);
    if (row.verb == Verb::apply && ++applied[{row.worker, row.iteration}] == parts)
      times.push_back(row.end_s);
    const auto count = static_cast<std::int64_t>(times.size());
    if (row.verb == Verb::backward)
      at_push[{row.rank, row.iteration, row.bucket}] = count;
    if (row.verb == Verb::step)
      at_forward[{row.rank, row.iteration + 1}] = count;
    if (row.verb == Verb::forward && row.iteration == 0)
      at_forward[key] = std::ranges::upper_bound(times, row.start_s) - times.begin();
  }
}

double ReplayRules::forward_weight(const Key& key) const {
  return learning.rate_in_residual ? rate(at_forward.at(key)) / trace.workers : 1;
}

}  // namespace syncline
