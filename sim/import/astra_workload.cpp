// Reads workload text of ASTRA-sim 1.0 (inputs/workload/README.md of its branch ASTRA-sim-1.0) and
// of SimAI, which has more words in the first line (aliyun/aicb,
// SimAI_training_workload_generator):
//
//   DATA | HYBRID_TRANSFORMER... model_parallel_NPU_group: 1 ...
//   number of layers
//   name -1  forward ns, collective, bytes  input gradient: the same  weight gradient: the same  ns
//
// The last field is the delay of the update after a layer's collective. Data-parallel groups add
// the weight gradients; the other collectives belong to tensor and expert parallelism.
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"
#include "sim/import/imported_model.h"

namespace syncline {
namespace {

constexpr std::size_t fields = 12;
constexpr double most_ns = 1e16;  // 1e7 s: more is refused later, on any host

const std::string data = "DATA";
// These kinds have loops beyond data parallelism, which have no counterpart here.
const std::vector<std::string> other_parallelism{"MODEL",
                                                 "MICRO",
                                                 "HYBRID_DATA_MODEL",
                                                 "HYBRID_MODEL_DATA",
                                                 "HYBRID_DLRM",
                                                 "HYBRID_DLRM_ENHANCED",
                                                 "HYBRID_CUSTOMIZED",
                                                 "DISTRIBUTED_INFERENCE"};
const std::vector<std::string> transformer{"HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

double whole(const std::string& name, const std::string& text, double minimum, double maximum) {
  return checked_number({.name = name, .minimum = minimum, .maximum = maximum, .whole = true},
                        text);
}

// Computation and collective of one row: of forward, input gradient or weight gradient.
struct LayerPhase {
  double ns = 0;
  std::string collective;  // without the suffix for its group
  std::string group;       // "", "EP" or "DP_EP"
  double bytes = 0;

  bool sends() const { return collective != "NONE" && bytes > 0; }
};

LayerPhase phase_of(const std::string& name, const std::string* words) {
  LayerPhase phase{.ns = whole(name + " time", words[0], 0, most_ns),
                   .collective = words[1],
                   .bytes = whole(name + " bytes", words[2], 0, most_message_bytes)};
  for (const std::string group : {"DP_EP", "EP"})
    if (phase.collective.ends_with("_" + group)) {
      phase.collective.resize(phase.collective.size() - group.size() - 1);
      phase.group = group;
      break;
    }
  static const std::vector<std::string> known{"NONE",          "ALLREDUCE", "ALLGATHER",
                                              "REDUCESCATTER", "ALLTOALL",  "ALLREDUCEALLTOALL",
                                              "BROADCAST"};
  if (std::ranges::count(known, phase.collective) == 0)
    refuse("{} collective = {}: allowed are {}", name, brief(words[1]), listed(known));
  return phase;
}

// Reads the lines, and turns the rows into an iteration.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  ImportedIteration read() {
    read_lines(path_, [&](const TextLine& line) {
      const std::vector<std::string> words = words_of(line.text);
      if (words.empty())
        return;
      try {
        see(words);
      } catch (const std::invalid_argument& error) {
        refuse_at(path_, line.number, error.what());
      }
    });
    if (rows_.size() != layers_ || !counted_)
      refuse_file(path_, "{} layers, but the second line announces {}", rows_.size(), layers_);
    return iteration();
  }

 private:
  struct Row {
    std::string name;
    LayerPhase forward;
    LayerPhase input;
    LayerPhase weight;
    double update_ns = 0;
  };

