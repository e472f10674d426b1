#include "sim/setup/model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/refuse.h"
#include "sim/import/foreign_files.h"
#include "sim/import/imported_model.h"

namespace syncline {
namespace {

// The largest model. Its bytes on a million workers are less than 2^63.
constexpr double most_parameters = 1e12;
constexpr double least_flop = 1e-3;
constexpr double most_flop = 1e24;
constexpr double most_activation_bytes = 1e15;  // per row; the same limit as for activation-bytes
constexpr std::size_t most_layers = 100'000;

template <class Number>
Number sum_of(const std::vector<Layer>& layers, Number Layer::*member) {
  Number sum = 0;
  for (const Layer& layer : layers)
    sum += layer.*member;
  return sum;
}

// The columns of a tensor whose shape is "64x3x7x7": the product of all dimensions but the first.
std::uint64_t columns_of(const std::string& shape, double parameters) {
  double product = 1, first = 0;
  for (const std::string& dimension : split(shape, 'x')) {
    const double size = checked_number(
        {.name = "shape", .minimum = 1, .maximum = most_parameters, .whole = true}, dimension);
    first = first == 0 ? size : first;
    product *= size;
  }
  if (product != parameters)
    throw std::invalid_argument(
        fmt::format("shape = {}: allowed are dimensions whose product is the row's parameters, {}",
                    brief(shape), number_text(parameters)));
  return static_cast<std::uint64_t>(product / first);
}

// Adds up doubles, because sums of whole numbers would wrap round.
void check_sums(const Model& model, const std::string& path) {
  const auto check = [&](const char* what, double sum, double most) {
    if (sum > most)
      refuse_file(path, "its layers have {} {}: allowed are up to {} in total", number_text(sum),
                  what, number_text(most));
  };
  if (model.layers.size() > most_layers)
    refuse_file(path, "{} layers: allowed are up to {}", model.layers.size(), most_layers);
  double parameters = 0;
  for (const Layer& layer : model.layers)
    parameters += static_cast<double>(layer.parameters);
  check("parameters", parameters, most_parameters);
  check("forward_flop", model.forward_flop(), most_flop);
  if (model.forward_flop() < least_flop)
    refuse_file(
        path,
        "the sum of forward_flop is {}, so time cannot be split over layers: allowed is {} or more",
        number_text(model.forward_flop()), number_text(least_flop));
}

Model read_csv_model(const std::string& path) {
  const Csv csv = read_csv(path);
  const std::size_t layer = csv.column("layer");
  const std::size_t parameters = csv.column("parameters");
  const std::size_t flop = csv.column("forward_flop");
  const auto column_if_any = [&](const char* name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(csv.columns, name);
    return found == csv.columns.end() ? std::nullopt : std::optional(csv.column(name));
  };
  const auto attention = column_if_any("attention_flop");
  const auto kept = column_if_any("activation_bytes");
  const auto of_attention = column_if_any("attention_bytes");
  const auto shape = column_if_any("shape");

  Model model;
  model.name = std::filesystem::path(path).stem().string();
  const std::string* sample = csv.about("sample");
  model.sample = sample == nullptr ? "sample" : *sample;
  csv.for_each_row([&](const Csv::Row& row) {
    const double count = checked_number(
        {.name = "parameters", .minimum = 1, .maximum = most_parameters, .whole = true},
        row.fields[parameters]);
    const double cost = checked_number({.name = "forward_flop", .minimum = 0, .maximum = most_flop},
                                       row.fields[flop]);
    const auto number_if_any = [&](const char* name, const std::optional<std::size_t>& column,
                                   double most) {
      return column ? checked_number({.name = name, .minimum = 0, .maximum = most},
                                     row.fields[*column])
                    : 0;
    };
    Layer& one = model.layers.emplace_back(
        Layer{row.fields[layer], static_cast<std::uint64_t>(count), cost});
    one.attention_flop = number_if_any("attention_flop", attention, cost);
    one.activation_bytes = number_if_any("activation_bytes", kept, most_activation_bytes);
    one.attention_bytes = number_if_any("attention_bytes", of_attention, one.activation_bytes);
    if (shape)
      one.columns = columns_of(row.fields[*shape], count);
  });
  if (model.layers.empty())
    refuse_file(path, "a model needs at least one layer");
  check_sums(model, path);
  const std::string* declared = csv.about("parameters");
  if (declared != nullptr && *declared != std::to_string(model.parameters()))
    refuse_file(path, "its layers have {} parameters, but its header declares {}",
                model.parameters(), brief(*declared));
  const std::string* declared_flop = csv.about("flop");
  const auto its_flop = declared_flop == nullptr ? std::nullopt : number_in(*declared_flop);
  if (its_flop && std::abs(model.forward_flop() - *its_flop) > 1e-3 * *its_flop)
    refuse_file(path, "its layers have {} forward_flop, but its header declares {}",
                number_text(model.forward_flop()), brief(*declared_flop));
  return model;
}

// A model whose layers are the iteration's gradients, with `value_bytes` bytes per parameter.
Model model_of(ImportedIteration iteration, const std::string& path, int value_bytes) {
  if (iteration.gradients.empty())
    refuse_file(path, "no gradient that workers add (an all-reduce): allowed is one or more");
  Model model;
  model.name = std::filesystem::path(path).stem().string();
  model.sample = "sample";
  model.read_as = fmt::format("{}; {} bytes per parameter", iteration.read_as, value_bytes);
  if (iteration.rest_ns > 0) {
    iteration.gradients.back().ns += iteration.rest_ns;
    model.read_as += fmt::format("; {} ns of backward after its last gradient count before it",
                                 number_text(iteration.rest_ns));
  }
  bool rounded = false;
  double backward_ns = 0;
  for (auto gradient = iteration.gradients.rbegin(); gradient != iteration.gradients.rend();
       ++gradient) {
    const double values = std::ceil(gradient->bytes / value_bytes);
    rounded = rounded || values * value_bytes != gradient->bytes;
    backward_ns += gradient->ns;
    model.layers.push_back(
        {printable(gradient->name), static_cast<std::uint64_t>(values), gradient->ns});
  }
  if (rounded)
    model.read_as += "; gradients rounded up to whole parameters";
  if (backward_ns <= 0 && iteration.forward_ns + iteration.step_ns > 0)
    refuse_file(path, "its backward pass takes no time: allowed is 1 ns or more");
  if (backward_ns <= 0) {  // the file is about communication alone
    model.read_as += "; no computation: 1 ns stands for it";
    backward_ns = 1;
    for (Layer& layer : model.layers)
      layer.forward_flop = 1;
  }
  model.times = IterationTimes{.forward_s = iteration.forward_ns * 1e-9,
                               .backward_s = backward_ns * 1e-9,
                               .step_s = iteration.step_ns * 1e-9};
  return model;
}

}  // namespace

std::uint64_t Model::parameters() const {
  return sum_of(layers, &Layer::parameters);
}

double Model::forward_flop() const {
  return sum_of(layers, &Layer::forward_flop);
}

double Model::attention_flop() const {
  return sum_of(layers, &Layer::attention_flop);
}

double Model::again_flop() const {
  return sum_of(layers, &Layer::again_flop);
}

std::optional<double> Model::tokens() const {
  const std::string begin = "sequence of ", end = " tokens";
  if (!sample.starts_with(begin) || sample.find(end) == std::string::npos)
    return std::nullopt;
  return number_in(sample.substr(begin.size(), sample.find(end) - begin.size()));
}

bool Model::keeps_no_scores() const {
  return sum_of(layers, &Layer::activation_bytes) > 0 &&
         sum_of(layers, &Layer::attention_bytes) == 0;
}

Model read_model(const std::string& path, int value_bytes) {
  constexpr std::size_t most_file_bytes = 64'000'000;
  std::string text = text_of_file(path, most_file_bytes);
  const bool is_recorded = is_recorded_chakra(text);
  if (!is_recorded && text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);
  if (const std::string what = foreign_file(text, "model"); !what.empty())
    refuse_file(path, "{}", what);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  if (!is_recorded && !is_json && !is_astra_workload(text))
    return read_csv_model(path);
  Model model = model_of(is_recorded ? read_recorded_chakra(path, text)
                         : is_json   ? read_chakra(path, text)
                                     : read_astra_workload(path),
                         path, value_bytes);
  check_sums(model, path);
  return model;
}

}  // namespace syncline
