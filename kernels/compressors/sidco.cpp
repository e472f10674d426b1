// SIDCo (Abdelmoniem, Elzanaty, Alouini, Canini, MLSys 2021; settings as in the authors' code,
// github.com/sands-lab/SIDCo): fits a sparsity-inducing distribution to |u| and takes its quantile
// as threshold. One fit is poor far out in the tail, so later fits use only what exceeded the
// threshold before: the first stage keeps a quarter, and the others share the remaining reduction
// equally. Every five encodings the number of stages grows by one if the number sent was more than
// 20 % too small, and falls by one if it was more than 20 % too large.
//
// r is the share to keep, m and v the mean and variance of |u|. Exponential fit: t = -m ln r.
// Generalised Pareto, by moments: shape a = (1 - m^2/v) / 2, scale b = m (m^2/v + 1) / 2, t = b/a
// (r^-a - 1). Gamma, by the mean and the mean logarithm, which needs one more pass: only for the
// first stage, as in the authors' code, with Pareto after it. The paper first divides by the
// 2-norm; these rules select the same elements without that.
#include "kernels/compressors/sidco.h"

#include <bit>
#include <numbers>

#include "kernels/cpu/sparse.h"

namespace syncline {
namespace {

struct ExceedanceLanes {
  float absolute[lanes] = {}, squares[lanes] = {};
  std::uint32_t count[lanes] = {}, least[lanes] = {};
};

Exceedances total_of(const ExceedanceLanes& partial) {
  Exceedances total;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    total = total + Exceedances{static_cast<double>(partial.count[lane]), partial.absolute[lane],
                                partial.squares[lane], partial.least[lane]};
  return total;
}

// `least` holds no_key - key, so that zero means none.
void count_in(float u, std::uint32_t from, std::size_t lane, ExceedanceLanes& partial) {
  const std::uint32_t key = magnitude_key(u);
  const bool reached = key >= from;
  partial.count[lane] += reached ? 1u : 0u;
  partial.absolute[lane] += reached ? absolute_value(u) : 0.0f;
  partial.squares[lane] += reached ? u * u : 0.0f;
  partial.least[lane] = std::max(partial.least[lane], reached ? no_key - key : 0u);
}

Exceedances tile_plainly(const float* u, std::size_t count, std::uint32_t from) {
  ExceedanceLanes partial;
  for (std::size_t i = 0; i < count; ++i)
    count_in(u[i], from, i % lanes, partial);
  return total_of(partial);
}

Exceedances tile_exceedances(const float* u, std::size_t count, std::uint32_t from) {
  ExceedanceLanes partial;
  const std::size_t whole = count - count % lanes;
  for (std::size_t half = 0; half < lanes; half += lane_width) {
    Floats absolute = {}, squares = {};
    Words counts = {}, least = {};
    const Words none = {};
    const Floats zero = {};
    for (std::size_t i = half; i < whole; i += lanes) {
      const Floats values = load(u + i);
      const Words keys = keys_of(values);
      const Masks reached = keys >= from;
      absolute += reached ? floats_of(keys) : zero;
      squares += reached ? values * values : zero;
      counts -= reached ? none - 1u : none;
      const Words distance = reached ? no_key - keys : none;
      least = distance > least ? distance : least;
    }
    store(absolute, partial.absolute + half);
    store(squares, partial.squares + half);
    std::memcpy(partial.count + half, &counts, sizeof counts);
    std::memcpy(partial.least + half, &least, sizeof least);
  }
  for (std::size_t i = whole; i < count; ++i)
    count_in(u[i], from, i - whole, partial);
  return total_of(partial);
}

// The sum of the gamma fit's logarithms over a tile, in the order of moments.h, in double.
double tile_logarithms(const float* u, std::size_t count, double mean) {
  double partial[lanes] = {};
  for (std::size_t i = 0; i < count; ++i)
    partial[i % lanes] += fit_logarithm(u[i], mean);
  return in_lane_order(partial);
}

// Runs all stages; `exceedances(key)` and `logarithms(mean)` read the whole tensor.
template <class Look, class Logarithms>
std::uint32_t threshold_key(const Sidco& sidco, int stages, const Look& exceedances,
                            const Logarithms& logarithms) {
  if (sidco.single)
    stages = 1;
  std::uint32_t key = 0;
  for (int stage = 0; stage < stages && key != no_key; ++stage) {
    const Exceedances e = exceedances(key);
    const double logs =
        stage == 0 && sidco.fit == Fit::gamma ? logarithms(e.absolute / e.count) : 0.0;
    key = stage_key(sidco, stage, stages, e, logs);
  }
  return key;
}

std::vector<std::uint32_t> choose(const Settings& settings, const Draw&, State& state) {
  const Sidco sidco = sidco_of(settings);
  SidcoMemory& memory = sidco_memory_of(state, sidco);
  const Values& u = state.residual;
  const std::size_t k = wanted(density_of(settings), u.size());
  if (k == 0)
    return {};
  const std::uint32_t key = threshold_key(
      sidco, memory.stages,
      [&](std::uint32_t from) {
        return sum_plainly(u.size(), [&](std::size_t begin, std::size_t count) {
          return tile_plainly(u.data() + begin, count, from);
        });
      },
      [&](double mean) {
        return sum_plainly(u.size(), [&](std::size_t begin, std::size_t count) {
          return tile_logarithms(u.data() + begin, count, mean);
        });
      });
  const std::vector<std::uint32_t> chosen =
      indices_where(u.size(), [&](std::size_t i) { return magnitude_key(u[i]) >= key; });
  memory = adapted(sidco, memory, chosen.size(), k);
  return chosen;
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw&, State& state) {
  const std::size_t n = gradient.elements(), k = wanted(density_of(settings), n);
  const bool feedback = with_feedback(settings);
  fit(state.residual, n);
  const Sidco sidco = sidco_of(settings);
  SidcoMemory& memory = sidco_memory_of(state, sidco);
  const float* u = state.residual.data();
  Picks picks = room_for_picks(n, state.scratch);
  std::vector<Exceedances> tiles(tiles_of(n));
  const auto look = [&](std::uint32_t from) {
    const auto look_at = [&](std::size_t t, std::size_t begin, std::size_t count) {
      tiles[t] = tile_exceedances(u + begin, count, from);
    };
    if (from == 0)  // the first stage adds the residual in the same pass
      add_then(gradient, feedback, state, look_at);
    else
      for_each_tile(n, look_at);
    return in_order(tiles);
  };
  const auto logarithms = [&](double mean) {
    return sum_in_parallel(n, [&](std::size_t begin, std::size_t count) {
      return tile_logarithms(u + begin, count, mean);
    });
  };
  if (k == 0)
    look(0);
  if (k > 0) {
    collect(state.residual, threshold_key(sidco, memory.stages, look, logarithms), picks);
    memory = adapted(sidco, memory, picks.total(), k);
  }
  return picks;
}

// For a normal gradient: how many elements reach the threshold of the last stage.
Amount selected(const Settings& settings, std::size_t elements) {
  const Sidco sidco = sidco_of(settings);
  if (wanted(density_of(settings), elements) == 0)
    return 0;
  const double n = static_cast<double>(elements), mean = std::sqrt(2 / std::numbers::pi);
  // E[log |x|] = -(Euler's constant + log 2) / 2
  const double logs = n * (-0.6351814227 - std::log(mean));
  const int stages = sidco.single ? 1 : sidco.first_stages;
  std::uint32_t key = 0;
  for (int stage = 0; stage < stages && key != no_key; ++stage) {
    const double t = std::bit_cast<float>(key), count = reaching(t, elements).mean;
    const double tail = 2 * n * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    key = stage_key(sidco, stage, stages, {count, tail, count + t * tail, no_key - key}, logs);
  }
  const double count = key == no_key ? 0 : reaching(std::bit_cast<float>(key), elements).mean;
  return {count, count / 5 + 6 * std::sqrt(count) + 3};
}

// What sidco.cu enqueues, for the number of stages that a tensor starts with.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const std::size_t k = wanted(density_of(settings), elements);
  const Sidco sidco = sidco_of(settings);
  const Amount tensor = sectors(4 * elements);
  const std::size_t tiles = tiles_of(elements);
  const Amount memory = sidco.single ? 0.0 : sector_bytes;  // the number of stages
  constexpr std::size_t exceedances = sizeof(Exceedances);
  SelectionTraffic moved(elements);
  moved.add_and_sum(with_feedback(settings));
  if (k == 0)
    moved.set_low_key();
  if (k > 0 && sidco.fit == Fit::gamma) {
    moved.enqueue("logarithm_kernel", tensor + 2 * sector_bytes, sectors(8 * tiles));
    moved.operations.push_back(groups_added(tiles, 8));
  }
  if (k > 0)
    moved.enqueue(
        "first_stage_kernel",
        2 * sector_bytes + memory + (sidco.fit == Fit::gamma ? sums_of_groups(tiles, 8) : Amount()),
        sector_bytes);
  const int most = std::max(sidco.first_stages, sidco.most_stages);
  for (int stage = 1; k > 0 && !sidco.single && stage < most; ++stage) {
    const bool there = stage < sidco.first_stages;
    moved.enqueue("exceedance_kernel", there ? tensor + sector_bytes + memory : memory,
                  there ? sectors(exceedances * tiles) : Amount());
    moved.operations.push_back(groups_added(tiles, exceedances));
    moved.enqueue("stage_kernel",
                  there ? sums_of_groups(tiles, exceedances) + sector_bytes + memory : memory,
                  there ? sector_bytes : 0.0);
  }
  moved.collect(selected(settings, elements));
  moved.write_list();
  if (k > 0)
    moved.enqueue("adapt_kernel", 2 * sector_bytes, sector_bytes);
  return moved.operations;
}

const Registered<Compressor> entry{sparsifier<choose, pick, selected>({
    .name = "sidco",
    .sentence = "about density x n elements, above a threshold fitted in stages",
    .help = {.more = "Each stage fits a distribution to the values above the last threshold, so no "
                     "value is ever sorted.",
             .paper = "Abdelmoniem et al., MLSys 2021"},
    .options = {density_option(),
                choice("fit", "distribution of the magnitudes", "exponential",
                       {"exponential", "pareto", "gamma"}),
                whole_number("stages", "number of fits at the first step; it adapts from there",
                             "3", 1, 20),
                feedback_option("on")},
    .wire_bytes = bytes_near_density<5>,
    .promise = promise_at_density,
    .traffic = {.encode = encode_traffic, .floor = 16.4, .published = {80, 10, 4}},
})};

}  // namespace
}  // namespace syncline