  void see(const std::vector<std::string>& words) {
    if (parallelism_.empty()) {
      see_first_line(words);
    } else if (!counted_) {
      if (words.size() != 1)
        refuse("{} words: allowed is the number of layers alone", words.size());
      layers_ = static_cast<std::size_t>(whole("number of layers", words[0], 1, 100'000));
      counted_ = true;
    } else {
      see_layer(words);
    }
  }

  void see_first_line(const std::vector<std::string>& words) {
    parallelism_ = words[0];
    if (parallelism_ != data && std::ranges::count(transformer, parallelism_) == 0)
      refuse("{} is not simulated: allowed are DATA, and {} without other parallelism",
             parallelism_, listed(transformer));
    if (parallelism_ == data) {
      if (words.size() > 1)
        refuse("'{}' after DATA: allowed is nothing", brief(words[1]));
      return;
    }
    bool has_group = false;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      std::string key = words[i];
      if (key.ends_with(":"))
        key.pop_back();
      static const std::vector<std::string> counts{
          "model_parallel_NPU_group", "ep", "expert_parallel_npu_group", "pp", "checkpoints",
          "checkpoint_initiates"};
      // These belong to pipelines and to the whole cluster, which the scenario chooses.
      static const std::vector<std::string> without_meaning{"vpp", "ga", "all_gpus", "pp_comm"};
      const bool counts_something = std::ranges::count(counts, key) > 0;
      if (!counts_something && std::ranges::count(without_meaning, key) == 0)
        refuse("'{}': allowed are {}, {}", brief(words[i]), listed(counts),
               listed(without_meaning));
      if (i + 1 == words.size())
        refuse("{} has no value", key);
      if (!counts_something)
        continue;
      const double value = whole(key, words[i + 1], 0, 1e9);
      has_group = has_group || key == "model_parallel_NPU_group";
      if (key == "model_parallel_NPU_group")
        tensor_group_ = value;
      else if ((key == "ep" || key == "expert_parallel_npu_group" || key == "pp") && value > 1)
        refuse("{} = {}: {} not simulated; allowed is 1", key, words[i + 1],
               key == "pp" ? "pipelines are" : "expert parallelism is");
      else if (key.starts_with("checkpoint") && value > 0)
        refuse("{} = {}: forward within backward is not simulated; allowed is 0", key,
               words[i + 1]);
    }
    if (!has_group)
      refuse("{} has no model_parallel_NPU_group: allowed is model_parallel_NPU_group: NUMBER",
             parallelism_);
  }

  void see_layer(const std::vector<std::string>& words) {
    if (rows_.size() == layers_)
      refuse("a line after the {} layers that the second line announces", layers_);
    if (words.size() != fields)
      refuse(
          "{} fields: allowed are 12, name, a reserved one, (time, collective, bytes) of forward, "
          "input gradient and weight gradient, and the update's time",
          words.size());
    Row row{.name = words[0],
            .forward = phase_of("forward", &words[2]),
            .input = phase_of("input gradient", &words[5]),
            .weight = phase_of("weight gradient", &words[8]),
            .update_ns = whole("update time", words[11], 0, most_ns)};
    require_alone("forward", row.forward);
    require_alone("input gradient", row.input);
    if (row.weight.group == "EP")
      row.weight.bytes = 0;  // expert groups of one send nothing
    if (row.weight.sends() && row.weight.collective != "ALLREDUCE" &&
        row.weight.collective != "REDUCESCATTER" && row.weight.collective != "ALLGATHER")
      refuse(
          "weight gradient {} of {} bytes is not simulated: allowed are NONE, ALLREDUCE, and "
          "REDUCESCATTER and ALLGATHER as halves of it",
          row.weight.collective, number_text(row.weight.bytes));
    rows_.push_back(std::move(row));
  }

  // Checks a collective of tensor parallelism, which sends nothing only in groups of one.
  void require_alone(const std::string& name, const LayerPhase& phase) {
    if (!phase.sends())
      return;
    if (parallelism_ == data || phase.group == "DP_EP" ||
        (tensor_group_ > 1 && phase.group.empty()))
      refuse(
          "{} {} of {} bytes is not simulated: allowed is NONE, as only gradients of weights are "
          "exchanged",
          name, phase.collective, number_text(phase.bytes));
    ++alone_;
  }

  ImportedIteration iteration() const {
    ImportedIteration iteration;
    int halves = 0;
    double since = 0;
    for (const Row& row : rows_)
      iteration.forward_ns += row.forward.ns;
    for (std::size_t i = rows_.size(); i-- > 0;) {
      const Row& row = rows_[i];
      // DATA computes a layer's weight gradient first, and no input gradient for the first layer.
      since += row.weight.ns + (parallelism_ == data ? 0 : row.input.ns);
      if (row.weight.sends()) {
        const bool half = row.weight.collective != "ALLREDUCE";
        halves += half ? 1 : 0;
        iteration.gradients.push_back(
            {row.name, row.weight.bytes / (half ? 2 : 1), std::exchange(since, 0)});
        iteration.step_ns += row.update_ns;
      }
      if (parallelism_ == data && i > 0)
        since += row.input.ns;
    }
    iteration.rest_ns = since;
    iteration.read_as = "ASTRA-sim 1.0 / SimAI workload (" + parallelism_ + "), times in ns";
    if (iteration.step_ns > 0)
      iteration.read_as +=
          fmt::format("; updates of {} ns together follow communication one after the other",
                      number_text(iteration.step_ns));
    if (halves > 0)
      iteration.read_as += fmt::format(
          "; reduce-scatters and all-gathers ({}) count as halves of an all-reduce, which send as "
          "much",
          halves);
    if (alone_ > 0)
      iteration.read_as += fmt::format(
          "; collectives of model-parallel groups of one, which send nothing: {}", alone_);
    return iteration;
  }

  std::string path_;
  std::string parallelism_;
  double tensor_group_ = 1;
  bool counted_ = false;
  std::size_t layers_ = 0;
  std::vector<Row> rows_;
  int alone_ = 0;
};

// True if the first line is one word in capitals and the second line is one number.
bool begins_like_a_workload(std::string_view text) {
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view words = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!words.empty() && (words.back() == '\r' || words.back() == ' '))
      words.remove_suffix(1);
    return words;
  };
  const std::string_view word = line();
  const std::string_view number = line();
  return !word.empty() && !number.empty() &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool is_astra_workload(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
  const std::string word(text.substr(begin, end - begin));
  return word == data || std::ranges::count(transformer, word) > 0 ||
         std::ranges::count(other_parallelism, word) > 0 || begins_like_a_workload(text);
}

ImportedIteration read_astra_workload(const std::string& path) {
  return Reader(path).read();
}

}  // namespace syncline
