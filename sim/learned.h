// A run that learns has come to this, which is in its trace.
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
  int together = 1;  // with so many gradients, this one among them, whose mean was one update
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

// Workers' messages of gradients lost this, against what papers say that they may: means over these
// messages. Where a paper says nothing of each of them, there is none.
struct Compressed {
  int iteration = -1;  // whose messages these are; -1: all
  std::int64_t messages = 0;
  double values = 0;  // that were compressed
  double sent_values =
      0;             // and not zero in what everybody sees of them, or in what stands for that
  double empty = 0;  // the part of the messages that sent none
  double least_sent_values = 0, most_sent_values = 0;  // of one message
  double left_out = 0;  // |u - sent|^2 / |u|^2, where u is what was compressed
  double bits_per_value = 0;
  std::optional<double> target_values;  // that it was asked to send
  std::optional<double> left_out_bound;
  std::optional<double> left_out_bound_squared;  // (1 - k/d)^2, where the other is 1 - k/d
  std::optional<double> bits_bound;              // per value
};

// A bin holds what a worker compressed in one iteration with a distance from the mean between
// `from` and `to` standard deviations: the fraction of its values, and the fraction that it would
// be if all were normally distributed with this mean and deviation.
struct HistogramBin {
  int iteration = 0;
  std::optional<double> from, to;  // none: no end
  double share = 0;                // of the values
  double square_share = 0;         // of the sum of their squares
  double normal_share = 0;
  double normal_square_share = 0;
};

struct Learned {
  std::vector<CurvePoint> curve;     // from the initial parameters to the last ones, or the target
  std::optional<double> target_s;    // the first point of it at which `until` was met
  std::optional<double> diverged_s;  // when the loss was first none, or 1,000 times as large
  std::string data;                  // where it comes from
  std::uint64_t parameters = 0;
  double epoch_samples = 0;
  std::optional<double> least_loss;  // where the problem knows it
  int workers_without_samples = 0;   // of their own: each has one of another's

  std::vector<AppliedPiece> applied;
  std::vector<ReadPiece> reads;
  std::vector<float> parameters_at_end;  // kept where messages are

  // Updates of a part of the parameters between being read and a gradient of it being applied: the
  // mean over all values of all gradients; 0 where workers average.
  double effective_staleness = 0;

  Compressed compressed;                    // all that workers compressed
  std::vector<Compressed> each_compressed;  // by iteration, ascending
  std::vector<HistogramBin> histogram;      // by iteration, then ascending
};

}  // namespace syncline
