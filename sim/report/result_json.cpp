#include "sim/report/result_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/report/learned_tables.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double least_iteration_s = 1e-12;
constexpr std::size_t most_rows = 1'000'000;

// Thrown if something is missing or of another kind: from_json then returns none.
class NotOurs {};

void require(bool holds) {
  if (!holds)
    throw NotOurs();
}

// Finds nothing in what is not an object.
const Json& member_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  require(found != json.end());
  return *found;
}

// Programs that read a result print its texts, so these must be printable.
std::string plain(const std::string& text) {
  require(printable(text) == text);
  return text;
}

std::string text_in(const Json& json) {
  require(json.is_string());
  return plain(json.get<std::string>());
}

std::optional<double> number_in(const Json& json, const AllowedNumbers& allowed) {
  if (json.is_null() && allowed.null)
    return std::nullopt;
  require(json.is_number());
  const double number = json.get<double>();
  require(number >= allowed.least && number <= allowed.most);
  return number;
}

double any_number_in(const Json& json) {
  return *number_in(json, any_printable);
}

std::int64_t count_in(const Json& json) {
  return static_cast<std::int64_t>(any_number_in(json));
}

const Json& array_in(const Json& json) {
  require(json.is_array());
  return json;
}

Json number_or_null(std::optional<double> number) {
  return number ? Json(*number) : Json(nullptr);
}

template <class Value>
Json to_json(const Value& value, const NumberMember<Value>& member) {
  const auto number = syncline::number_in(value, member);
  return number && is_whole(member) ? Json(static_cast<std::int64_t>(*number))
                                    : number_or_null(number);
}

template <class Value>
struct Text {
  const char* name;
  std::string Value::*member;
};
const std::vector<Text<Result>> of_result{{"tool", &Result::tool},
                                          {"build", &Result::build},
                                          {"simgrid", &Result::simgrid},
                                          {"inputs", &Result::inputs}};
const std::vector<Text<Provenance>> of_provenance{
    {"compute", &Provenance::compute},   {"compression", &Provenance::compression},
    {"adding", &Provenance::adding},     {"framework", &Provenance::framework},
    {"exchange", &Provenance::exchange}, {"price", &Provenance::price},
    {"network", &Provenance::network},   {"fidelity", &Provenance::fidelity},
    {"reality", &Provenance::reality}};
const std::vector<Text<Track>> of_track{
    {"name", &Track::name}, {"kind", &Track::kind}, {"stream", &Track::stream}};

template <class Value>
void write(const Value& value, const std::vector<Text<Value>>& texts, Json& json) {
  for (const Text<Value>& text : texts)
    json[text.name] = value.*text.member;
}

template <class Value>
void read(const Json& json, const std::vector<Text<Value>>& texts, Value& value) {
  for (const Text<Value>& text : texts)
    value.*text.member = text_in(member_of(json, text.name));
}

// Numbers of what was learned, besides the tables.
const std::vector<NamedNumber<Learned>> of_learned{
    {"parameters", any_count, &Learned::parameters},
    {"epoch_samples", any_count, &Learned::epoch_samples},
    {"least_loss", any_loss, &Learned::least_loss},
    {"diverged_s", any_count.or_null(), &Learned::diverged_s},
    {"effective_staleness", any_count, &Learned::effective_staleness}};
const std::vector<NamedNumber<Compressed>> of_compressed{
    {"messages", any_count, &Compressed::messages},
    {"values", any_count, &Compressed::values},
    {"sent_values", any_count, &Compressed::sent_values},
    {"least_sent_values", any_count, &Compressed::least_sent_values},
    {"most_sent_values", any_count, &Compressed::most_sent_values},
    {"target_values", any_count.or_null(), &Compressed::target_values},
    {"left_out", any_count.or_null(), &Compressed::left_out},
    {"left_out_bound", any_count.or_null(), &Compressed::left_out_bound},
    {"left_out_bound_squared", any_count.or_null(), &Compressed::left_out_bound_squared},
    {"bits_per_value", any_count.or_null(), &Compressed::bits_per_value},
    {"bits_bound", any_count.or_null(), &Compressed::bits_bound}};

Json to_json(const Learned& learned) {
  Json json{{"data", learned.data}};
  for (const auto& number : of_learned)
    json[number.name] = to_json(learned, number.member);
  for (const auto& number : of_compressed)
    json[number.name] = to_json(learned.compressed, number.member);
  for (const LearnedTable& table : learned_tables()) {
    Json& columns = json[table.name] = Json::object();
    for (const LearnedColumn& column : table.columns) {
      Json& values = columns[column.name] = Json::array();
      for (std::size_t row = 0; row < table.rows(learned); ++row)
        values.push_back(number_or_null(column.number(learned, row)));
    }
  }
  return json;
}

