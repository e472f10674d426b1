// Measures on the CPU: every answer is compared with the reference, then timed with cold caches,
// encode and decode separately, next to what a user would run without this project.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <unistd.h>

#include "kernels/arithmetic/keys.h"
#include "kernels/calibrate/growing_table.h"
#include "kernels/cpu/tiles.h"

namespace syncline {
namespace {

// Bytes written to empty the caches: more than a core's own caches hold, but not more than the
// third level. On a shared host that belongs to others, too, and writing three times its 480 MB
// before every sample would take longer than all measurements.
constexpr std::size_t eviction_bytes = std::size_t{64} << 20;

void evict() {
  static std::vector<unsigned char> room(eviction_bytes);
  static unsigned char value = 0;
  ++value;
  run_in_parallel(16, [](std::size_t part) {
    std::memset(room.data() + part * eviction_bytes / 16, value, eviction_bytes / 16);
  });
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void check(const Cell& cell, std::span<const float> gradient, const State& start) {
  State plain = start, fast = start;
  Message expected, got;
  const Draw draw{1, 20, 0};
  cell.compressor->reference.encode(cell.settings, gradient, draw, plain, expected);
  cell.compressor->cpu.encode(cell.settings, gradient, draw, fast, got);
  std::vector<float> a(gradient.size()), b(gradient.size());
  cell.compressor->reference.decode(cell.settings, expected, Precision::fp32, draw, a);
  cell.compressor->cpu.decode(cell.settings, got, Precision::fp32, draw, b);
  if (expected != got || std::memcmp(a.data(), b.data(), 4 * a.size()) != 0)
    throw std::runtime_error(
        cell.compressor->name + " (" + written_settings(*cell.compressor, cell.settings) + ") at " +
        std::to_string(gradient.size()) + " elements differs from its reference: not measured");
}

// Times `work`, each time after `prepare` and with cold caches, until the spread is small or the
// patience ends.
Timing timed(const std::function<void()>& prepare, const std::function<void()>& work) {
  return timed_samples(
      [&] {
        prepare();
        evict();
        const Clock::time_point start = Clock::now();
        work();
        return seconds_since(start);
      },
      0.6, 0.1);
}

// Messages of this gradient rotated by different amounts: alike, but with other places.
std::vector<Message> other_messages(const Cell& cell, const Values& gradient, const State& start,
                                    std::size_t count) {
  std::vector<Message> messages(count);
  for (std::size_t m = 0; m < count; ++m) {
    Values begun_at = gradient;
    std::rotate(begun_at.begin(),
                begun_at.begin() + static_cast<std::ptrdiff_t>(m * gradient.size() / count),
                begun_at.end());
    State state = start;
    cell.compressor->cpu.encode(cell.settings, std::span<const float>(begun_at), Draw{1, 20, 0},
                                state, messages[m]);
  }
  return messages;
}

void measure(const Cell& cell, const std::string& distribution, std::size_t elements,
             GrowingTable& table) {
  const Compressor& compressor = *cell.compressor;
  const Values gradient = gradient_of(distribution, elements, 1);
  const State start = starting_state(cell, distribution, elements);
  check(cell, gradient, start);
  State state = start;
  Message message;
  const Draw draw{1, 20, 0};
  const auto encode = [&] {
    compressor.cpu.encode(cell.settings, std::span<const float>(gradient), draw, state, message);
  };
  encode();  // sizes the buffers
  const Timing encoding = timed([&] { state = start; }, encode);
  const double bytes = static_cast<double>(message.size()), n = static_cast<double>(elements);
  const std::string settings = written_settings(compressor, cell.settings);
  table.add(compressor.name, settings, "encode", elements, n * compressor.traffic.floor, bytes,
            distribution, encoding);
  Values sum(elements);
  const auto time_of = [&](const Messages& messages) {
    return timed(
        [] {}, [&] { compressor.cpu.decode(cell.settings, messages, Precision::fp32, draw, sum); });
  };
  const Timing decoding = time_of(message);
  const bool scattered = compressor.sparse || compressor.shared_draw;
  table.add(compressor.name, settings, "decode", elements, scattered ? 3 * bytes : 8 * n + bytes,
            bytes, distribution, decoding);
  const std::vector<Message> others = other_messages(cell, gradient, start, messages_of_slope);
  table.add(
      compressor.name, settings, further_operation, elements, scattered ? 3 * bytes : bytes, bytes,
      distribution,
      further_message(decoding,
                      time_of(Messages(std::vector<MessageBytes>(others.begin(), others.end())))));
}

Timing timed_copy(const Values& from, Values& to) {
  const std::size_t parts = static_cast<std::size_t>(threads());
  return timed([] {},
               [&] {
                 run_in_parallel(parts, [&](std::size_t part) {
                   const std::size_t begin = from.size() * part / parts;
                   const std::size_t end = from.size() * (part + 1) / parts;
                   std::memcpy(to.data() + begin, from.data() + begin, 4 * (end - begin));
                 });
               });
}

// Measures what a user would run without this project: a copy, and the k largest by the standard
// library.
void measure_baselines(std::size_t elements, const std::string& density, GrowingTable& table) {
  const Values g = gradient_of("gauss", elements, 1);
  Values copy(elements);
  const double n = static_cast<double>(elements);
  table.add("baseline-memcpy", "", "encode", elements, 8 * n, 4 * n, "gauss", timed_copy(g, copy));
  const std::size_t k = wanted(std::stod(density), elements);
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    return magnitude_key(g[a]) > magnitude_key(g[b]);
  };
  std::vector<std::uint32_t> order(elements);
  const auto in_order = [&] { std::iota(order.begin(), order.end(), 0u); };
  const auto add = [&](const char* name, const std::function<void()>& work) {
    table.add(name, "density=" + density, "encode", elements, 8 * n, 8 * static_cast<double>(k),
              "gauss", timed(in_order, work));
  };
  add("baseline-nth-element", [&] {
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                     larger);
  });
  add("baseline-sort", [&] { std::sort(order.begin(), order.end(), larger); });
}

std::vector<CostRow::Key> baseline_rows(std::size_t elements, const std::string& density) {
  const double n = static_cast<double>(elements);
  return {{"baseline-memcpy", "", "encode", n, "gauss"},
          {"baseline-nth-element", "density=" + density, "encode", n, "gauss"},
          {"baseline-sort", "density=" + density, "encode", n, "gauss"}};
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(": ") + 2);
  return "unknown processor";
}

