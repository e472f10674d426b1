// AdaComp (Chen, Choi, Brand, Agrawal, Zhang, Gopalakrishnan, AAAI 2018, arXiv 1712.02679): in each
// bin of u = g + e, what a second gradient would make as large as the bin's largest magnitude: the
// elements with |u + g| >= max |u|. So each bin and step has a number of its own. Sent are signs of
// u, times one scale: the mean of the bins' largest magnitudes.
//
// The rule is that of HiPress's operator (ada_comp-inl.h in its MXNet), which was read, and agrees
// with the abstract and the first claim of the inventors' patent (US 11295208); the paper was not
// at hand. Remembered of it: bins of 50 for convolutions and 500 for other layers, and a byte or
// two for each value sent. How a message tells bins apart, and that bins of zeros send nothing (by
// the rule they would send every element), is ours. HiPress sends an index of 32 bits and a bit.
#include "kernels/compressors/adacomp.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/arithmetic/values.h"
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

// The sum of a pack's largest magnitudes, in lanes of bins.
double sum_of_tops(const std::vector<std::uint32_t>& tops) {
  double partial[lanes] = {};
  for (std::size_t b = 0; b < tops.size(); ++b)
    partial[b % lanes] += std::bit_cast<float>(tops[b]);
  return in_lane_order(partial);
}

void put_begin(std::size_t begin, const BinMessage& bins, std::size_t pack, Message& message) {
  const auto word = static_cast<std::uint32_t>(begin);
  std::memcpy(message.data() + bins.begins_begin() + 4 * pack, &word, 4);
}

// Where the codes of a pack begin, or those after the last pack.
std::size_t begin_of(const BinMessage& bins, std::size_t pack, MessageBytes message) {
  if (pack == bins.packs())
    return bins.codes_in(message.size());
  std::uint32_t begin = 0;
  std::memcpy(&begin, message.data() + bins.begins_begin() + 4 * pack, 4);
  return begin;
}

// Calls work(element, whether it is negative) for what a pack sends.
template <class Work>
void for_each_sent(const BinMessage& bins, std::size_t pack, MessageBytes message,
                   const Work& work) {
  std::size_t bin = bins.first_of(pack);
  for (std::size_t at = begin_of(bins, pack, message); at < begin_of(bins, pack + 1, message);
       ++at) {
    const BinCode code = bins.get(message.data(), at);
    if (code.place != bins.nothing())
      work(bin + code.place, code.negative);
    bin += code.last ? bins.bin : 0;
  }
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  const BinMessage bins = bin_message(settings, gradient.elements());
  add_plainly(gradient, with_feedback(settings), state);
  Values& u = state.residual;
  std::vector<double> sums;
  std::vector<std::size_t> begins;
  std::vector<BinCode> codes;
  for (std::size_t pack = 0; pack < bins.packs(); ++pack) {
    begins.push_back(codes.size());
    std::vector<std::uint32_t> tops;
    for (std::size_t b = 0; b < bins.bins_of(pack); ++b) {
      const std::size_t begin = bins.first_of(pack) + b * bins.bin;
      const std::size_t count = std::min(bins.bin, u.size() - begin), before = codes.size();
      std::uint32_t top = 0;
      for (std::size_t i = begin; i < begin + count; ++i)
        top = std::max(top, magnitude_key(u[i]));
      tops.push_back(top);
      for (std::size_t i = begin; i < begin + count; ++i)
        if (magnitude_key(u[i] + gradient.at(i)) >= sent_from(top))
          codes.push_back({static_cast<std::uint32_t>(i - begin), u[i] < 0, false});
      if (codes.size() == before)
        codes.push_back({bins.nothing(), false, false});
      codes.back().last = true;
    }
    sums.push_back(sum_of_tops(tops));
  }
  const float scale = mean_of_bins(in_order(sums), bins.bins());
  message.assign(bins.bytes(codes.size()), std::byte{0});
  put_value(scale, Precision::fp32, message.data());
  for (std::size_t pack = 0; pack < bins.packs(); ++pack)
    put_begin(begins[pack], bins, pack, message);
  for (std::size_t at = 0; at < codes.size(); ++at)
    bins.put(codes[at], at, message.data());
  for (std::size_t pack = 0; pack < bins.packs(); ++pack)
    for_each_sent(bins, pack, message, [&](std::size_t i, bool negative) {
      u[i] = left_of_sign(u[i], negative, scale);
    });
}

