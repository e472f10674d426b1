// CAT, communication-aware adaptive tuning (Khirirat, Magnusson, Aytekin, Johansson, arXiv
// 2003.06377): chooses at every step how much to send, by improvement per cost. Three rules:
// `sparsify` sends the T largest; `sign` sends the signs of the T largest and one scale;
// `stochastic` keeps each element with a probability proportional to its magnitude and is unbiased,
// so it has no residual. Where the paper scales its step by sqrt(beta/T), the scale sent here is
// the mean of the magnitudes, which is the same product without the smoothness constant.
//
// Only the top of the magnitudes has to be sorted: the walk usually ends soon, and sorts a larger
// top when it does not.
#include "kernels/compressors/cat.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/arithmetic/normal.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/values.h"
#include "kernels/cpu/select.h"
#include "kernels/gpu/selection_traffic.h"
#include "kernels/philox.h"

namespace syncline::cat {
namespace {

// The message of the stochastic rule: kept values are divided by their probability; no residual
// stays.
void write_kept(const std::vector<std::uint32_t>& kept, double unit, Precision precision,
                State& state, Message& message) {
  for (const std::uint32_t i : kept)
    state.residual[i] = static_cast<float>(state.residual[i] / chance(state.residual[i], unit));
  write_sparse_plainly(kept, precision, state.residual, message);
  std::fill(state.residual.begin(), state.residual.end(), 0.0f);
}

// The message of the sign rule: the scale (fp32), T indices, then one bit per element.
std::size_t signs_bytes(std::size_t count) {
  return 4 * (1 + count + (count + 31) / 32);
}

void write_signs(const std::vector<std::uint32_t>& chosen, double magnitudes, State& state,
                 Message& message) {
  const std::size_t count = chosen.size();
  const float scale = sign_scale(magnitudes, count);
  message.assign(signs_bytes(count), std::byte{0});
  put_value(scale, Precision::fp32, message.data());
  for (std::size_t i = 0; i < count; ++i) {
    float& u = state.residual[chosen[i]];
    std::memcpy(message.data() + 4 + 4 * i, &chosen[i], 4);
    put_number(u >= 0, i, 1, message.data() + 4 + 4 * count);
    u = std::isfinite(scale) ? u - (u >= 0 ? scale : -scale) : 0.0f;
  }
}

void finish(const Settings& settings, const Walk& walk, const std::vector<std::uint32_t>& chosen,
            Precision precision, State& state, Message& message) {
  if (settings.word("rule") == "sign")
    write_signs(chosen, walk.best_sum, state, message);
  else if (settings.word("rule") == "stochastic")
    write_kept(chosen, walk.best_unit, precision, state, message);
  else
    write_sparse_plainly(chosen, precision, state.residual, message);
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  add_plainly(gradient, keeps_residual(settings), state);
  const Values& u = state.residual;
  Walk walk(terms_of(settings, u.size()), moments_of(u).absolute, u.size());
  Values sorted = u;
  std::sort(sorted.begin(), sorted.end(),
            [](float a, float b) { return magnitude_key(a) > magnitude_key(b); });
  const auto magnitude_at = [&](std::size_t i) -> double { return absolute_value(sorted[i]); };
  while (!walk.finished)
    walk.next(magnitude_at(walk.count), magnitude_at);
  const auto is_kept = [&](std::size_t i) {
    return uniform(draw, i) < chance(u[i], walk.best_unit);
  };
  const std::vector<std::uint32_t> chosen = settings.word("rule") == "stochastic"
                                                ? indices_where(u.size(), is_kept)
                                                : largest_plainly(u, walk.best);
  finish(settings, walk, chosen, gradient.precision(), state, message);
}

std::vector<std::uint32_t> listed_indices(const Picks& picks) {
  std::vector<std::uint32_t> indices;
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    indices.insert(indices.end(), picks.tile(t).begin(), picks.tile(t).end());
  return indices;
}

// Runs the walk over sorted tops of growing size; leaves the picks of the last top.
Walk walked(const Terms& terms, double absolute, std::span<const float> u, Picks& picks) {
  for (std::size_t top = std::min<std::size_t>(u.size(), 4096);;
       top = std::min(u.size(), 8 * top)) {
    Walk walk(terms, absolute, u.size());
    if (top == 0)
      return walk;
    collect(u, certain_key(u, top), picks);
    trim(top, picks);
    std::vector<std::uint32_t> keys = keys_of(picks);
    std::sort(keys.rbegin(), keys.rend());
    const auto magnitude_at = [&](std::size_t i) -> double {
      return std::bit_cast<float>(keys[i]);
    };
    while (!walk.finished && walk.count < keys.size())
      walk.next(magnitude_at(walk.count), magnitude_at);
    if (walk.finished)
      return walk;
  }
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const std::size_t n = gradient.elements();
  const Moments moments = add_and_sum(gradient, keeps_residual(settings), state);
  const float* u = state.residual.data();
  Picks picks = room_for_picks(n, state.scratch);
  const Walk walk = walked(terms_of(settings, n), moments.absolute, state.residual, picks);
  if (settings.word("rule") == "stochastic") {
    const double unit = walk.best_unit;
    for_each_tile(n, [&](std::size_t t, std::size_t begin, std::size_t count) {
      std::uint32_t kept = 0;
      for (std::size_t i = begin; i < begin + count; ++i) {
        picks.tile(t).data()[kept] = static_cast<std::uint32_t>(i);
        kept += uniform(draw, i) < chance(u[i], unit) ? 1u : 0u;
      }
      picks.counts[t] = kept;
    });
  } else {
    trim(walk.best, picks);
  }
  finish(settings, walk, listed_indices(picks), gradient.precision(), state, message);
}

void decode(const Settings& settings, std::span<const std::byte> message, Precision precision,
            const Draw& draw, std::span<float> sum) {
  if (settings.word("rule") != "sign") {
    decode_sparse(settings, message, precision, draw, sum);
    return;
  }
  const std::size_t words = message.size() / 4, count = words > 0 ? (words - 1) * 32 / 33 : 0;
  expect_bytes("cat", message.size(), signs_bytes(count));
  const float scale = get_float(message.data());
  std::vector<std::uint32_t> indices(count);
  if (count > 0)  // memcpy must not get null pointers, even for 0 bytes
    std::memcpy(indices.data(), message.data() + 4, 4 * count);
  bool good = !(scale < 0) && (count == 0 || indices.back() < sum.size());
  for (std::size_t i = 1; i < count; ++i)
    good = good && indices[i - 1] < indices[i];
  if (!good)
    throw CorruptMessage("corrupt cat message: allowed are a scale from 0 and ascending indices");
  for (std::size_t i = 0; i < count; ++i) {
    const bool set = get_number(message.data() + 4 + 4 * count, i, 1) != 0;
    sum[indices[i]] += set ? scale : -scale;
  }
}

// T depends on the data; this is T for a Gaussian gradient, whose i-th largest magnitude is the
// midpoint of the i-th of n intervals of equal probability.
std::size_t typical_count(const Settings& settings, std::size_t elements) {
  const double n = static_cast<double>(elements);
  const double mean_magnitude = std::sqrt(2 / std::numbers::pi);
  const auto magnitude_at = [=](std::size_t i) {
    return -normal_quantile((static_cast<double>(i) + 0.5) / (2 * n));
  };
  Walk walk(terms_of(settings, elements), n * mean_magnitude, elements);
  while (!walk.finished)
    walk.next(magnitude_at(walk.count), magnitude_at);
  return walk.best;
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision precision) {
  const std::size_t count = typical_count(settings, elements);
  if (settings.word("rule") == "sign")
    return {static_cast<double>(signs_bytes(count)), false};
  return {sparse_bytes(count, precision), false};
}

// T is the number of elements sent. The error of signs has another bound, and the stochastic rule
// scales up what it sends.
Promise promise(const Settings& settings, std::size_t elements, std::size_t sent) {
  if (settings.word("rule") == "sparsify")
    return promise_of_sent(settings, elements, sent);
  if (settings.word("rule") == "sign")
    return {.values = static_cast<double>(sent)};
  return {};
}

// Costs in bytes of the simulated network: the rule only needs ratios of costs.
Settings priced_by_network(const Settings& settings, double start_bytes) {
  return settings.with("cost", "affine")
      .with("packet-bits", 8)
      .with("packet-cost", 1)
      .with("fixed-cost", start_bytes);
}

// 1 / `part` values travel for each value seen here, so that a packet is full after `part` of its
// bits.
Settings of_part(const Settings& settings, double part) {
  return settings.with("packet-bits", part * settings.number("packet-bits"));
}

Amount selected(const Settings& settings, std::size_t elements) {
  const double count = static_cast<double>(typical_count(settings, elements));
  const double step = static_cast<double>(terms_of(settings, elements).step);
  return {count, std::min(count / 2 + 3 * step, static_cast<double>(elements))};
}

// Four passes of a sort, which either sorts or, if `done`, returns at once.
void sort_keys(std::size_t count, bool done, SelectionTraffic& moved) {
  const Amount answer = 2 * sector_bytes, keys = sectors(4 * count),
               table = sectors(1024 * tiles_of(count));
  for (int pass = 0; pass < 4; ++pass) {
    const Amount nothing, finished = sector_bytes;
    const double waits = done ? 0 : digit_waits;
    moved.enqueue("count_digits_kernel", done ? finished : answer + keys, done ? nothing : table, 0,
                  waits);
    moved.enqueue("sum_table_kernel", done ? finished : answer + table, done ? nothing : table, 0,
                  waits);
    moved.enqueue("scatter_digits_kernel", done ? finished : answer + keys + table,
                  done ? nothing : keys, 0, waits);
  }
}

// The walk over `count` sorted keys, 2,048 at a time.
void walk(const Amount& until, std::size_t count, SelectionTraffic& moved) {
  const auto read = [=](double end) {
    const double chunks = 8192 * std::ceil(std::max(end, 1.0) / 2048);
    return std::min(chunks, sectors(4 * count).mean);
  };
  moved.enqueue(
      "walk_kernel",
      3 * sector_bytes + between(read(until.mean - until.spread), read(until.mean + until.spread)),
      4 * sector_bytes, 0, until.mean / 200);  // one thread adds key after key
}

// What cat.cu enqueues if the walk ends within the first 65,536 magnitudes.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  constexpr std::size_t first_top = 65536;
  const Terms terms = terms_of(settings, elements);
  const Amount sent = selected(settings, elements), tensor = sectors(4 * elements),
               until = sent + static_cast<double>(terms.step);
  const bool short_top = elements > first_top;
  SelectionTraffic moved(elements);
  moved.enqueue("memset of the answer", 0, 2 * sector_bytes);
  moved.add_sum_and_count(keeps_residual(settings));
  if (short_top) {
    moved.collect(moved.take_bin_of(first_top));
    moved.cut_list();
    moved.enqueue("top_keys_kernel", sectors(4 * moved.listed) + 2 * sector_bytes,
                  sectors(4 * (first_top - 1)) + 2 * sector_bytes);
    sort_keys(first_top, false, moved);
    walk(until, first_top, moved);
    moved.enqueue("all_keys_kernel", sector_bytes, 0);
    sort_keys(elements, true, moved);
    moved.enqueue("walk_kernel", sector_bytes, 0);
  } else {
    moved.enqueue("all_keys_kernel", tensor + sector_bytes, tensor + sector_bytes);
    sort_keys(elements, false, moved);
    walk(until, elements, moved);
  }
  const Amount states = sectors(8 * tiles_of(elements));
  if (terms.rule == Rule::stochastic) {
    moved.enqueue("memset of the count", 0, sector_bytes);
    moved.begin_look_back();
    moved.enqueue("keep_kernel", tensor + states + 2 * sector_bytes,
                  tensor + states + 2 * sector_bytes + 2 * sectors(4 * sent),
                  listing_slots * static_cast<double>(elements));
    return moved.operations;
  }
  moved.collect(sent);
  moved.begin_look_back();
  moved.write_band(sent);
  moved.enqueue("report_kernel", sector_bytes, sector_bytes);
  if (terms.rule == Rule::sign)
    moved.enqueue("signs_kernel", sector_bytes + 2 * sectors(4 * sent),
                  sectors(1.0 / 8 * sent + 8.0) + scattered(sent, static_cast<double>(elements)));
  return moved.operations;
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const bool signs = settings.word("rule") == "sign";
  const Amount sent = selected(settings, elements);
  return signs ? repeated(sparse_sum(sent, elements, 4 + 1.0 / 8, 1), messages)
               : sparse_sum(sent, elements, 8, messages);
}

const Registered<Compressor> entry{{
    .name = "cat",
    .sentence = "the number of largest elements that improves most per communicated bit",
    .help = {.more = "The cost of sending is that of the simulated network unless cost parameters "
                     "are given.",
             .paper = "Khirirat et al., arXiv 2003.06377"},
    .options =
        {choice("rule", "sends values or signs of the T largest, or a random choice of elements",
                "sparsify", {"sparsify", "sign", "stochastic"}),
         unpriced(choice("cost",
                         "cost of T elements: bits, packets with a fixed cost, whole packets",
                         "packet", {"payload", "affine", "packet"})),
         unpriced(number("packet-cost", "cost of one packet", "576", 1e-9, 1e9)),
         unpriced(number("packet-bits", "payload of one packet in bits", "512", 1, 1e9)),
         unpriced(number("fixed-cost", "cost of one message, whatever its size", "64", 0, 1e12)),
         feedback_option("on")},
    .sparse = true,
    .feedback = keeps_residual,
    .wire_bytes = bytes,
    .promise = promise,
    .reference = {encode_plainly, one_by_one<decode>},
    .cpu = {encode, one_by_one<decode>},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 16.4,
                .published = {80, 9, 1}},
    .network_cost = {.options = {"cost", "packet-cost", "packet-bits", "fixed-cost"},
                     .settings = priced_by_network,
                     .of_part = of_part},
    .read_as = "topk",
}};

}  // namespace
}  // namespace syncline::cat
