// Words for what a run has learned.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/result.h"

namespace syncline {

// Why the result has no such figure: that its cell does not learn, or when it diverged.
std::string why_unknown(const Result& result, const std::string& figure);

// The last value of a column of the curve, which may be not a number; 0 without a curve.
double last_of_curve(const Result& result, double CurvePoint::*column);

// The target of the option until: "accuracy 0.95", and the number; none without a target.
struct LearningTarget {
  std::string figure;  // accuracy or loss
  double value = 0;
  std::string shown;
};
std::optional<LearningTarget> target_in(const Result& result);

// Texts for tables. Without a number they are "diverged", "missed" or "-"; empty if nothing is
// learned.
std::string loss_shown(const Result& result);
std::string accuracy_shown(const Result& result);
std::string target_shown(const Result& result);

// Lines of the report of one cell: a name and a text.
std::vector<std::pair<std::string, std::string>> learning_lines(const Result& result);

// Whether a learned before b: reached the target sooner; or else has less loss at the end. Results
// that do not fit into memory come last, and before them those that diverged.
bool learned_before(const Result& a, const Result& b);

// Warnings that a run may have learned nothing, or nothing that holds at another size.
std::vector<std::string> learning_warnings(const Learned& learned);

}  // namespace syncline
