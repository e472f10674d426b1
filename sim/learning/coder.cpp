#include "sim/learning/coder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/cpu/tiles.h"
#include "kernels/philox.h"
#include "sim/plan.h"

namespace syncline {
namespace {

// The residual with nothing left to subtract, so that values can be added to it.
Values& plain_residual(State& state, std::size_t elements) {
  settle(state);
  if (state.residual.empty())
    state.residual.resize(elements);
  return state.residual;
}

// |u - sent|^2 / |u|^2, where `u_at` and `rest_at` return u and u - sent; 0 if all values are 0.
template <class At, class RestAt>
double share_left_out(std::size_t elements, const At& u_at, const RestAt& rest_at) {
  constexpr std::size_t lanes = 8;  // independent sums, because each addition has a latency
  double all[lanes] = {}, rest[lanes] = {};
  for (std::size_t i = 0; i < elements; ++i) {
    const double u = u_at(i), r = rest_at(i);
    all[i % lanes] += u * u;
    rest[i % lanes] += r * r;
  }
  const double total = std::accumulate(all, all + lanes, 0.0);
  return total == 0 ? 0 : std::accumulate(rest, rest + lanes, 0.0) / total;
}

Message joined(const Message& first, const Message& second) {
  Message whole = first;
  whole.insert(whole.end(), second.begin(), second.end());
  return whole;
}

}  // namespace

Coder::Coder(const Compression& compression, Precision precision, std::uint64_t seed, int watched)
    : compression_(compression), precision_(precision), seed_(seed), measures_(watched) {
  // Simulations run side by side, one per core. On busy cores, threads that wait for each other
  // took thirty times as long as one thread does, with a hundred thousand values.
  use_threads(1);
}

const Compressor& Coder::compressor() const {
  static const Compressor& none = Registered<Compressor>::find("none");
  return on() ? compression_.compressor() : none;
}

const Settings& Coder::settings(int iteration) const {
  static const Settings none;
  return on() ? compression_.settings(iteration) : none;
}

// Different encodings have different random bits: each rank and each place in the bucket has its
// own seed.
Draw Coder::draw_of(const Sender& sender, int iteration) const {
  constexpr std::uint32_t purpose = 2;  // jitter uses 0, drawn message sizes use 1
  const std::uint32_t rank =
      compressor().shared_draw ? 0 : static_cast<std::uint32_t>(sender.rank) + 1;
  const PhiloxWords words =
      philox({rank, static_cast<std::uint32_t>(sender.first),
              static_cast<std::uint32_t>(sender.first >> 32), purpose},
             static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
  return {.seed = std::uint64_t{words[1]} << 32 | words[0],
          .step = static_cast<std::uint32_t>(iteration),
          .tensor = static_cast<std::uint32_t>(sender.bucket * 16 + sender.stage)};
}

template <class Work>
void Coder::with_scratch(State& state, const Work& work) {
  state.scratch = std::move(scratch_);
  work();
  scratch_ = std::move(state.scratch);
}

// In fp16, the rest of sums that fp16 cannot hold stays in the residual as well. (Gradients of
// contributions() are in fp16 from the start.)
template <class Work>
void Coder::with_gradient(const Sender& sender, int iteration, std::span<const float> values,
                          const Work& work) {
  State& state = states_[sender];
  if (precision_ == Precision::fp32) {
    with_scratch(state, [&] { work(Gradient(values), state); });
  } else {
    const bool keeps = compressor().keeps_residual(settings(iteration));
    halves_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      halves_[i] = to_half(values[i]);
      const float rest = values[i] - to_float(halves_[i]);
      if (keeps && rest != 0 && std::isfinite(rest))
        plain_residual(state, values.size())[i] += rest;
    }
    with_scratch(state, [&] { work(Gradient(std::span<const Half>(halves_)), state); });
  }
}

Message Coder::encode(const Sender& sender, int iteration, std::span<const float> values) {
  Message message;
  if (values.empty())
    return message;
  with_gradient(sender, iteration, values, [&](const Gradient& gradient, State& state) {
    // Momentum applies to gradients only: sums of messages, and changes of parameters, already
    // contain it.
    std::optional<Settings> without;
    if (sender.stage > 0 && compressor().momentum.with != nullptr)
      without = compressor().momentum.with(settings(iteration), 0);
    compressor().cpu.encode(without ? *without : settings(iteration), gradient,
                            draw_of(sender, iteration), state, message);
  });
  note(sender, iteration, values, message);
  return message;
}

void Coder::decode(const Sender& sender, int iteration, const Message& message,
                   std::span<float> sum) const {
  if (!sum.empty())
    compressor().cpu.decode(settings(iteration), message, precision_, draw_of(sender, iteration),
                            sum);
}

Values Coder::sent(const Sender& sender, int iteration, std::span<const float> values,
                   std::size_t* bytes) {
  Values seen(values.size());
  if (!on()) {  // the result of the codec of `none`
    for (std::size_t i = 0; i < values.size(); ++i)
      seen[i] += as_sent(values[i], precision_);
    if (bytes != nullptr)
      *bytes = values.size() * value_bytes(precision_);
    return seen;
  }
  const Message message = encode(sender, iteration, values);
  decode(sender, iteration, message, seen);
  if (bytes != nullptr)
    *bytes = message.size();
  return seen;
}

WireSize Coder::expected(std::size_t elements, int iteration) const {
  return on() ? compression_.message(elements, iteration)
              : WireSize(static_cast<double>(elements * value_bytes(precision_)), true);
}

bool Coder::keeps_residuals(int iteration) const {
  return on() && compressor().keeps_residual(settings(iteration));
}

void Coder::give_back(const Sender& sender, int iteration, std::size_t element, float value) {
  State& state = states_.at(sender);
  if (compressor().keeps_residual(settings(iteration)))
    plain_residual(state, state.residual.size())[element] += value;
}

void Coder::note(const Sender& sender, int iteration, std::span<const float> values,
                 const Message& message) {
  if (!on() || sender.stage != 0)
    return;
  seen_.assign(values.size(), 0.0f);
  decode(sender, iteration, message, seen_);
  const auto measure = [&](const auto& whole_at, const auto& rest_at) {
    const double left_out = share_left_out(values.size(), whole_at, rest_at);
    if (!std::isfinite(left_out))
      return;
    const auto seen = static_cast<std::size_t>(
        std::ranges::count_if(seen_, [](float value) { return value != 0; }));
    Measures::MeasuredMessage one{.values = values.size(),
                                  .sent = seen,
                                  .bytes = message.size(),
                                  .left_out = left_out,
                                  .promise = {}};
    if (const auto promise = compressor().promise; promise != nullptr)
      one.promise = promise(settings(iteration), values.size(), seen);
    // A message of a fixed size has no more values than it was asked for. If its decoded form has
    // more, that form is a transform of the values.
    if (one.promise.values && expected(values.size(), iteration).exact)
      one.sent = std::min(seen, static_cast<std::size_t>(*one.promise.values));
    measures_.add(iteration, one);
    if (!measures_.watches(sender.rank, iteration))
      return;
    whole_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      whole_[i] = whole_at(i);
    measures_.watch(iteration, whole_);
  };
  if (compressor().keeps_residual(settings(iteration))) {
    const Values& left = plain_residual(states_.at(sender), values.size());
    measure([&](std::size_t i) { return seen_[i] + left[i]; },
            [&](std::size_t i) { return left[i]; });
  } else {
    measure([&](std::size_t i) { return values[i]; },
            [&](std::size_t i) { return values[i] - seen_[i]; });
  }
}

std::vector<std::size_t> Coder::add_messages(const std::vector<Sender>& senders, int iteration,
                                             const std::vector<std::span<const float>>& values,
                                             std::span<float> sum) {
  std::vector<std::size_t> sizes(senders.size());
  if (sum.empty())
    return sizes;
  const Compressor& method = compressor();
  const Settings& given = settings(iteration);
  // Makes a message of each sender; returns the sum of all messages.
  const auto added = [&](const auto& made_by) {
    Message total;
    for (std::size_t i = 0; i < senders.size(); ++i) {
      const Message message = made_by(i);
      sizes[i] += message.size();
      if (i == 0)
        total = message;
      else
        method.add(given, precision_, total, message);
    }
    return total;
  };
  Message whole = added([&](std::size_t i) {
    if (!method.first_half)
      return encode(senders[i], iteration, values[i]);
    Message message;
    with_gradient(senders[i], iteration, values[i], [&](const Gradient& gradient, State& state) {
      method.first_half(given, gradient, draw_of(senders[i], iteration), state, message);
    });
    return message;
  });
  if (method.second_half) {
    const Message first = whole;
    whole = joined(first, added([&](std::size_t i) {
                     Message message;
                     State& state = states_.at(senders[i]);
                     with_scratch(state, [&] { method.second_half(given, first, state, message); });
                     note(senders[i], iteration, values[i], joined(first, message));
                     return message;
                   }));
    for (const Sender& sender : senders)
      method.remember(given, whole, states_.at(sender));
  }
  decode(senders.front(), iteration, whole, sum);
  return sizes;
}

Contributions Coder::contributions(int bucket, int iteration,
                                   const std::vector<std::span<const float>>& gradients,
                                   std::vector<std::size_t>& message_bytes,
                                   std::vector<std::size_t>* sum_bytes) {
  Contributions all{.elements = gradients.empty() ? 0 : gradients.front().size(),
                    .gradients = gradients,
                    .compressed = on(),
                    .summable = compressor().reducible};
  if (precision_ == Precision::fp16) {
    std::vector<Values> rounded;
    for (const std::span<const float> gradient : gradients) {
      rounded.emplace_back(gradient.begin(), gradient.end());
      for (float& value : rounded.back())
        value = as_sent(value, precision_);
    }
    all.rounded = std::make_shared<const std::vector<Values>>(std::move(rounded));
    all.gradients.assign(all.rounded->begin(), all.rounded->end());
  }
  const std::size_t elements = all.elements;
  if (compressor().sparse && has_density(compressor()))
    all.wanted = static_cast<std::size_t>(std::llround(
        expected(elements, iteration).bytes / static_cast<double>(4 + value_bytes(precision_))));

  message_bytes.assign(gradients.size(), no_message);
  if (sum_bytes != nullptr)
    sum_bytes->assign(gradients.size(), no_message);
  const auto note_size = [elements, own = &message_bytes, sum_bytes](
                             int worker, int stage, std::size_t bytes, std::size_t encoded) {
    std::vector<std::size_t>* sizes = stage == 0 ? own : sum_bytes;
    if (encoded > 0 && sizes != nullptr)  // if it was a share: scaled to all elements
      (*sizes)[index(worker)] = (bytes * elements + encoded / 2) / encoded;
  };
  const auto sender = [bucket](int worker, int stage, std::size_t first) {
    return Sender{.rank = worker, .stage = stage, .bucket = bucket, .first = first};
  };
  all.encode = [=, this](int worker, int stage, std::size_t first, std::span<const float> values) {
    Message message = encode(sender(worker, stage, first), iteration, values);
    note_size(worker, stage, message.size(), values.size());
    return message;
  };
  all.decode = [=, this](int worker, int stage, std::size_t first, const Message& message,
                         std::span<float> sum) {
    decode(sender(worker, stage, first), iteration, message, sum);
  };
  all.add_messages = [=, this](const std::vector<int>& workers, std::size_t first,
                               const std::vector<std::span<const float>>& values,
                               std::span<float> sum) {
    std::vector<Sender> senders;
    for (const int worker : workers)
      senders.push_back(sender(worker, 0, first));
    const std::vector<std::size_t> sizes = add_messages(senders, iteration, values, sum);
    for (std::size_t i = 0; i < workers.size(); ++i)
      note_size(workers[i], 0, sizes[i], sum.size());
  };
  all.sends_list = [=, this](int worker, std::size_t values, std::size_t of) {
    note_size(worker, 1, values * (4 + value_bytes(precision_)), of);
  };
  all.give_back = [=, this](int worker, std::size_t element, float value) {
    give_back(sender(worker, 0, 0), iteration, element, value);
  };
  return all;
}

Values combine(const Exchange& exchange, const Topology& topology, const Settings& settings,
               const Contributions& contributions) {
  std::vector<int> everybody(contributions.gradients.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  if (!contributions.compressed || everybody.size() == 1 || contributions.elements == 0)
    return dense_sum(contributions, everybody, 0, contributions.elements);
  if (exchange.combine)
    return exchange.combine(topology, settings, contributions);
  Values sum(contributions.elements);
  contributions.add_messages(everybody, 0, contributions.gradients, sum);
  return sum;
}

}  // namespace syncline
