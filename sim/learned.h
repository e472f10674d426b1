// What a run that learns has come to: a part of its trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The parameters at one moment, evaluated outside simulated time.
struct CurvePoint {
  double seconds = 0;     // simulated
  double samples = 0;     // whose gradients have been applied
  double bytes = 0;       // that all have sent
  double iterations = 0;  // gradients applied / workers
  double loss = 0;        // the objective over all training data
  double accuracy = 0;    // held out
  double train_accuracy = 0;
  double heldout_loss = 0;
};

// With servers that answer every push, in the order of simulated time, kept where messages are:
// what a server applied of a worker's gradient of an iteration, ...
struct AppliedPiece {
  int server = 0;
  int bucket = 0;
  int piece = 0;  // of the bucket
  int worker = 0;
  int iteration = 0;
};

// ... and which parameters a worker computed an iteration's gradient at: the piece after so many
// applications, and the worker's own updates from iteration `own` on.
struct ReadPiece {
  int worker = 0;
  int iteration = 0;
  int server = 0;
  int bucket = 0;
  int piece = 0;
  std::int64_t version = 0;
  int own = 0;
};

struct Learned {
  std::vector<CurvePoint> curve;     // from the initial parameters to the last ones, or the target
  std::optional<double> target_s;    // when `until` was first met, if it was asked for
  std::optional<double> diverged_s;  // when the loss was first not a finite number
  std::string data;                  // where it comes from
  std::uint64_t parameters = 0;
  double epoch_samples = 0;
  std::optional<double> least_loss;  // where the problem knows it

  std::vector<AppliedPiece> applied;
  std::vector<ReadPiece> reads;
  std::vector<float> parameters_at_end;  // kept where messages are

  // Of what workers compressed: means over their messages; 0 without any.
  std::int64_t messages = 0;
  double left_out = 0;  // |u - sent|^2 / |u|^2, where u is what was compressed
  double bits_per_value = 0;
};

}  // namespace syncline
