#include "sim/setup/model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

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

// Merges neighbours: `joins[i]` means that tensor i (in backward order) is in the bucket of tensor
// i + 1.
std::vector<Bucket> bucketed(const std::vector<Layer>& backward, const std::vector<bool>& joins) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (!open)
      buckets.push_back({.index = static_cast<int>(buckets.size()), .first = backward[i].name});
    Bucket& bucket = buckets.back();
    bucket.parameters += backward[i].parameters;
    bucket.forward_flop += backward[i].forward_flop;
    bucket.again_flop += backward[i].again_flop;
    ++bucket.tensors;
    bucket.last = backward[i].name;
    open = joins[i];
  }
  return buckets;
}

// The block of a tensor: "h.0" for "h.0.attn.weight". The name up to the first number, if more than
// one word follows. Empty: the tensor is in no block.
std::string block_of(const std::string& tensor) {
  const std::vector<std::string> words = split(tensor, '.');
  std::string block;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    block += (i > 0 ? "." : "") + words[i];
    if (i > 0 && !words[i].empty() && words[i].find_first_not_of("0123456789") == std::string::npos)
      return block;
  }
  return {};
}

bool shows_blocks(const Model& model) {
  std::string first;
  for (const Layer& layer : model.layers)
    if (const std::string block = block_of(layer.name); !block.empty()) {
      if (!first.empty() && block != first)
        return true;
      first = block;
    }
  return false;
}

constexpr double parameters_of_a_part = 1e8;

int parts_of(const Model& model, std::optional<int> parts) {
  return parts.value_or(
      static_cast<int>(std::ceil(static_cast<double>(model.parameters()) / parameters_of_a_part)));
}

template <class Number>
Number sum_of(const std::vector<Layer>& layers, Number Layer::*member) {
  Number sum = 0;
  for (const Layer& layer : layers)
    sum += layer.*member;
  return sum;
}

std::vector<Layer> in_backward_order(const Model& model) {
  return {model.layers.rbegin(), model.layers.rend()};
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
  });
  if (model.layers.empty())
    refuse_file(path, "a model needs at least one layer");
  check_sums(model, path);
  const std::string* declared = csv.about("parameters");
  if (declared != nullptr && *declared != std::to_string(model.parameters()))
    refuse_file(path, "its layers have {} parameters, but its header declares {}",
                model.parameters(), brief(*declared));
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

std::vector<Bucket> fused_buckets(const Model& model, const Fusion& fusion, int value_bytes) {
  const std::vector<Layer> backward = in_backward_order(model);
  if (fusion.kind == Fusion::Kind::all)
    return bucketed(backward, std::vector<bool>(backward.size(), true));
  std::vector<bool> joins(backward.size(), false);
  double filled = 0;
  double limit = fusion.first_bytes.value_or(fusion.bytes);
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    filled += static_cast<double>(backward[i].parameters) * value_bytes;
    const double next = static_cast<double>(backward[i + 1].parameters) * value_bytes;
    joins[i] = fusion.closes_after ? filled < limit : filled + next <= limit;
    if (!joins[i]) {
      filled = 0;
      limit = fusion.bytes;
    }
  }
  return bucketed(backward, joins);
}

std::vector<Bucket> unit_buckets(const Model& model, std::optional<int> parts) {
  const std::vector<Layer> backward = in_backward_order(model);
  const bool by_block = !parts && shows_blocks(model);
  const double part = static_cast<double>(model.parameters()) / parts_of(model, parts);
  const auto unit_of = [&](const Layer& layer, double before) {
    return std::floor((before + static_cast<double>(layer.parameters) / 2) / part);
  };
  std::vector<bool> joins(backward.size(), false);
  double before = 0;
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    const double next = before + static_cast<double>(backward[i].parameters);
    joins[i] = by_block ? block_of(backward[i].name) == block_of(backward[i + 1].name)
                        : unit_of(backward[i], before) == unit_of(backward[i + 1], next);
    before = next;
  }
  return bucketed(backward, joins);
}

std::string describe_units(const Model& model, std::optional<int> parts) {
  if (parts)
    return "of equal size, about";
  return shows_blocks(model) ? "as tensors' names show blocks"
                             : "of up to 100 million parameters, as names show no blocks";
}