// A machine that swaps would measure its disk, or kill the program.
void require_memory_for(std::size_t elements) {
  // Gradient, sums, message and the sort's copies (measured), and messages as long as the gradient.
  constexpr double bytes_per_element = 40 + 4 * messages_of_slope;
  const double bytes = bytes_per_element * static_cast<double>(elements);
  const double allowed_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 2;
  if (bytes <= allowed_bytes)
    return;
  char text[160];
  std::snprintf(text, sizeof text,
                "--sizes %zu: measuring takes about %.3g GB of memory: at most %.3g GB are "
                "allowed, half of this machine's",
                elements, bytes / 1e9, allowed_bytes / 1e9);
  throw std::invalid_argument(text);
}

}  // namespace

State starting_state(const Cell& cell, const std::string& distribution, std::size_t elements) {
  State state;
  Message message;
  const int steps = distribution == "steady" ? 10 : 1;
  const Values gradient = gradient_of(distribution, elements, 100);
  for (int step = 0; step < steps; ++step)
    cell.compressor->cpu.encode(cell.settings, std::span<const float>(gradient),
                                {1, static_cast<std::uint32_t>(step), 0}, state, message);
  settle(state);
  if (distribution != "steady")
    std::fill(state.residual.begin(), state.residual.end(), 0.0f);
  return state;
}

std::vector<CostRow::Key> rows_of(const Cell& cell, std::size_t elements,
                                  const std::string& distribution) {
  const std::string &name = cell.compressor->name,
                    settings = written_settings(*cell.compressor, cell.settings);
  const double n = static_cast<double>(elements);
  return {{name, settings, "encode", n, distribution},
          {name, settings, "decode", n, distribution},
          {name, settings, further_operation, n, distribution}};
}

double further_s(double one_s, double many_s) {
  return std::max((many_s - one_s) / (messages_of_slope - 1), 1e-9);
}

Timing further_message(const Timing& one, const Timing& many) {
  const auto each = [&](double many_s) { return further_s(one.median, many_s); };
  return {each(many.median), each(many.p10), each(many.p90), one.quiet && many.quiet};
}

Timing timed_samples(const std::function<double()>& sample, double patience_seconds,
                     double small_spread) {
  constexpr std::size_t fewest = 7, most = 31;
  std::vector<double> samples;
  Timing timing;
  const Clock::time_point begun = Clock::now();
  while (samples.size() < most) {
    samples.push_back(sample());
    const bool impatient = seconds_since(begun) > patience_seconds;
    if (samples.size() < (impatient ? 3 : fewest))
      continue;
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    timing = {quantile(sorted, 0.5), quantile(sorted, 0.1), quantile(sorted, 0.9), false};
    timing.quiet = quantile(sorted, 0.75) - quantile(sorted, 0.25) < small_spread * timing.median;
    if (timing.quiet || impatient)
      break;
  }
  return timing;
}

int measure_on_cpu(const CalibrateOptions& options) {
  const std::size_t largest = *std::max_element(options.sizes.begin(), options.sizes.end());
  require_memory_for(largest);
  if (options.threads > 0)
    use_threads(options.threads);
  GrowingTable table(options,
                     {{"device", processor() + ", " + std::to_string(threads()) + " threads"},
                      {"driver", "none (CPU)"},
                      {"toolkit", std::string("g++ or clang, ") + __VERSION__}});
  const std::size_t copied = std::max(largest, std::size_t{1} << 22);
  Values from(copied, 1.0f), to(copied);
  const double seconds = timed_copy(from, to).median;
  std::vector<Measurement> all;
  for (const std::size_t elements : options.sizes) {
    for (const Cell& cell : cells_of(options))
      for (const std::string& distribution : options.distributions)
        all.push_back({cell.compressor->name, distribution, elements,
                       rows_of(cell, elements, distribution),
                       [=, &table] { measure(cell, distribution, elements, table); }});
    if (options.baselines)
      all.push_back({"baselines", "gauss", elements,
                     baseline_rows(elements, options.densities.back()), [=, &table, &options] {
                       measure_baselines(elements, options.densities.back(), table);
                     }});
  }
  return table.measure(all, {.copy_bandwidth = 8 * static_cast<double>(copied) / seconds,
                             .cold_cache = "64 MiB written",
                             .small_spread = "10 %"});
}

}  // namespace syncline
