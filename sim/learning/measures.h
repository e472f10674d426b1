// Measures, iteration by iteration, how much messages of gradients lose, and the distribution of
// the values that are compressed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kernels/compressor.h"
#include "sim/learned.h"

namespace syncline {

class Measures {
 public:
  // The most rows. In a longer run, each row stands for 2, 4, 8, ... iterations, beginning with its
  // own.
  static constexpr std::size_t most_rows = 10'000;

  // One message: its size and loss for a number of values, and the values that papers promise.
  struct MeasuredMessage {
    std::size_t values = 0;  // above 0
    std::size_t sent = 0;
    std::size_t bytes = 0;
    double left_out = 0;
    Promise promise;
  };

  // `watched`: the rank whose values the histograms count.
  explicit Measures(int watched) : watched_(watched) {}

  void add(int iteration, const MeasuredMessage& message);

  // True if a histogram includes this message's values: all messages of the first iteration that
  // the rank compresses, and of the second, third, fifth, ninth and so on. Call it once for each
  // message.
  bool watches(int rank, int iteration);
  void watch(int iteration, std::span<const float> values);

  Compressed all() const;
  std::vector<Compressed> iterations() const;
  std::vector<HistogramBin> histogram() const;

 private:
  // A sum over the messages that have a value.
  struct Optional {
    std::int64_t messages = 0;
    double sum = 0;

    Optional() = default;
    explicit Optional(const std::optional<double>& value)
        : messages(value ? 1 : 0), sum(value.value_or(0)) {}
    void add(const Optional& other);
  };
  struct Sums {
    std::int64_t messages = 0;
    double values = 0, sent = 0, empty = 0, left_out = 0, bits_per_value = 0;
    double least_sent = 0, most_sent = 0;
    Optional target, left_out_bound, left_out_bound_squared, bits_bound;

    Sums() = default;
    explicit Sums(const MeasuredMessage& message);
    void add(const Sums& other);
    Compressed means() const;
  };
  struct Bin {
    double values = 0, squares = 0, normal_values = 0, normal_squares = 0;
  };
  struct Histogram {
    double values = 0, squares = 0;
    std::vector<Bin> bins;
  };

  Sums all_;
  std::map<int, Sums> rows_;  // by the first iteration of the row
  int iterations_in_row_ = 1;

  int watched_;
  int last_watched_ = -1;        // iteration
  std::int64_t compressed_ = 0;  // iterations of the watched rank so far
  std::map<int, Histogram> histograms_;
};

}  // namespace syncline
