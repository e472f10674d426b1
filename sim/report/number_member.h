// Numbers that are members of a value, so that a row can say where its number is; and the numbers
// that a result may have, because programs that read a result print them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

namespace syncline {

template <class Value>
using NumberMember = std::variant<double Value::*, std::optional<double> Value::*, int Value::*,
                                  std::int64_t Value::*, std::uint64_t Value::*>;

// The number of a member; none if it is absent or not finite.
template <class Value>
std::optional<double> number_in(const Value& value, const NumberMember<Value>& member) {
  const auto number =
      std::visit([&](auto pointer) { return std::optional<double>(value.*pointer); }, member);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

template <class Value>
void put_number(Value& value, const NumberMember<Value>& member, std::optional<double> number) {
  std::visit(
      [&](auto pointer) {
        auto& place = value.*pointer;
        using Number = std::remove_reference_t<decltype(place)>;
        if constexpr (std::is_same_v<Number, std::optional<double>>)
          place = number;
        else
          place = static_cast<Number>(number.value_or(std::nan("")));
      },
      member);
}

// Whether the number is written without a point.
template <class Value>
bool is_whole(const NumberMember<Value>& member) {
  return member.index() > 1;
}

// `null`: the number may be absent or not finite.
struct AllowedNumbers {
  double least = 0;
  double most = 1e18;  // so that each can be printed as a count
  bool null = false;

  constexpr AllowedNumbers or_null() const { return {least, most, true}; }
};

// A number among the members of a value.
template <class Value>
struct NamedNumber {
  const char* name;  // in JSON
  AllowedNumbers allowed;
  NumberMember<Value> member;
};

inline constexpr AllowedNumbers any_count{};
inline constexpr AllowedNumbers any_printable{.least = -1e18};
inline constexpr AllowedNumbers any_share{.most = 1};
inline constexpr AllowedNumbers any_amount{.most = std::numeric_limits<double>::max()};
inline constexpr AllowedNumbers any_loss{.least = std::numeric_limits<double>::lowest(),
                                         .most = std::numeric_limits<double>::max(),
                                         .null = true};

}  // namespace syncline
