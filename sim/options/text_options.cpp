#include "sim/options/text_options.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/io/text.h"

namespace syncline {
namespace {

void set_fusion(const OwnOption& parameter, const std::string& text, Fusion& fusion) {
  fusion.kind = text == "all"      ? Fusion::Kind::all
                : text == "merged" ? Fusion::Kind::merged
                                   : Fusion::Kind::bytes;
  if (fusion.kind != Fusion::Kind::bytes)
    return;
  try {
    fusion.bytes = checked_number(parameter, text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(error.what()) + ", all or merged");
  }
}

}  // namespace

Option fusion(Option option) {
  const OwnOption bytes = number(option.name, "", "", 0, 1e15);
  option.set = [=](Scenario& s, const std::string& text) { set_fusion(bytes, text, s.fusion); };
  option.number = true;
  option.allowed = allowed_values(bytes) + ", all or merged";
  return selecting(option);
}

Option optimizer(Option option) {
  static const std::vector<TimedOptimizer> known{{},
                                                 {.name = "sgd", .values = 3},
                                                 {.name = "momentum", .values = 5},
                                                 {.name = "adam", .values = 7, .adapts = true}};
  OwnOption names{.name = option.name};
  for (const TimedOptimizer& one : known)
    names.choices.push_back(one.name);
  option.set = [=](Scenario& s, const std::string& text) {
    s.optimizer = *std::ranges::find(known, checked_word(names, text), &TimedOptimizer::name);
  };
  option.allowed = allowed_values(names);
  return selecting(option);
}

Option precision(Option option) {
  OwnOption names{.name = option.name};
  for (const Arithmetic arithmetic : every_arithmetic)
    names.choices.push_back(name_of(arithmetic));
  option.set = [=](Scenario& s, const std::string& text) {
    const std::string& name = checked_word(names, text);
    s.arithmetic = *std::ranges::find_if(every_arithmetic,
                                         [&](Arithmetic one) { return name_of(one) == name; });
    s.precision = kept_in(s.arithmetic);
  };
  option.allowed = allowed_values(names);
  return option;
}

Option worker_hosts(Option option) {
  option.set = [=](Scenario& s, const std::string& text) {
    s.worker_hosts = text.empty() ? std::vector<std::string>() : split(text, ';');
    if (std::ranges::count(s.worker_hosts, std::string()) > 0)
      throw std::invalid_argument(option.name + " = " + brief(text) +
                                  ": allowed are names of hosts with ; between them");
  };
  return option;
}

Option device(Option option) {
  option.set = [](Scenario& s, const std::string& text) {
    s.free_compression = text == "none";
    s.device = s.free_compression ? "" : text;
  };
  return option;
}

Option price(Option option) {
  OwnOption values = numbers(tiny, 1e9, "devices");
  values.name = option.name;
  option.set = [=](Scenario& s, const std::string& text) {
    read(values, text, s.price);
    s.price_of_devices = !s.price;
  };
  option.number = true;
  option.allowed = allowed_values(values);
  return option;
}

Option of_links(Option option, const OwnOption& numbers, std::optional<double> Scenario::*every,
                std::vector<LinkFactor> Scenario::*some) {
  OwnOption factor = numbers;
  factor.name = option.name;
  option.set = [=](Scenario& s, const std::string& text) {
    (s.*every).reset();
    (s.*some).clear();
    for (const std::string& part : split(text, ';')) {
      const std::size_t colon = part.rfind(':');
      const double value = checked_number(
          factor, colon == std::string::npos ? part : trimmed(part.substr(colon + 1)));
      const std::string pattern = trimmed(part.substr(0, colon));
      const auto stands_twice = [&](const LinkFactor& other) { return other.pattern == pattern; };
      if (colon == std::string::npos
              ? (s.*every).has_value()
              : pattern.empty() || std::ranges::any_of(s.*some, stands_twice))
        throw std::invalid_argument(option.name + " = " + brief(text) +
                                    ": allowed are one number and, with ; between, "
                                    "PATTERN:NUMBER with different patterns");
      if (colon == std::string::npos)
        s.*every = value;
      else
        (s.*some).push_back({pattern, value});
    }
  };
  option.number = true;
  option.allowed =
      allowed_values(factor) + ", PATTERN:NUMBER for links whose names match, or several with ;";
  return option;
}

}  // namespace syncline
