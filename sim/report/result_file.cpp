#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/report/learned_tables.h"
#include "sim/report/result_json.h"

namespace syncline {
using Json = nlohmann::ordered_json;

std::string text_of(const Result& result) {
  const Json whole = to_json(result);
  Json rest = whole;
  rest["timeline"]["tracks"] = Json::array();
  if (result.learned)
    for (const LearnedTable& table : learned_tables())
      for (Json& column : rest["learning"][table.name])
        column = Json::array();
  std::string text = rest.dump(2);
  // Each place is searched behind the last one, in their order. Strings have no line breaks, so no
  // place is found inside a string.
  const auto put = [&](std::size_t from, const std::string& place, const std::string& values) {
    const std::size_t at = text.find(place, from) + place.size();
    text.insert(at, values);
    return at + values.size();
  };
  std::size_t at = 0;
  if (result.learned)
    for (const LearnedTable& table : learned_tables()) {
      at = text.find("\n    \"" + table.name + "\": {", at);
      for (const auto& [name, column] : whole["learning"][table.name].items()) {
        const std::string values = column.dump();
        at = put(at, "\n      \"" + name + "\": [", values.substr(1, values.size() - 2));
      }
    }
  std::string lines;
  for (const Json& track : whole["timeline"]["tracks"])
    lines += (lines.empty() ? "\n      " : ",\n      ") + track.dump();
  put(text.find("\n  \"timeline\": {"), "\"tracks\": [", lines);
  return text + "\n";
}

std::optional<Result> result_in(const std::string& text) {
  return from_json(Json::parse(text, nullptr, false));
}

std::optional<Result> read_result(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))  // reading a pipe would wait
    return std::nullopt;
  std::ifstream file(path);
  return from_json(file.is_open() ? Json::parse(file, nullptr, false) : Json());
}

}  // namespace syncline
