// Words for what a run has learned.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/result.h"

namespace syncline {

// Why the result has no such figure: "the cell does not learn", "it diverged at 1.2 s".
std::string why_unknown(const Result& result, const std::string& figure);

// The last value of a column of the curve; not a number where the run had none. 0 without a curve.
double last_of_curve(const Result& result, double CurvePoint::*column);

// The target that the option until asks for: "accuracy 0.95", and the number; none if nothing is
// asked for.
struct LearningTarget {
  std::string figure;  // accuracy or loss
  double value = 0;
  std::string shown;
};
std::optional<LearningTarget> target_in(const Result& result);

// Tables show these. They are "diverged", "missed" and "-" where there is no number; empty where
// nothing is learned.
std::string loss_shown(const Result& result);
std::string accuracy_shown(const Result& result);
std::string target_shown(const Result& result);

// Lines of the report of one cell: a name and what there is to say.
std::vector<std::pair<std::string, std::string>> learning_lines(const Result& result);

// Whether a learned before b: reached the target sooner; or else has less loss at the end. What
// diverged comes last.
bool learned_before(const Result& a, const Result& b);

// What says that it may have learned nothing, or nothing that holds at another size.
std::vector<std::string> learning_warnings(const Learned& learned);

}  // namespace syncline
