// A network to train: its gradient tensors in forward order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/scenario.h"

namespace syncline {

struct Layer {
  std::string name;
  std::uint64_t parameters = 0;
  double forward_flop = 0;    // per sample; ns of its backward if the model has times
  double attention_flop = 0;  // part of it: products of activations, which grow with the sequence
  double again_flop = 0;      // part of it: computed once more in backward
  // Bytes that forward keeps for backward, for a sample and in 16 bits; 0 in all layers: unknown.
  double activation_bytes = 0;
  double attention_bytes = 0;  // part of them: scores of pairs of tokens, and their results
  // Of the tensor as a matrix whose rows are its first dimension; 1: a vector; 0: unknown.
  std::uint64_t columns = 0;
};

// Other tools' files have times instead of flop: seconds of an iteration of one worker alone, with
// the batch for which they were taken.
struct IterationTimes {
  double forward_s = 0;
  double backward_s = 0;  // split over layers by `forward_flop`
  double step_s = 0;      // after communication

  double all_s() const { return forward_s + backward_s + step_s; }
};

struct Model {
  std::string name;
  std::string sample;  // one sample in words: "224x224 image"
  std::vector<Layer> layers;
  std::optional<IterationTimes> times;
  std::string read_as;  // another tool's format and assumptions, for results; empty: our CSV

  std::uint64_t parameters() const;
  double forward_flop() const;  // per sample
  double attention_flop() const;
  double again_flop() const;
  // Per sample, forward and backward. Backward has two matrix products where forward has one.
  double training_flop() const { return 3 * forward_flop(); }
  // Tokens of a sample; none if a sample is no sequence of tokens.
  std::optional<double> tokens() const;
  // True if activations are known and contain no scores of attention, as with FlashAttention.
  bool keeps_no_scores() const;
  bool has_shapes() const { return layers.front().columns > 0; }
};

// Reads a model (models/README.md): `layer,parameters,forward_flop` under a `# key: value` header;
// a Chakra trace, as recorded (.et) or as JSON, whose first character is {; or a workload text of
// ASTRA-sim 1.0 and SimAI, whose first word is one of its kinds of parallelism. Traces and
// workloads have bytes; a parameter is `value_bytes` of them. Throws std::runtime_error that names
// file and line, also if the sum differs from `# parameters`.
Model read_model(const std::string& path, int value_bytes = 4);

// Buckets by bytes, or one bucket for all tensors. A bucket has at most the limit, unless one
// tensor alone is larger. If fusion closes after the limit, each bucket grows until it reaches the
// limit.
std::vector<Bucket> fused_buckets(const Model& model, const Fusion& fusion, int value_bytes);

// Units of layers that move together: a bucket for each numbered block that the tensors' names show
// (`h.0.attn.weight` is in block h.0; more than one word must follow the number) and for each run
// of tensors between blocks. With `parts`: that many parts of equal size. If names show fewer than
// two blocks: equal parts of up to 100 million parameters, as by PyTorch's
// size_based_auto_wrap_policy.
std::vector<Bucket> unit_buckets(const Model& model, std::optional<int> parts);
// Describes which of these the units are.
std::string describe_units(const Model& model, std::optional<int> parts);
// Horovod's buckets: gradients that become ready in the same cycle are sent together, in buckets up
// to the limit, unless one tensor alone is larger. Cycles begin with backward; `ready_s` are
// seconds from there, for gradients in backward order.
std::vector<Bucket> cycled_buckets(const Model& model, const Fusion& fusion, int value_bytes,
                                   const std::vector<double>& ready_s);

// Merges neighbours so that the last exchange ends earliest, if exchanging b bytes takes
// `startup_s` + b * `seconds_per_byte` and exchanges follow each other. This is the aim of MG-WFBP
// (Shi, Chu, Li, INFOCOM 2019); here dynamic programming over the first gradients finds the
// optimum. `backward_s` is the whole backward pass. Compressing a byte of gradient delays this
// gradient and all later ones by `compress_seconds_per_byte` (OMGS-SGD, Shi et al., INFOCOM 2020).
std::vector<Bucket> merged_buckets(const Model& model, int value_bytes, double backward_s,
                                   double startup_s, double seconds_per_byte,
                                   double compress_seconds_per_byte = 0);

// Gives each server whole tensors, dealt round robin in forward order, as by TensorFlow's
// replica_device_setter.
void deal_tensors(const Model& model, int servers, std::vector<Bucket>& buckets);

// Sets the number of parameters of each bucket that are in tensors of fewer than `below`
// parameters, and the shapes of its other tensors if the model has them.
void sort_tensors(const Model& model, std::uint64_t below, std::vector<Bucket>& buckets);

}  // namespace syncline