Learned learned_in(const Json& json) {
  Learned learned{.data = text_in(member_of(json, "data"))};
  for (const auto& [name, allowed, member] : of_learned)
    put_number(learned, member, number_in(member_of(json, name), allowed));
  for (const auto& [name, allowed, member] : of_compressed)
    put_number(learned.compressed, member, number_in(member_of(json, name), allowed));
  for (const LearnedTable& table : learned_tables()) {
    const Json& columns = member_of(json, table.name.c_str());
    const auto column_in = [&](const LearnedColumn& column) -> const Json& {
      return array_in(member_of(columns, column.name.c_str()));
    };
    const std::size_t rows = column_in(table.columns.front()).size();
    require(rows <= most_rows);
    table.resize(learned, rows);
    for (const LearnedColumn& column : table.columns) {
      const Json& values = column_in(column);
      require(values.size() == rows);
      for (std::size_t row = 0; row < rows; ++row)
        column.put(learned, row, number_in(values[row], column.allowed));
    }
  }
  return learned;
}

// The JSON of figures that are not a single number.
template <class Named>
requires requires(const Named& one) {
  numbers_of(one);
}
Json to_json(const std::vector<Named>& all) {
  Json json = Json::array();
  for (const Named& one : all) {
    json.push_back({{"name", one.name}});
    for (const auto& number : numbers_of(one))
      json.back()[number.name] = to_json(one, number.member);
  }
  return json;
}
Json to_json(const std::map<std::int64_t, std::int64_t>& histogram) {
  Json json = Json::object();
  for (const auto& [value, count] : histogram)
    json[std::to_string(value)] = count;
  return json;
}
Json to_json(const std::vector<Warning>& warnings) {
  Json texts = Json::array();
  for (const Warning& warning : warnings)
    texts.push_back(warning.text);
  return texts;
}
template <class Plain>
Json to_json(const Plain& plain) {
  return plain;
}

void read(const Json& json, std::string& text) {
  text = text_in(json);
}
void read(const Json& json, Warning& warning) {
  warning = warning_read(text_in(json));
}
void read(const Json& json, double& number) {
  number = any_number_in(json);
}
template <class Named>
requires requires(const Named& one) {
  numbers_of(one);
}
void read(const Json& json, Named& one) {
  one.name = text_in(member_of(json, "name"));
  for (const auto& [name, allowed, member] : numbers_of(one))
    put_number(one, member, number_in(member_of(json, name), allowed));
}
template <class One>
void read(const Json& json, std::vector<One>& all) {
  for (const Json& one : array_in(json))
    read(one, all.emplace_back());
}
void read(const Json& json, std::map<std::int64_t, std::int64_t>& histogram) {
  require(json.is_object());
  for (const auto& [name, count] : json.items()) {
    const auto value = syncline::number_in<std::int64_t>(name);
    require(value.has_value());
    histogram[*value] = count_in(count);
  }
}

Json figures_json(const Result& result) {
  Json json = Json::object();
  for (const Figure& figure : figure_rows())
    if (!figure.has(Figure::if_learned) || result.learns())
      json[figure.name] = std::visit(
          [&](const auto& member) -> Json {
            if constexpr (std::is_same_v<decltype(member), const NumberMember<Figures>&>)
              return to_json(result.figures, member);
            else
              return to_json(result.figures.*member);
          },
          figure.member);
  return json;
}

// Rounding may leave a figure a little below its least value.
AllowedNumbers allowed_in_file(const Figure& figure) {
  return figure.has(Figure::if_learned) ? figure.traits.allowed
         : figure.traits.allowed.null   ? any_printable.or_null()
                                        : any_printable;
}

Figures figures_in(const Json& json, bool learns) {
  require(json.is_object());
  Figures figures;
  for (const Figure& figure : figure_rows()) {
    const auto found = json.find(figure.name);
    if (figure.has(Figure::if_learned) && !learns) {
      require(found == json.end());
      continue;
    }
    if (found == json.end() && may_be_missing(figure))
      continue;
    require(found != json.end());
    std::visit(
        [&](const auto& member) {
          if constexpr (std::is_same_v<decltype(member), const NumberMember<Figures>&>)
            put_number(figures, member, number_in(*found, allowed_in_file(figure)));
          else
            read(*found, figures.*member);
        },
        figure.member);
  }
  if (!json.contains("bytes_sent_off_node"))
    figures.bytes_sent_off_node = figures.bytes_sent;
  if (figures.throughput_of_runs.empty())
    figures.throughput_of_runs = {figures.throughput_samples_per_s};
  require(figures.runs == static_cast<std::int64_t>(figures.throughput_of_runs.size()));
  require(figures.throughput_samples_per_s > 0 && figures.iteration_mean_s >= least_iteration_s);
  return figures;
}

