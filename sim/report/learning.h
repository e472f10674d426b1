// What a run has learned, as its result keeps it, and what it came to in words.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/learned.h"

namespace syncline {

// The member `learning` of a result. A number that is not finite is null in it.
nlohmann::ordered_json to_json(const Learned& learned);
// Its figures: `loss`, `accuracy` and `target_s`, where the run did not diverge.
nlohmann::ordered_json figures_of(const Learned& learned);
extern const std::vector<std::string> learned_figures;  // their names

// Whether figures and `learning` are those of a run that has learned, or of one that has not; of
// any JSON whose member `figures` is an object.
bool is_learning_whole(const nlohmann::ordered_json& result);

// What follows is about a result that is_result() (sim/report/result.h) accepts.
bool learns(const nlohmann::ordered_json& result);
bool diverged(const nlohmann::ordered_json& result);

// The figure; none where it is null or the result has none of this name.
std::optional<double> figure_in(const nlohmann::ordered_json& result, const std::string& name);
// Why there is none: "the cell does not learn", "it diverged at 1.2 s".
std::string why_unknown(const nlohmann::ordered_json& result, const std::string& name);

// Column of the curve by its name in JSON, as numbers; not a number where the run had none.
std::vector<double> curve_in(const nlohmann::ordered_json& result, const std::string& column);

// What the option until asks for: "accuracy 0.95", and the number; none if nothing is asked for.
struct LearningTarget {
  std::string figure;  // accuracy or loss
  double value = 0;
  std::string shown;
};
std::optional<LearningTarget> target_in(const nlohmann::ordered_json& result);

// For tables. "diverged", "missed" and "-" where there is no number; empty where nothing is
// learned.
std::string loss_shown(const nlohmann::ordered_json& result);
std::string accuracy_shown(const nlohmann::ordered_json& result);
std::string target_shown(const nlohmann::ordered_json& result);

// Lines of the report of one cell: a name and what there is to say.
std::vector<std::pair<std::string, std::string>> learning_lines(
    const nlohmann::ordered_json& result);

// Whether a learned before b: reached the target sooner; or else has less loss at the end. What
// diverged comes last.
bool learned_before(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

std::string divergence_warning(double diverged_s);

}  // namespace syncline
