#include "sim/report/learning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "sim/report/allowed.h"
#include "sim/report/learned_tables.h"
#include "sim/report/result.h"
#include "sim/report/shown.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double number) {
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}
Json number_or_null(const std::optional<double>& number) {
  return number ? number_or_null(*number) : Json(nullptr);
}

std::string percent(double part) {
  return format("%.1f %%", 100 * part);
}

AllowedNumbers allowed_in(const std::string& name) {
  constexpr std::array<const char*, 8> never_null{
      "parameters", "epoch_samples", "messages",          "effective_staleness",
      "values",     "sent_values",   "least_sent_values", "most_sent_values"};
  if (name == "loss" || name == "least_loss")
    return any_loss;
  if (name == "accuracy")
    return any_share.or_null();
  return std::ranges::find(never_null, name) == never_null.end() ? any_count.or_null() : any_count;
}

double last_of(const std::vector<double>& column) {
  return column.empty() ? 0 : column.back();
}

}  // namespace

const std::vector<std::string> learned_figures{"loss", "accuracy", "target_s"};

Json to_json(const Learned& learned) {
  const Compressed& compressed = learned.compressed;
  Json json{{"data", learned.data},
            {"parameters", learned.parameters},
            {"epoch_samples", learned.epoch_samples},
            {"least_loss", number_or_null(learned.least_loss)},
            {"diverged_s", number_or_null(learned.diverged_s)},
            {"effective_staleness", learned.effective_staleness},
            {"messages", compressed.messages},
            {"values", compressed.values},
            {"sent_values", compressed.sent_values},
            {"least_sent_values", compressed.least_sent_values},
            {"most_sent_values", compressed.most_sent_values},
            {"target_values", number_or_null(compressed.target_values)},
            {"left_out", number_or_null(compressed.left_out)},
            {"left_out_bound", number_or_null(compressed.left_out_bound)},
            {"left_out_bound_squared", number_or_null(compressed.left_out_bound_squared)},
            {"bits_per_value", number_or_null(compressed.bits_per_value)},
            {"bits_bound", number_or_null(compressed.bits_bound)}};
  for (const std::string& table : learned_tables)
    json[table] = learned_table(table, learned);
  return json;
}

Json figures_of(const Learned& learned) {
  Json figures{{"loss", nullptr}, {"accuracy", nullptr}, {"target_s", nullptr}};
  if (learned.diverged_s || learned.curve.empty())
    return figures;
  figures["loss"] = number_or_null(learned.curve.back().loss);
  figures["accuracy"] = number_or_null(learned.curve.back().accuracy);
  figures["target_s"] = number_or_null(learned.target_s);
  return figures;
}

bool is_learning_whole(const Json& result) {
  const Json& figures = result["figures"];
  const auto learning = result.find("learning");
  if (learning == result.end())
    return std::ranges::none_of(learned_figures,
                                [&](const auto& f) { return figures.contains(f); });
  for (const std::string& name : learned_figures) {
    const auto found = figures.find(name);
    if (found == figures.end() || !allowed_in(name).has(*found))
      return false;
  }
  static const Json like = to_json(Learned{});
  if (!learning->is_object() || learning->size() != like.size())
    return false;
  for (const auto& [name, value] : like.items()) {
    const auto found = learning->find(name);
    if (found == learning->end())
      return false;
    const bool is_table = std::ranges::find(learned_tables, name) != learned_tables.end();
    if (is_table         ? !is_learned_table(name, *found)
        : name == "data" ? !found->is_string()
                         : !allowed_in(name).has(*found))
      return false;
  }
  return true;
}

bool learns(const Json& result) {
  return result.contains("learning");
}

bool diverged(const Json& result) {
  return learns(result) && !result["learning"]["diverged_s"].is_null();
}

std::optional<double> figure_in(const Json& result, const std::string& name) {
  const auto found = result["figures"].find(name);
  if (found == result["figures"].end() || !found->is_number())
    return {};
  return found->get<double>();
}

std::string why_unknown(const Json& result, const std::string& name) {
  if (std::ranges::find(learned_figures, name) == learned_figures.end())
    return "unknown";
  if (!learns(result))
    return "unknown: the cell learns nothing";
  if (diverged(result))
    return "unknown: it diverged at " + seconds_shown(result["learning"]["diverged_s"]);
  if (name != "target_s")
    return "unknown: it is no number";
  const auto target = target_in(result);
  return target ? target->shown + " was missed" : "unknown: the option until asks for nothing";
}

std::vector<double> curve_in(const Json& result, const std::string& column) {
  std::vector<double> values;
  for (const Json& value : result["learning"]["curve"][column])
    values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return values;
}