// Adds the residual of a pack, and lists what it sends; returns the length of the list.
std::size_t list_pack(const BinMessage& bins, const Gradient& gradient, bool feedback,
                      std::size_t pack, float* residual, std::uint32_t* words, double& sum) {
  float scratch[tile_elements];
  const std::size_t first = bins.first_of(pack), elements = bins.elements_of(pack);
  const float* g = gradient.tile(first, elements, scratch);
  float* u = residual + first;
  std::vector<std::uint32_t> tops;
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < elements; begin += bins.bin) {
    const std::size_t end = std::min(begin + bins.bin, elements), before = found;
    std::uint32_t top = 0;
    for (std::size_t i = begin; i < end; ++i) {
      u[i] = feedback ? g[i] + u[i] : g[i];
      top = std::max(top, magnitude_key(u[i]));
    }
    tops.push_back(top);
    for (std::size_t i = begin; i < end; ++i) {
      words[found] = sent_word(i, u[i] < 0, false);
      found += magnitude_key(u[i] + g[i]) >= sent_from(top) ? 1 : 0;
    }
    if (found == before)
      words[found++] = sent_word(begin, false, true);
  }
  sum = sum_of_tops(tops);
  return found;
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const BinMessage bins = bin_message(settings, gradient.elements());
  const std::size_t packs = bins.packs();
  fit(state.residual, gradient.elements());
  float* u = state.residual.data();
  std::uint32_t* words = state.scratch.words(packs * (tile_elements + 1));
  const auto words_of_pack = [&](std::size_t pack) { return words + pack * (tile_elements + 1); };
  std::vector<double> sums(packs);
  std::vector<std::size_t> counts(packs);
  run_in_parallel(packs, [&](std::size_t pack) {
    counts[pack] = list_pack(bins, gradient, with_feedback(settings), pack, u, words_of_pack(pack),
                             sums[pack]);
  });
  const float scale = mean_of_bins(in_order(sums), bins.bins());
  message.resize(bins.bytes(std::accumulate(counts.begin(), counts.end(), std::size_t{0})));
  put_value(scale, Precision::fp32, message.data());
  for (std::size_t pack = 0, begin = 0; pack < packs; begin += counts[pack++])
    put_begin(begin, bins, pack, message);
  run_in_parallel(packs, [&](std::size_t pack) {
    std::uint32_t* const list = words_of_pack(pack);
    const std::size_t begin = begin_of(bins, pack, message);
    list[counts[pack]] = no_word;
    for (std::size_t k = 0; k < counts[pack]; ++k)
      bins.put(code_of(bins, list[k], list[k + 1]), begin + k, message.data());
    for (std::size_t k = 0; k < counts[pack]; ++k)
      if (float& left = u[bins.first_of(pack) + (list[k] >> 2)]; (list[k] & 1u) == 0)
        left = left_of_sign(left, (list[k] & 2u) != 0, scale);
  });
}

// Whether a pack has a code for each of its bins, with places that ascend.
bool good_pack(const BinMessage& bins, std::size_t pack, MessageBytes message) {
  std::size_t begin = 0, next = 0;
  const std::size_t elements = bins.elements_of(pack);
  bool good = true;
  for (std::size_t at = begin_of(bins, pack, message); at < begin_of(bins, pack + 1, message);
       ++at) {
    const BinCode code = bins.get(message.data(), at);
    const bool nothing = code.place == bins.nothing();
    good = good && begin < elements &&
           (nothing ? next == 0 && code.last && !code.negative
                    : code.place >= next && code.place < std::min(bins.bin, elements - begin));
    next = code.last ? 0 : code.place + 1;
    begin += code.last ? bins.bin : 0;
  }
  return good && next == 0 && begin >= elements;
}

void check(const BinMessage& bins, MessageBytes message) {
  const std::size_t packs = bins.packs();
  bool whole = message.size() >= bins.bytes(0) &&
               message.size() == bins.bytes(bins.codes_in(message.size())) &&
               (packs > 0 ? begin_of(bins, 0, message) == 0 : message.size() == bins.bytes(0)) &&
               !(get_float(message.data()) < 0);
  for (std::size_t pack = 0; whole && pack < packs; ++pack)
    whole = begin_of(bins, pack, message) <= begin_of(bins, pack + 1, message);
  std::atomic<bool> good = whole;
  if (whole)
    run_in_parallel(packs, [&](std::size_t pack) {
      if (!good_pack(bins, pack, message))
        good = false;
    });
  if (!good)
    throw CorruptMessage(
        "corrupt adacomp message: allowed are a scale from 0 and, for each bin, ascending places");
}

void add_pack(const BinMessage& bins, std::size_t pack, MessageBytes message,
              std::span<float> sum) {
  const float scale = get_float(message.data());
  for_each_sent(bins, pack, message,
                [&](std::size_t i, bool negative) { sum[i] += negative ? -scale : scale; });
}

template <auto run>
void decode(const Settings& settings, const Messages& messages, Precision, const Draw&,
            std::span<float> sum) {
  const BinMessage bins = bin_message(settings, sum.size());
  for (const MessageBytes message : messages)
    check(bins, message);
  run(bins.packs(), [&](std::size_t pack) {
    for (const MessageBytes message : messages)
      add_pack(bins, pack, message, sum);
  });
}