Json to_json(const Timeline& timeline) {
  Json tracks = Json::array();
  for (const Track& track : timeline.tracks) {
    Json slices = Json::array();
    for (const Slice& slice : track.slices)
      slices.push_back(
          {slice.start_s, slice.end_s, name_of(slice.verb), slice.bucket, slice.iteration});
    Json& json = tracks.emplace_back();
    write(track, of_track, json);
    json["slices"] = std::move(slices);
  }
  return {{"from_s", timeline.from_s}, {"to_s", timeline.to_s}, {"tracks", std::move(tracks)}};
}

Timeline timeline_in(const Json& json) {
  Timeline timeline{.from_s = any_number_in(member_of(json, "from_s")),
                    .to_s = any_number_in(member_of(json, "to_s"))};
  for (const Json& one : array_in(member_of(json, "tracks"))) {
    Track& track = timeline.tracks.emplace_back();
    read(one, of_track, track);
    for (const Json& slice : array_in(member_of(one, "slices"))) {
      require(slice.is_array() && slice.size() == 5);
      track.slices.push_back({.start_s = any_number_in(slice[0]),
                              .end_s = any_number_in(slice[1]),
                              .verb = verb_of(text_in(slice[2])).value_or(Verb::several),
                              .bucket = count_in(slice[3]),
                              .iteration = count_in(slice[4])});
    }
  }
  return timeline;
}

// Options are plain values.
std::vector<WrittenOption> options_in(const Json& json) {
  require(json.is_object());
  std::vector<WrittenOption> options;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number())
      any_number_in(value);
    options.push_back({.name = plain(name),
                       .value = value.is_number() ? value.dump() : text_in(value),
                       .is_number = value.is_number()});
  }
  return options;
}

Provenance provenance_in(Json json) {
  for (const std::string later : {"fidelity", "framework", "exchange", "price", "reality"})
    if (json.is_object() && !json.contains(later))  // older results were all simulated as flows
      json[later] = later == "fidelity" ? "flow" : "";
  Provenance provenance;
  read(json, of_provenance, provenance);
  return provenance;
}

Result whole_result_in(const Json& json) {
  Result result;
  read(json, of_result, result);
  const bool learns = json.contains("learning");
  result.schema = static_cast<int>(
      std::clamp<std::int64_t>(count_in(member_of(json, "schema")), 0, result_schema + 1));
  result.options = options_in(member_of(json, "scenario"));
  result.provenance = provenance_in(member_of(json, "provenance"));
  result.figures = figures_in(member_of(json, "figures"), learns);
  result.timeline = timeline_in(member_of(json, "timeline"));
  if (json.contains("trace"))
    result.trace = text_in(json["trace"]);
  if (learns) {
    result.learned = learned_in(json["learning"]);
    result.learned->target_s = result.figures.target_s;
  }
  return result;
}

}  // namespace

Json to_json(const std::vector<WrittenOption>& options) {
  Json json = Json::object();
  for (const WrittenOption& option : options)
    json[option.name] = option.is_number ? Json::parse(option.value) : Json(option.value);
  return json;
}

Json to_json(const Result& result) {
  Json json{{"schema", result.schema}};
  write(result, of_result, json);
  json["scenario"] = to_json(result.options);
  write(result.provenance, of_provenance, json["provenance"]);
  if (result.provenance.reality.empty())  // nominal, as all older results were
    json["provenance"].erase("reality");
  json["figures"] = figures_json(result);
  if (result.learned)
    json["learning"] = to_json(*result.learned);
  json["timeline"] = to_json(result.timeline);
  if (!result.trace.empty())
    json["trace"] = result.trace;
  return json;
}

std::optional<Result> from_json(const Json& json) {
  try {
    return whole_result_in(json);
  } catch (const NotOurs&) {
    return std::nullopt;
  }
}

std::string figure_text(const Figure& figure, const Result& result) {
  const auto* member = std::get_if<NumberMember<Figures>>(&figure.member);
  return member != nullptr && value_of(figure, result) ? to_json(result.figures, *member).dump()
                                                       : "";
}

std::string exact_text(double number) {
  const std::string text = Json(number).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace syncline
