// The results of a run that learns, as part of its trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The parameters at one moment, evaluated outside simulated time.
struct CurvePoint {
  double seconds = 0;     // simulated
  double samples = 0;     // samples whose gradients have been applied
  double bytes = 0;       // sent by all
  double iterations = 0;  // gradients applied / workers
  double loss = 0;        // the objective over all training data
  double accuracy = 0;    // on held-out data
  double train_accuracy = 0;
  double heldout_loss = 0;
};

// A part of a worker's gradient that a server applied. Recorded for servers that answer every push,
// in the order of simulated time, where messages are kept.
struct AppliedPiece {
  int server = 0;
  int bucket = 0;
  int piece = 0;  // number within the bucket
  int worker = 0;
  int iteration = 0;
  int together = 1;  // gradients, this one included, whose mean was one update
};

// The parameters at which a worker computed an iteration's gradient: the piece after `version`
// applications, and the worker's own updates from iteration `own` on. Recorded as AppliedPiece.
struct ReadPiece {
  int worker = 0;
  int iteration = 0;
  int server = 0;
  int bucket = 0;
  int piece = 0;
  std::int64_t version = 0;
  int own = 0;
};

// What compression lost in the workers' messages of gradients, against the bounds in papers: means
// over the messages. A bound is none unless a paper states one for every message.
struct Compressed {
  int iteration = -1;  // of the messages; -1: all
  std::int64_t messages = 0;
  double values = 0;  // that were compressed
  // Nonzero after decoding; in messages of a fixed size at most as many as they were asked to send.
  double sent_values = 0;
  double empty = 0;  // fraction of the messages that sent no values
  double least_sent_values = 0, most_sent_values = 0;  // of one message
  double left_out = 0;  // |u - sent|^2 / |u|^2, where u is the vector that was compressed
  double bits_per_value = 0;
  std::optional<double> target_values;  // that messages were asked to send
  std::optional<double> left_out_bound;
  std::optional<double> left_out_bound_squared;  // (1 - k/d)^2, where left_out_bound is 1 - k/d
  std::optional<double> bits_bound;              // per value
};

// Values that a worker compressed in one iteration, with a distance from the mean between `from`
// and `to` standard deviations: as a fraction of all its values, and the fraction there would be in
// a normal distribution with the same mean and deviation.
struct HistogramBin {
  int iteration = 0;
  std::optional<double> from, to;  // none: the bin is open on this side
  double share = 0;                // of the values
  double square_share = 0;         // of the sum of their squares
  double normal_share = 0;
  double normal_square_share = 0;
};

struct Learned {
  std::vector<CurvePoint> curve;   // from the initial parameters to the last ones, or to the target
  std::optional<double> target_s;  // when `until` was first met on the curve
  std::optional<double> diverged_s;  // when the loss was first not finite, or 1,000 times as large
  std::string data;                  // its source
  std::uint64_t parameters = 0;
  double epoch_samples = 0;
  std::optional<double> least_loss;  // if the problem knows it
  int workers_without_samples = 0;   // workers that use a sample of another worker's

  std::vector<AppliedPiece> applied;
  std::vector<ReadPiece> reads;
  // Only where messages are kept: the parameters that the curve is about, and those of each worker
  // where workers have their own.
  std::vector<float> parameters_at_end;
  std::vector<std::vector<float>> own_parameters_at_end;

  // Updates that parameters received between their read for a gradient and its application: the
  // mean over all values of all gradients; 0 where workers average.
  double effective_staleness = 0;

  Compressed compressed;                    // of all iterations
  std::vector<Compressed> each_compressed;  // by iteration, ascending
  std::vector<HistogramBin> histogram;      // by iteration, then ascending
};

}  // namespace syncline
