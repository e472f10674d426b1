#include "tests/laws/packed_learned.h"

#include <istream>
#include <ostream>

namespace syncline {
namespace {

constexpr double none = -1, no_end = 99;  // stand for missing values

void pack(const Compressed& means, std::ostream& out) {
  out << means.messages << ' ' << means.values << ' ' << means.sent_values << ' '
      << means.least_sent_values << ' ' << means.most_sent_values << ' ' << means.left_out << ' '
      << means.bits_per_value << ' ' << means.target_values.value_or(none) << ' '
      << means.left_out_bound.value_or(none) << ' ' << means.left_out_bound_squared.value_or(none)
      << ' ' << means.bits_bound.value_or(none) << '\n';
}

std::optional<double> unpack_optional(std::istream& in, double absent) {
  double value = 0;
  in >> value;
  return value == absent ? std::nullopt : std::optional(value);
}

Compressed unpack_compressed(std::istream& in) {
  Compressed means;
  in >> means.messages >> means.values >> means.sent_values >> means.least_sent_values >>
      means.most_sent_values >> means.left_out >> means.bits_per_value;
  means.target_values = unpack_optional(in, none);
  means.left_out_bound = unpack_optional(in, none);
  means.left_out_bound_squared = unpack_optional(in, none);
  means.bits_bound = unpack_optional(in, none);
  return means;
}

}  // namespace

void pack(const Learned& learned, std::ostream& out) {
  out.precision(17);
  out << learned.curve.size() << ' ' << learned.applied.size() << ' ' << learned.reads.size() << ' '
      << learned.parameters_at_end.size() << ' ' << learned.target_s.value_or(-1) << ' '
      << learned.diverged_s.value_or(-1) << ' ' << learned.effective_staleness << ' '
      << learned.each_compressed.size() << ' ' << learned.histogram.size() << ' '
      << learned.workers_without_samples << ' ' << learned.own_parameters_at_end.size() << '\n';
  pack(learned.compressed, out);
  for (const Compressed& row : learned.each_compressed) {
    out << row.iteration << ' ';
    pack(row, out);
  }
  for (const HistogramBin& bin : learned.histogram)
    out << bin.iteration << ' ' << bin.from.value_or(no_end) << ' ' << bin.to.value_or(no_end)
        << ' ' << bin.share << ' ' << bin.square_share << ' ' << bin.normal_share << ' '
        << bin.normal_square_share << '\n';
  for (const CurvePoint& point : learned.curve)
    out << point.seconds << ' ' << point.samples << ' ' << point.bytes << ' ' << point.iterations
        << ' ' << point.loss << ' ' << point.accuracy << ' ' << point.train_accuracy << ' '
        << point.heldout_loss << '\n';
  for (const AppliedPiece& piece : learned.applied)
    out << piece.server << ' ' << piece.bucket << ' ' << piece.piece << ' ' << piece.worker << ' '
        << piece.iteration << ' ' << piece.together << '\n';
  for (const ReadPiece& piece : learned.reads)
    out << piece.worker << ' ' << piece.iteration << ' ' << piece.server << ' ' << piece.bucket
        << ' ' << piece.piece << ' ' << piece.version << ' ' << piece.own << '\n';
  for (const float value : learned.parameters_at_end)
    out << value << '\n';
  for (const std::vector<float>& own : learned.own_parameters_at_end)
    for (const float value : own)
      out << value << '\n';
}

std::optional<Learned> unpack_learned(std::istream& in) {
  Learned learned;
  std::size_t points = 0;
  std::size_t applied = 0;
  std::size_t reads = 0;
  std::size_t parameters = 0;
  double target_s = 0;
  double diverged_s = 0;
  std::size_t iterations = 0;
  std::size_t bins = 0;
  std::size_t own = 0;
  if (!(in >> points >> applied >> reads >> parameters >> target_s >> diverged_s >>
        learned.effective_staleness >> iterations >> bins >> learned.workers_without_samples >>
        own))
    return std::nullopt;
  learned.compressed = unpack_compressed(in);
  learned.each_compressed.resize(iterations);
  for (Compressed& row : learned.each_compressed) {
    int iteration = 0;
    in >> iteration;
    row = unpack_compressed(in);
    row.iteration = iteration;
  }
  learned.histogram.resize(bins);
  for (HistogramBin& bin : learned.histogram) {
    in >> bin.iteration;
    bin.from = unpack_optional(in, no_end);
    bin.to = unpack_optional(in, no_end);
    in >> bin.share >> bin.square_share >> bin.normal_share >> bin.normal_square_share;
  }
  if (target_s >= 0)
    learned.target_s = target_s;
  if (diverged_s >= 0)
    learned.diverged_s = diverged_s;
  learned.curve.resize(points);
  for (CurvePoint& point : learned.curve)
    in >> point.seconds >> point.samples >> point.bytes >> point.iterations >> point.loss >>
        point.accuracy >> point.train_accuracy >> point.heldout_loss;
  learned.applied.resize(applied);
  for (AppliedPiece& piece : learned.applied)
    in >> piece.server >> piece.bucket >> piece.piece >> piece.worker >> piece.iteration >>
        piece.together;
  learned.reads.resize(reads);
  for (ReadPiece& piece : learned.reads)
    in >> piece.worker >> piece.iteration >> piece.server >> piece.bucket >> piece.piece >>
        piece.version >> piece.own;
  learned.parameters_at_end.resize(parameters);
  for (float& value : learned.parameters_at_end)
    in >> value;
  learned.own_parameters_at_end.assign(own, std::vector<float>(parameters));
  for (std::vector<float>& values : learned.own_parameters_at_end)
    for (float& value : values)
      in >> value;
  return learned;
}

}  // namespace syncline