std::optional<LearningTarget> target_in(const Json& result) {
  const std::string until = option_text(result, "until");
  const std::size_t colon = until.find(':');
  if (!learns(result) || colon == std::string::npos)
    return {};
  LearningTarget target{.figure = until.substr(0, colon), .value = 0, .shown = {}};
  const char* end = until.data() + until.size();
  const auto [rest, error] = std::from_chars(until.data() + colon + 1, end, target.value);
  if ((target.figure != "accuracy" && target.figure != "loss") || error != std::errc() ||
      rest != end || !std::isfinite(target.value))
    return {};
  target.shown = target.figure + format(" %.6g", target.value);
  return target;
}

std::string loss_shown(const Json& result) {
  if (!learns(result))
    return "";
  const auto loss = figure_in(result, "loss");
  return loss ? format("%.3g", *loss) : diverged(result) ? "diverged" : "-";
}

std::string accuracy_shown(const Json& result) {
  if (!learns(result))
    return "";
  const auto accuracy = figure_in(result, "accuracy");
  return accuracy ? percent(*accuracy) : "-";
}

std::string target_shown(const Json& result) {
  if (!target_in(result))
    return "";
  const auto target_s = figure_in(result, "target_s");
  return target_s ? seconds_shown(*target_s) : diverged(result) ? "-" : "missed";
}

std::vector<std::pair<std::string, std::string>> learning_lines(const Json& result) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!learns(result))
    return lines;
  const Json& learning = result["learning"];
  const auto number = [&](const char* name) {
    return learning[name].is_null() ? 0 : learning[name].get<double>();
  };
  const double samples = last_of(curve_in(result, "samples"));
  const double epoch = number("epoch_samples");
  const std::string when = " after " + seconds_shown(last_of(curve_in(result, "seconds"))) + ", " +
                           count_shown(samples) + " samples" +
                           (epoch > 0 ? format(" (%.4g epochs)", samples / epoch) : "");
  if (diverged(result)) {
    lines.emplace_back("loss",
                       "diverged at " + seconds_shown(number("diverged_s")) + "; not yet" + when);
  } else {
    const double of_train = last_of(curve_in(result, "train_accuracy"));
    const double heldout = last_of(curve_in(result, "heldout_loss"));
    const auto loss = figure_in(result, "loss");
    lines.emplace_back(
        "loss", (loss ? format("%.4g", *loss) : "-") +
                    (learning["least_loss"].is_null()
                         ? ""
                         : format(" (the least there is: %.4g)", number("least_loss"))) +
                    (std::isfinite(heldout) ? format(", %.4g held out,", heldout) : "") + when);
    lines.emplace_back(
        "accuracy",
        accuracy_shown(result) + " held out" +
            (std::isfinite(of_train) ? ", " + percent(of_train) + " of what it learned from" : ""));
  }
  if (const auto target = target_in(result)) {
    const auto target_s = figure_in(result, "target_s");
    lines.emplace_back(
        "target", target->shown + (target_s ? ": after " + seconds_shown(*target_s) : ": missed"));
  }
  lines.emplace_back("learned", learning["data"].get<std::string>() + "; " +
                                    count_shown(number("parameters")) + " parameters");
  if (number("messages") == 0)
    return lines;
  const auto bound = [&](const char* name, const char* text) {
    return learning[name].is_null() ? "" : format(text, number(name));
  };
  const auto bound_of_squares = [&](const char* name, const char* text) {
    return learning[name].is_null() ? "" : text + percent(number(name));
  };
  lines.emplace_back(
      "messages", count_shown(number("messages")) + " compressed: " + percent(number("left_out")) +
                      " left out (of squares" + bound_of_squares("left_out_bound", "; bound ") +
                      bound_of_squares("left_out_bound_squared", ", of a bell curve ") + "), " +
                      format("%.3g bits per value", number("bits_per_value")) +
                      bound("bits_bound", " (bound %.3g)"));
  lines.emplace_back(
      "sent",
      format("%.4g", number("sent_values")) +
          (number("least_sent_values") < number("most_sent_values")
               ? format(" (%.4g to %.4g)", number("least_sent_values"), number("most_sent_values"))
               : "") +
          format(" of %.4g values", number("values")) + bound("target_values", ", asked for %.4g"));
  return lines;
}

bool learned_before(const Json& a, const Json& b) {
  const auto place = [](const Json& result) {
    constexpr double never = std::numeric_limits<double>::infinity();
    return std::tuple(diverged(result), figure_in(result, "target_s").value_or(never),
                      figure_in(result, "loss").value_or(never));
  };
  return place(a) < place(b);
}

std::string divergence_warning(double diverged_s) {
  return "diverged at " + seconds_shown(diverged_s) +
         ": the loss is no number, or above 1,000 times that of the start; a smaller "
         "learning-rate, or a longer learning-rate-warm-up, may converge";
}

}  // namespace syncline
