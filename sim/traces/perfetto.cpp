#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "sim/report/stream_lanes.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

constexpr std::size_t most_links = 8;
constexpr std::size_t tracks_per_stream = 100'000;  // keeps the lanes of streams apart

std::int64_t in_ns(double s) {
  return std::llround(s * 1e9);
}

// Times in Chrome's format are in microseconds.
std::string in_us(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The track and the time at which a row is drawn.
struct Place {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::size_t track;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, std::ostream& out) : trace_(trace), out_(out) {}

  void write() {
    out_ << perfetto_begin;
    place_rows();
    name_ranks();
    for (const std::size_t i : order_)
      slice(i);
    for (std::size_t i = 0; i < trace_.messages.size(); ++i)
      arrow(i);
    links();
    staleness();
    out_ << "\n]}\n";
  }

 private:
  void place_rows() {
    order_ = in_order(trace_);
    places_.resize(trace_.rows.size());
    std::map<std::tuple<int, Stream, int>, Lanes> streams;
    for (const std::size_t i : order_) {
      const Row& row = trace_.rows[i];
      Place place{.start_ns = in_ns(row.start_s), .end_ns = in_ns(row.end_s), .track = 0};
      const std::size_t lane = streams[{row.rank, row.stream, row.stage}].place(
          static_cast<double>(place.start_ns), static_cast<double>(place.end_ns));
      const auto kind = static_cast<std::size_t>(row.stream) * 1000 + row.stage;
      place.track = kind * tracks_per_stream + lane;
      places_[i] = place;
      tracks_[{row.rank, place.track}] = name_of(row.stream, static_cast<int>(row.stage + lane));
    }
  }

  void name_ranks() {
    for (std::size_t rank = 0; rank < trace_.rank_names.size(); ++rank)
      name("process", rank, 0, trace_.rank_names[rank], rank);
    for (const auto& [track, stream] : tracks_)
      name("thread", static_cast<std::size_t>(track.first), track.second, stream, track.second);
    name("process", counters(), 0, "cluster", counters());
  }

  void name(const char* what, std::size_t rank, std::size_t track, const std::string& text,
            std::size_t place) {
    begin("M", rank, track);
    out_ << ",\"name\":\"" << what << "_name\",\"args\":{\"name\":" << quoted(text) << "}}";
    begin("M", rank, track);
    out_ << ",\"name\":\"" << what << "_sort_index\",\"args\":{\"sort_index\":" << place << "}}";
  }

  void slice(std::size_t i) {
    const Row& row = trace_.rows[i];
    const Place& place = places_[i];
    begin("X", static_cast<std::size_t>(row.rank), place.track);
    out_ << ",\"ts\":" << in_us(place.start_ns)
         << ",\"dur\":" << in_us(place.end_ns - place.start_ns) << ",\"name\":\""
         << name_of(row.verb) << "\",\"args\":{\"bucket\":" << row.bucket
         << ",\"iteration\":" << row.iteration << ",\"bytes_sent\":" << row.bytes_sent
         << ",\"bytes_received\":" << row.bytes_received;
    if (row.version >= 0)
      out_ << ",\"version\":" << row.version;
    if (row.worker >= 0)
      out_ << ",\"worker\":" << row.worker;
    out_ << "}}";
  }

  // Draws an arrow for a message. Both its ends must be inside slices with a length. Messages
  // within a host move nothing and have no arrow.
  void arrow(std::size_t number) {
    const TracedMessage& message = trace_.messages[number];
    if (message.bytes == 0 || message.sender_row < 0 || message.receiver_row < 0)
      return;
    const Place& from = places_[static_cast<std::size_t>(message.sender_row)];
    const Place& to = places_[static_cast<std::size_t>(message.receiver_row)];
    if (from.start_ns >= from.end_ns || to.start_ns >= to.end_ns)
      return;
    const std::int64_t sent_ns = std::clamp(in_ns(message.sent_s), from.start_ns, from.end_ns - 1);
    const std::int64_t arrived_ns =
        std::clamp(in_ns(message.arrived_s), to.start_ns, to.end_ns - 1);
    if (arrived_ns < sent_ns)  // shorter than a nanosecond
      return;
    const auto end = [&](const char* phase, int rank, const Place& place, std::int64_t ns) {
      begin(phase, static_cast<std::size_t>(rank), place.track);
      out_ << ",\"ts\":" << in_us(ns)
           << ",\"cat\":\"message\",\"name\":\"message\",\"id\":" << number;
    };
    end("s", message.from, from, sent_ns);
    out_ << "}";
    end("f", message.to, to, arrived_ns);
    out_ << ",\"bp\":\"e\"}";
  }

  void links() {
    std::vector<const LinkUse*> busiest;
    for (const LinkUse& link : trace_.links)
      if (!link.sampled_bytes.empty())
        busiest.push_back(&link);
    std::ranges::stable_sort(busiest, {}, [](const LinkUse* link) {
      return -link->measured_bytes / link->bandwidth.mean_Bps();
    });
    busiest.resize(std::min(busiest.size(), most_links));
    for (const LinkUse* link : busiest) {
      double shown = -1;
      const std::string name = "link " + link->name + " (%)";
      for (std::size_t i = 0; i < link->sampled_bytes.size(); ++i) {
        const double from_s = static_cast<double>(i) * trace_.sample_s;
        const double part =
            link->bandwidth.part_used(link->sampled_bytes[i], from_s, from_s + trace_.sample_s);
        const double percent = std::round(1000 * part) / 10;
        if (percent != shown)
          counter(name, static_cast<double>(i) * trace_.sample_s, percent);
        shown = percent;
      }
      counter(name, trace_.end_s, 0);
    }
  }

  void staleness() {
    std::vector<std::pair<double, double>> applied;
    for (const Row& row : trace_.rows)
      if (row.verb == Verb::apply)
        applied.emplace_back(row.end_s, static_cast<double>(row.version - 1 - row.read_version));
    std::ranges::stable_sort(applied, {}, &std::pair<double, double>::first);
    for (const auto& [at_s, updates] : applied)
      counter("staleness (updates)", at_s, updates);
  }

  void counter(const std::string& name, double at_s, double value) {
    begin("C", counters(), 0);
    out_ << ",\"ts\":" << in_us(in_ns(at_s)) << ",\"name\":" << quoted(name)
         << ",\"args\":{\"value\":" << value << "}}";
  }

  // The number of the process to which counters belong.
  std::size_t counters() const { return trace_.rank_names.size(); }

  void begin(const char* phase, std::size_t rank, std::size_t track) {
    out_ << std::exchange(separator_, ",") << "\n{\"ph\":\"" << phase << "\",\"pid\":" << rank + 1
         << ",\"tid\":" << track + 1;
  }

  const Trace& trace_;
  std::ostream& out_;
  const char* separator_ = "";
  std::vector<std::size_t> order_;
  std::vector<Place> places_;                                  // by row
  std::map<std::pair<int, std::size_t>, std::string> tracks_;  // names, by rank and track
};

}  // namespace

const std::string perfetto_begin = R"({"displayTimeUnit":"ms","traceEvents":[)";

void write_perfetto(const Trace& trace, std::ostream& out) {
  PerfettoWriter(trace, out).write();
}

}  // namespace syncline
