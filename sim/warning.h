// The warnings of a result.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace syncline {

// The kinds that the program asks for.
enum class WarningKind : std::uint8_t { other, unsteady, too_large, doubted_flows };

// The beginning of a warning's text. A result's file has only the text; the kind is read from its
// beginning.
inline std::string beginning_of(WarningKind kind) {
  switch (kind) {
    case WarningKind::unsteady:
      return "not steady: ";
    case WarningKind::too_large:
      return "does not fit into memory: ";
    case WarningKind::doubted_flows:
      return "fidelity = flow: several partitions of a bucket are pushed as one, with which asp "
             "and "
             "ssp were up to 7 % too fast; fidelity = step pushes each";
    case WarningKind::other:
      break;
  }
  return "";
}

struct Warning {
  std::string text;
  WarningKind kind = WarningKind::other;

  Warning() = default;
  Warning(std::string sentence) : text(std::move(sentence)) {}
  explicit Warning(WarningKind of, const std::string& rest = "")
      : text(beginning_of(of) + rest), kind(of) {}

  bool operator==(const Warning&) const = default;
};

inline Warning warning_read(const std::string& text) {
  Warning warning(text);
  for (const WarningKind kind :
       {WarningKind::unsteady, WarningKind::too_large, WarningKind::doubted_flows})
    if (text.starts_with(beginning_of(kind)))
      warning.kind = kind;
  return warning;
}

}  // namespace syncline
