#include "sim/report/learning.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <tuple>

#include "kernels/io/text.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"

namespace syncline {
namespace {

// "diverged at 1.2 s; not yet after 1 s, ...", or the loss at the end.
std::string loss_line(const Result& result) {
  const Learned& learned = *result.learned;
  const double samples = last_of_curve(result, &CurvePoint::samples);
  const std::string when =
      " after " + seconds_shown(last_of_curve(result, &CurvePoint::seconds)) + ", " +
      count_shown(samples) + " samples" +
      (learned.epoch_samples > 0 ? fmt::format(" ({:.4g} epochs)", samples / learned.epoch_samples)
                                 : "");
  if (result.diverged())
    return "diverged at " + seconds_shown(*learned.diverged_s) + "; not yet" + when;
  const double heldout = last_of_curve(result, &CurvePoint::heldout_loss);
  const auto loss = result.figures.loss;
  return (loss ? fmt::format("{:.4g}", *loss) : "-") +
         (learned.least_loss ? fmt::format(" (the least there is: {:.4g})", *learned.least_loss)
                             : "") +
         (std::isfinite(heldout) ? fmt::format(", {:.4g} held out,", heldout) : "") + when;
}

// "12 compressed: 98.0 % left out (of squares; bound 99.0 %), 0.5 bits per value".
std::string messages_line(const Compressed& means) {
  const auto bound = [](const char* text, const std::optional<double>& part) {
    return part ? text + percent(*part, 1) : "";
  };
  return count_shown(static_cast<double>(means.messages)) +
         " compressed: " + percent(means.left_out, 1) + " left out (of squares" +
         bound("; bound ", means.left_out_bound) +
         bound(", of a bell curve ", means.left_out_bound_squared) + "), " +
         fmt::format("{:.3g} bits per value", means.bits_per_value) +
         (means.bits_bound ? fmt::format(" (bound {:.3g})", *means.bits_bound) : "");
}

std::string sent_line(const Compressed& means) {
  return fmt::format("{:.4g}", means.sent_values) +
         (means.least_sent_values < means.most_sent_values
              ? fmt::format(" ({:.4g} to {:.4g})", means.least_sent_values, means.most_sent_values)
              : "") +
         fmt::format(" of {:.4g} values", means.values) +
         (means.target_values ? fmt::format(", asked for {:.4g}", *means.target_values) : "");
}

}  // namespace

std::string why_unknown(const Result& result, const std::string& figure) {
  const Figure* row = find_figure(figure);
  if (row == nullptr || !row->has(Figure::if_learned))
    return "unknown";
  if (!result.learns())
    return "unknown: the cell learns nothing";
  if (result.diverged())
    return "unknown: it diverged at " + seconds_shown(*result.learned->diverged_s);
  if (figure != "target_s")
    return "unknown: it is no number";
  const auto target = target_in(result);
  return target ? target->shown + " was missed" : "unknown: the option until asks for nothing";
}

double last_of_curve(const Result& result, double CurvePoint::*column) {
  const std::vector<CurvePoint>& curve = result.learned->curve;
  return curve.empty() ? 0 : curve.back().*column;
}

std::optional<LearningTarget> target_in(const Result& result) {
  const std::string& until = result.option("until");
  const std::size_t colon = until.find(':');
  if (!result.learns() || colon == std::string::npos)
    return {};
  const std::string figure = until.substr(0, colon);
  const auto value = number_in(until.substr(colon + 1));
  if ((figure != "accuracy" && figure != "loss") || !value || !std::isfinite(*value))
    return {};
  return LearningTarget{
      .figure = figure, .value = *value, .shown = fmt::format("{} {:.6g}", figure, *value)};
}

std::string loss_shown(const Result& result) {
  if (!result.learns())
    return "";
  return result.figures.loss ? fmt::format("{:.3g}", *result.figures.loss)
         : result.diverged() ? "diverged"
                             : "-";
}

std::string accuracy_shown(const Result& result) {
  if (!result.learns())
    return "";
  return result.figures.accuracy ? percent(*result.figures.accuracy, 1) : "-";
}

std::string target_shown(const Result& result) {
  if (!target_in(result))
    return "";
  return result.figures.target_s ? seconds_shown(*result.figures.target_s)
         : result.diverged()     ? "-"
                                 : "missed";
}

std::vector<std::pair<std::string, std::string>> learning_lines(const Result& result) {
  if (!result.learns())
    return {};
  const Learned& learned = *result.learned;
  std::vector<std::pair<std::string, std::string>> lines{{"loss", loss_line(result)}};
  if (!result.diverged()) {
    const double of_train = last_of_curve(result, &CurvePoint::train_accuracy);
    lines.emplace_back("accuracy", accuracy_shown(result) + " held out" +
                                       (std::isfinite(of_train) ? ", " + percent(of_train, 1) +
                                                                      " of what it learned from"
                                                                : ""));
  }
  if (const auto target = target_in(result)) {
    const auto target_s = result.figures.target_s;
    lines.emplace_back(
        "target", target->shown + (target_s ? ": after " + seconds_shown(*target_s) : ": missed"));
  }
  lines.emplace_back(
      "learned",
      learned.data + "; " + count_shown(static_cast<double>(learned.parameters)) + " parameters");
  if (learned.compressed.messages > 0) {
    lines.emplace_back("messages", messages_line(learned.compressed));
    lines.emplace_back("sent", sent_line(learned.compressed));
  }
  return lines;
}

bool learned_before(const Result& a, const Result& b) {
  const auto place = [](const Result& result) {
    constexpr double never = std::numeric_limits<double>::infinity();
    return std::tuple(!result.figures.fits_memory(), result.diverged(),
                      result.figures.target_s.value_or(never), result.figures.loss.value_or(never));
  };
  return place(a) < place(b);
}

std::vector<std::string> learning_warnings(const Learned& learned) {
  std::vector<std::string> warnings;
  const std::vector<CurvePoint>& curve = learned.curve;
  if (learned.diverged_s)
    warnings.push_back("diverged at " + seconds_shown(*learned.diverged_s) +
                       ": the loss is no number, or above 1,000 times that of the start; a smaller "
                       "learning-rate, or a longer learning-rate-warm-up, may converge");
  else if (!learned.target_s && !curve.empty() && curve.back().loss >= curve.front().loss)
    warnings.push_back(fmt::format(
        "ends no better than it began: the loss is {:.4g} at the end and {:.4g} at the start; "
        "another learning-rate, or a longer run, may learn",
        curve.back().loss, curve.front().loss));
  constexpr double worth_saying = 0.01;
  const Compressed& sent = learned.compressed;
  if (sent.messages > 0 && sent.empty >= worth_saying)
    warnings.push_back(
        fmt::format("{} of {} messages were empty: the compressor chose none of their values",
                    percent(sent.empty), count_shown(static_cast<double>(sent.messages))));
  constexpr double few_values = 16;
  if (sent.messages > 0 && sent.target_values.value_or(few_values) < few_values)
    warnings.push_back(
        fmt::format("messages were asked for {:.3g} of {:.4g} values in the mean: with fewer than "
                    "{:.0f}, learning says little about the same density in a larger model",
                    *sent.target_values, sent.values, few_values));
  return warnings;
}

}  // namespace syncline