std::vector<Bucket> cycled_buckets(const Model& model, const Fusion& fusion, int value_bytes,
                                   const std::vector<double>& ready_s) {
  const std::vector<Layer> backward = in_backward_order(model);
  // A gradient that is ready at the end of a cycle is in time for it.
  const auto end_of_cycle = [&](std::size_t i) {
    constexpr double rounding = 1e-9;
    return std::max(1.0, std::ceil(ready_s[i] / fusion.cycle_s - rounding)) * fusion.cycle_s;
  };
  std::vector<bool> joins(backward.size(), false);
  double filled = 0;
  for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
    filled += static_cast<double>(backward[i].parameters) * value_bytes;
    const double next = static_cast<double>(backward[i + 1].parameters) * value_bytes;
    joins[i] = end_of_cycle(i) == end_of_cycle(i + 1) && filled + next <= fusion.bytes;
    if (!joins[i])
      filled = 0;
  }
  std::vector<Bucket> buckets = bucketed(backward, joins);
  std::size_t last = 0;
  for (Bucket& bucket : buckets) {
    last += static_cast<std::size_t>(bucket.tensors);
    bucket.waits_s = std::max(0.0, end_of_cycle(last - 1) - ready_s[last - 1]);
  }
  return buckets;
}

std::vector<Bucket> merged_buckets(const Model& model, int value_bytes, double backward_s,
                                   double startup_s, double seconds_per_byte,
                                   double compress_seconds_per_byte) {
  const std::vector<Layer> backward = in_backward_order(model);
  const std::size_t n = backward.size();
  const double flop = model.forward_flop();

  // When each gradient has been computed and compressed, in seconds from the start of backward.
  std::vector<double> ready(n);
  double elapsed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    elapsed +=
        backward_s * backward[i].forward_flop / flop +
        static_cast<double>(backward[i].parameters) * value_bytes * compress_seconds_per_byte;
    ready[i] = elapsed;
  }
  // ended[i] is the earliest time at which the first i gradients can have been exchanged; their
  // last bucket then begins with gradient began[i]. A bucket with gradients `first` to i - 1 sets
  // out when its last gradient is ready and the exchange of all gradients before `first` has ended.
  // Among the candidates for `first` whose exchange before ends in time, the last is the best,
  // because its bucket is the smallest. The others wait in a queue, compared by their end without
  // their own bytes; one that is no better than a later one leaves. `ended` and `ready` never fall,
  // so each enters once and leaves once: a model may have `most_layers` tensors.
  std::vector<double> ended(n + 1, 0);
  std::vector<std::size_t> began(n + 1, 0);
  std::vector<double> bytes(n + 1, 0);  // of the first i gradients
  std::deque<std::size_t> waiting;
  const auto without_bytes = [&](std::size_t first) {
    return ended[first] - bytes[first] * seconds_per_byte;
  };
  std::size_t in_time = 0;  // the last `first` for which no gradient waits
  for (std::size_t i = 1; i <= n; ++i) {
    bytes[i] = bytes[i - 1] + static_cast<double>(backward[i - 1].parameters) * value_bytes;
    while (!waiting.empty() && without_bytes(waiting.back()) >= without_bytes(i - 1))
      waiting.pop_back();
    waiting.push_back(i - 1);
    while (in_time + 1 < i && ended[in_time + 1] <= ready[i - 1])
      ++in_time;
    while (!waiting.empty() && waiting.front() <= in_time)
      waiting.pop_front();
    ended[i] = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::size_t first) {
      const double end = std::max(ended[first], ready[i - 1]) + startup_s +
                         (bytes[i] - bytes[first]) * seconds_per_byte;
      if (end < ended[i] || (end == ended[i] && first > began[i])) {
        ended[i] = end;
        began[i] = first;
      }
    };
    consider(in_time);
    if (!waiting.empty())
      consider(waiting.front());
  }
  std::vector<bool> joins(n, true);
  for (std::size_t end = n; end > 0; end = began[end])
    joins[end - 1] = false;
  return bucketed(backward, joins);
}

void deal_tensors(const Model& model, int servers, std::vector<Bucket>& buckets) {
  std::size_t tensor = model.layers.size();
  for (Bucket& bucket : buckets) {
    bucket.parts.assign(index(servers), {});
    for (int i = 0; i < bucket.tensors; ++i) {
      ServerPart& part = bucket.parts[--tensor % index(servers)];
      part.parameters += model.layers[tensor].parameters;
      ++part.tensors;
    }
    std::uint64_t before = 0;
    for (ServerPart& part : bucket.parts)
      part.before = std::exchange(before, before + part.parameters);
  }
}

void count_small_tensors(const Model& model, std::uint64_t below, std::vector<Bucket>& buckets) {
  auto layer = model.layers.rbegin();
  for (Bucket& bucket : buckets)
    for (int i = 0; i < bucket.tensors; ++i, ++layer)
      if (layer->parameters < below)
        bucket.small_parameters += layer->parameters;
}

}  // namespace syncline
