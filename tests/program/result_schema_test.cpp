// experiments/result.schema.json describes what the program writes: every member of a result, and
// no others.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "sim/report/figures.h"
#include "sim/report/result_json.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::string schema_path = SYNCLINE_SOURCE_DIR "/experiments/result.schema.json";

bool is_of(const std::string& type, const Json& json) {
  if (type == "object" || type == "array")
    return type == "object" ? json.is_object() : json.is_array();
  if (type == "integer")
    return json.is_number_integer() ||
           (json.is_number() && json.get<double>() == std::floor(json.get<double>()));
  return (type == "number" && json.is_number()) || (type == "string" && json.is_string()) ||
         (type == "null" && json.is_null());
}

bool has_type(const Json& type, const Json& json) {
  if (type.is_string())
    return is_of(type, json);
  return std::ranges::any_of(type, [&](const Json& one) { return is_of(one, json); });
}

// The first place that violates the schema, for the keywords that ours uses; empty: none.
std::string mismatch(const Json& schema, const Json& json, const std::string& where = "$") {
  if (schema.contains("type") && !has_type(schema["type"], json))
    return where + " is no " + schema["type"].dump();
  if (schema.contains("const") && schema["const"] != json)
    return where + " is not " + schema["const"].dump();
  if (schema.contains("enum") && std::ranges::find(schema["enum"], json) == schema["enum"].end())
    return where + " is not among " + schema["enum"].dump();
  if (json.is_number()) {
    const double value = json;
    if ((schema.contains("minimum") && value < schema["minimum"].get<double>()) ||
        (schema.contains("maximum") && value > schema["maximum"].get<double>()) ||
        (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"].get<double>()))
      return where + " is out of range";
  }
  if (json.is_string() && schema.contains("pattern") &&
      !std::regex_search(json.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
    return where + " is not like " + schema["pattern"].dump();
  if (json.is_array() && (json.size() < schema.value("minItems", 0U) ||
                          json.size() > schema.value("maxItems", 1'000'000U)))
    return where + " has " + std::to_string(json.size()) + " items";
  if (json.is_array())
    for (std::size_t i = 0; i < json.size(); ++i) {
      const Json& item =
          schema.contains("prefixItems") ? schema["prefixItems"][i] : schema["items"];
      if (const auto wrong = mismatch(item, json[i], where + "[" + std::to_string(i) + "]");
          !wrong.empty())
        return wrong;
    }
  if (!json.is_object())
    return {};
  for (const Json& needed : schema.value("required", Json::array()))
    if (!json.contains(needed.get<std::string>()))
      return where + " has no " + needed.dump();
  for (const auto& [name, value] : json.items()) {
    const bool known = schema.contains("properties") && schema["properties"].contains(name);
    const Json any = schema.value("additionalProperties", Json(true));
    if (!known && any == Json(false))
      return where + " has " + name;
    if (known || any.is_object())
      if (const auto wrong =
              mismatch(known ? schema["properties"][name] : any, value, where + "." + name);
          !wrong.empty())
        return wrong;
  }
  return {};
}

class ResultSchema : public testing::Test {
 protected:
  // A result of the program with these options.
  Json result_with(const std::vector<std::string>& options, const std::string& out) const {
    std::vector<std::string> arguments{"run",
                                       "--platform",
                                       "pcie-8x2-10gbe",
                                       "--model",
                                       "resnet20",
                                       "--throughput",
                                       "100",
                                       "--iterations",
                                       "20",
                                       "--workers",
                                       "4",
                                       "--out",
                                       out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = run_program(arguments, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(text_of(folder_.path(out + "/result.json")));
  }
  const TemporaryFolder folder_;
  const Json schema_ = Json::parse(text_of(schema_path));
};

TEST_F(ResultSchema, HoldsForEverySchedule) {
  const std::vector<std::vector<std::string>> runs{
      {},
      {"--schedule", "asp", "--jitter", "0.1", "--price", "2", "--epoch-samples", "50000"},
      {"--schedule", "ssp", "--trace"},
      {"--fidelity", "analytic", "--jitter", "0.1"},
      {"--schedule", "inhad", "--staleness", "none"},
      {"--schedule", "topk-sgd", "--compressor", "topk", "--device", "v100-modelled"}};
  int number = 0;
  for (const auto& options : runs)
    EXPECT_EQ(mismatch(schema_, result_with(options, std::to_string(number++))), "")
        << testing::PrintToString(options);
}

TEST_F(ResultSchema, RefusesWhatIsBroken) {
  const Json whole = result_with({"--seed", "3"}, "o");
  EXPECT_EQ(whole["scenario"]["workers"], 4);  // numbers are stored as numbers
  EXPECT_EQ(whole["scenario"]["bucket-bytes"], 26214400);
  EXPECT_EQ(whole["scenario"]["throughput"], 100);
  EXPECT_EQ(whole["scenario"]["iterations"], 20);
  for (const auto& [name, value] : whole["figures"].items()) {
    Json broken = whole;
    broken["figures"].erase(name);
    EXPECT_EQ(mismatch(schema_, broken), "$.figures has no \"" + name + "\"");
    broken["figures"][name] = true;
    EXPECT_NE(mismatch(schema_, broken), "") << name;
  }
  Json more = whole;
  more["figures"]["speed"] = 1;
  EXPECT_EQ(mismatch(schema_, more), "$.figures has speed");
  Json text = whole;
  text["scenario"]["workers"] = "4";
  EXPECT_NE(mismatch(schema_, text), "");
  Json old = whole;
  old["schema"] = 2;
  EXPECT_NE(mismatch(schema_, old), "");
}

// The schema that follows from a figure's row. The structure of lists and objects is kept.
Json schema_of(const Figure& figure, const Json& before) {
  const auto as_sentence = [](std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text + (text.ends_with('.') ? "" : ".");
  };
  const std::string description = as_sentence(figure.sentence) + " " + as_sentence(figure.more);
  const auto* number = std::get_if<NumberMember<Figures>>(&figure.member);
  if (number == nullptr) {
    Json schema = before;
    schema["description"] = description;
    return schema;
  }
  const std::string type = is_whole(*number) ? "integer" : "number";
  Json schema{{"type", figure.traits.allowed.null ? Json{type, "null"} : Json(type)}};
  if (figure.traits.allowed.least > -1e18)
    schema["minimum"] = static_cast<int>(figure.traits.allowed.least);
  if (figure.traits.allowed.most < 1e18)
    schema["maximum"] = static_cast<int>(figure.traits.allowed.most);
  schema["description"] = description;
  return schema;
}

// `--target bless` writes these into the schema.
TEST_F(ResultSchema, HasTheFiguresOfTheRows) {
  Json whole = schema_;
  Json& figures = whole["properties"]["figures"];
  Json properties = Json::object();
  Json required = Json::array();
  for (const Figure& figure : figure_rows()) {
    properties[figure.name] = schema_of(figure, figures["properties"].value(figure.name, Json()));
    if (!figure.has(Figure::if_learned))
      required.push_back(figure.name);
  }
  figures["properties"] = properties;
  figures["required"] = required;
  if (std::getenv("SYNCLINE_BLESS") != nullptr)
    std::ofstream(schema_path) << whole.dump(1) << "\n";
  else
    EXPECT_EQ(whole, schema_) << "`cmake --build build/release --target bless` writes the schema";
}

TEST_F(ResultSchema, SaysInASentenceWhatEachFigureIs) {
  const Json& figures = schema_["properties"]["figures"]["properties"];
  EXPECT_GT(figures.size(), 25U);
  for (const auto& [name, figure] : figures.items()) {
    EXPECT_TRUE(figure.value("description", "").ends_with(".")) << name;
    if (name.ends_with("_s")) {
      EXPECT_PRED_FORMAT2(testing::IsSubstring, "econd", figure["description"].get<std::string>())
          << name;
    }
  }
}

TEST_F(ResultSchema, HoldsForWhatWasLearned) {
  for (const Learned& learned : {made_learned(0.5, 0.9), made_divergence(2), Learned{}}) {
    Json result =
        to_json(made_result({{"compressor", "none"}, {"network", "exact"}}, 100, 4, learned));
    for (const char* name : {"build", "inputs"})
      result[name] = "0123456789abcdef";
    EXPECT_EQ(mismatch(schema_, result), "");
    result["learning"]["curve"]["loss"] = {"low"};
    EXPECT_NE(mismatch(schema_, result), "");
  }
}

// Our own check above could misread the schema language.
TEST_F(ResultSchema, IsOneForOthersToo) {
  if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const Json whole = result_with({}, "o");
  folder_.write("broken.json", [&] {
    Json broken = whole;
    broken["figures"]["waiting_s"] = "0 s";
    return broken.dump();
  }());
  const std::string check = folder_.write("check.py", R"(
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(sys.argv[2]))))
print(*errors)
sys.exit(len(errors))
)");
  const auto errors_of = [&](const std::string& result) {
    return WEXITSTATUS(
        std::system(("python3 " + check + " " + schema_path + " " + folder_.path(result)).c_str()));
  };
  EXPECT_EQ(errors_of("o/result.json"), 0);
  EXPECT_EQ(errors_of("broken.json"), 1);
}

}  // namespace
}  // namespace syncline
