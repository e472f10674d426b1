// The verbs of a trace's rows and of an exchange's phases. Files use their names.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace syncline {

enum class Verb : std::uint8_t {
  accumulate,
  all_gather,
  all_gather_across,
  all_reduce,
  all_to_all,
  apply,
  apply_part,
  ask,
  backward,
  balance,
  broadcast,
  compress,
  decompress,
  doubling,
  drop,
  drop_part,
  exposed,  // in a timeline: a worker stands still while its own bytes move
  fold,
  forward,
  halve,
  hand_over,
  handle,
  launch,
  mix,
  parameters,
  pull,
  push,
  read,
  receive,
  reduce,
  reduce_scatter,
  reply,
  report,
  several,  // in a timeline: more than one verb, or an unknown one
  split,
  step,
  sum,
  take,
  tree,
  unfold,
  update,
  wait,
};

// By verb.
inline constexpr std::array<std::string_view, 42> verb_names{"accumulate",
                                                             "all-gather",
                                                             "all-gather-across",
                                                             "all-reduce",
                                                             "all-to-all",
                                                             "apply",
                                                             "apply-part",
                                                             "ask",
                                                             "backward",
                                                             "balance",
                                                             "broadcast",
                                                             "compress",
                                                             "decompress",
                                                             "double",
                                                             "drop",
                                                             "drop-part",
                                                             "exposed",
                                                             "fold",
                                                             "forward",
                                                             "halve",
                                                             "hand-over",
                                                             "handle",
                                                             "launch",
                                                             "mix",
                                                             "parameters",
                                                             "pull",
                                                             "push",
                                                             "read",
                                                             "receive",
                                                             "reduce",
                                                             "reduce-scatter",
                                                             "reply",
                                                             "report",
                                                             "several",
                                                             "split",
                                                             "step",
                                                             "sum",
                                                             "take",
                                                             "tree",
                                                             "unfold",
                                                             "update",
                                                             "wait"};
static_assert(verb_names[static_cast<std::size_t>(Verb::wait)] == "wait" &&
              std::ranges::is_sorted(verb_names));  // none is missing or misplaced

constexpr std::string_view name_of(Verb verb) {
  return verb_names[static_cast<std::size_t>(verb)];
}

constexpr std::optional<Verb> verb_of(std::string_view name) {
  const auto found = std::ranges::find(verb_names, name);
  if (found == verb_names.end())
    return std::nullopt;
  return static_cast<Verb>(found - verb_names.begin());
}

constexpr bool is_compression(Verb verb) {
  return verb == Verb::compress || verb == Verb::decompress;
}

}  // namespace syncline
