// A network to train, as the simulator sees it: its gradient tensors in forward order.
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
  double forward_flop = 0;    // per sample; where a model has times, ns of its backward instead
  double attention_flop = 0;  // of these: products of activations, which grow with the sequence
  double again_flop = 0;      // of these: computed once more in backward
  // That forward keeps for backward, of a sample and in 16 bits; 0 in all layers: it is not known.
  double activation_bytes = 0;
  double attention_bytes = 0;  // of these: scores of pairs of tokens, and what is made of them
};

// Other tools' files have these instead of flop: seconds of an iteration of one worker alone, of
// whatever batch they were taken with.
struct IterationTimes {
  double forward_s = 0;
  double backward_s = 0;  // split over layers as `forward_flop` is
  double step_s = 0;      // after communication

  double all_s() const { return forward_s + backward_s + step_s; }
};

struct Model {
  std::string name;
  std::string sample;  // what one sample is: "224x224 image"
  std::vector<Layer> layers;
  std::optional<IterationTimes> times;
  std::string read_as;  // another tool's format and what was assumed, for results; empty: our CSV

  std::uint64_t parameters() const;
  double forward_flop() const;  // per sample
  double attention_flop() const;
  double again_flop() const;
  // Per sample, of forward and backward, which has two matrix products where forward has one.
  double training_flop() const { return 3 * forward_flop(); }
  // How many a sample is; none where it is no sequence of tokens.
  std::optional<double> tokens() const;
  // Its activations are known, and attention's scores are none of them, as with FlashAttention.
  bool keeps_no_scores() const;
};

// Reads a model (models/README.md): `layer,parameters,forward_flop` under a `# key: value` header;
// a Chakra trace as JSON, whose first character is {; or a workload text of ASTRA-sim 1.0 and
// SimAI, whose first word is one of its kinds of parallelism. The last two have bytes, of which a
// parameter is `value_bytes`. Throws std::runtime_error that names file and line; also when the sum
// differs from `# parameters`.
Model read_model(const std::string& path, int value_bytes = 4);

// Buckets of bytes, or one of all: of at most so many, unless one tensor alone is larger; or, where
// fusion closes after, each until it has so many.
std::vector<Bucket> fused_buckets(const Model& model, const Fusion& fusion, int value_bytes);

// Units of layers that move together: a bucket for each numbered block that the tensors' names show
// (`h.0.attn.weight` is in block h.0, and has more than a number before its last word) and for each
// run of tensors between blocks; or so many parts of equal size. Names that show less than two
// blocks are cut into parts of 100 million parameters, as by PyTorch's size_based_auto_wrap_policy.
std::vector<Bucket> unit_buckets(const Model& model, std::optional<int> parts);
// Says which of these they are.
std::string describe_units(const Model& model, std::optional<int> parts);
// Horovod's: gradients that are there when a cycle ends, and were not when the one before did, go
// together, in buckets of at most so many bytes, unless one tensor alone is larger. Cycles begin
// with backward; `ready_s` are seconds from there, of gradients in backward order.
std::vector<Bucket> cycled_buckets(const Model& model, const Fusion& fusion, int value_bytes,
                                   const std::vector<double>& ready_s);

// Merges neighbours so that the last exchange ends earliest, if exchanging b bytes takes
// `startup_s`
// + b * `seconds_per_byte` and exchanges follow each other. This is the aim of MG-WFBP (Shi, Chu,
// Li, INFOCOM 2019); here dynamic programming over the first gradients finds the optimum.
// `backward_s` is the whole backward pass; compressing a byte of gradient delays this gradient and
// all later ones by `compress_seconds_per_byte` (OMGS-SGD, Shi et al., INFOCOM 2020).
std::vector<Bucket> merged_buckets(const Model& model, int value_bytes, double backward_s,
                                   double startup_s, double seconds_per_byte,
                                   double compress_seconds_per_byte = 0);

// Each server holds whole tensors, dealt round robin in forward order, as TensorFlow's
// replica_device_setter does.
void deal_tensors(const Model& model, int servers, std::vector<Bucket>& buckets);

// Sets how many parameters of each bucket are in tensors of fewer than `below`.
void count_small_tensors(const Model& model, std::uint64_t below, std::vector<Bucket>& buckets);

}  // namespace syncline