// Codes of a bin, for normal gradients after some steps, by its elements: means of 400 steps of
// this code (tests/kernels/adacomp_test.cpp repeats some).
double lasting_codes(std::size_t elements) {
  constexpr double means[] = {1, 1.32, 1.83, 2.55, 3.44, 4.4, 5.2, 5.8, 5.95};  // of 1, 2, 4, ...
  const double octave = std::log2(static_cast<double>(std::max<std::size_t>(elements, 1)));
  const auto below = std::min(static_cast<std::size_t>(octave), std::size(means) - 2);
  const double above = std::min(octave - static_cast<double>(below), 1.0);
  return means[below] + above * (means[below + 1] - means[below]);
}

// The same in a first message, where g = u: of those that reach half of the largest. The chance
// that a normal value reaches half of each of the others, times the elements.
double first_codes(std::size_t elements) {
  constexpr double step = 1.0 / 64;
  double chance = 0;
  for (double x = step / 2; x < 8; x += step)
    chance += step * std::sqrt(2 / std::numbers::pi) * std::exp(-x * x / 2) *
              std::pow(std::erf(std::numbers::sqrt2 * x), static_cast<double>(elements) - 1);
  return chance * static_cast<double>(elements);
}

double codes_of_all(const BinMessage& bins, double (*codes_of_bin)(std::size_t)) {
  const std::size_t rest = bins.elements % bins.bin;
  return static_cast<double>(bins.elements / bins.bin) * codes_of_bin(bins.bin) +
         (rest > 0 ? codes_of_bin(rest) : 0);
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision) {
  const BinMessage bins = bin_message(settings, elements);
  return {static_cast<double>(bins.bytes(0)) +
              static_cast<double>(bins.width()) * codes_of_all(bins, lasting_codes),
          false};
}

// From those of a message after some steps to those of a first message.
Amount codes(const BinMessage& bins) {
  const double lasting = codes_of_all(bins, lasting_codes), first = codes_of_all(bins, first_codes);
  return {lasting, std::abs(first - lasting) + 6 * std::sqrt(first) + 3};
}

Amount message_bytes(const BinMessage& bins) {
  return static_cast<double>(bins.bytes(0)) + static_cast<double>(bins.width()) * codes(bins);
}

// What adacomp.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const BinMessage bins = bin_message(settings, elements);
  const std::size_t packs = bins.packs();
  const Amount tensor = sectors(4 * elements), one = sector_bytes,
               message = sectors(message_bytes(bins)),
               touched = scattered(codes(bins), static_cast<double>(elements)),
               each = sectors(8 * packs);  // the look-back's states, and the sums
  // Nobody measured it: for the share of a copy that kernels/gpu/kernels.md expects.
  const double slots = 230 * static_cast<double>(elements);
  StreamOperations all;
  if (packs > 0)  // nobody reads the last state
    all = {
        {"memset of a look-back", 0, sectors(look_back_bytes(packs))},
        {"bin_kernel", (with_feedback(settings) ? 2 : 1) * tensor + sectors(8 * (packs - 1)) + one,
         tensor + message + 2 * each + 2 * one, slots},
        groups_added(packs, 8)};
  else
    all = {{"memset of the number of codes", 0, one}};
  all.push_back({"scale_kernel", sums_of_groups(packs, 8), one});
  if (packs > 0)
    all.push_back({"settle_kernel", message + touched + one, touched});
  return all;
}

// One message touches the places that it names; several are added to each pack in shared memory,
// after waits for its begin, its codes and the barriers between.
StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const BinMessage bins = bin_message(settings, elements);
  if (elements == 0)
    return {};
  const double many = static_cast<double>(messages);
  const Amount sum =
      messages > 1 ? sectors(4 * elements) : scattered(codes(bins), static_cast<double>(elements));
  return {{"add_kernel", many * sectors(message_bytes(bins)) + sum, sum, 0, 3 * (many - 1)}};
}

const Registered<Compressor> entry{{
    .name = "adacomp",
    .sentence = "of each bin, the signs of what is near its largest, with error feedback",
    .help = {.more = "Each bin sends as many values as come near its largest magnitude: about five "
                     "of 50, in a byte each (bins from 64 on: two bytes), so there is no density.",
             .paper = "AdaComp: Chen et al., AAAI 2018, arXiv 1712.02679"},
    .options = {whole_number(bin_name,
                             "elements of a bin (remembered of the paper: 50 for convolutions, "
                             "500 for other layers)",
                             "50", 8, tile_elements),
                feedback_option("on")},
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .reference = {encode_plainly, decode<run_in_order>},
    .cpu = {encode, decode<run_in_parallel>},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 12.1,
                .published = {24, 7, 2}},
}};

}  // namespace
}  // namespace syncline
