#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/report/timeline.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

// A row of the trace, in the order of its rank's rows.
struct Step {
  const Row* row;
  std::vector<std::size_t> sends;  // numbers of messages
  std::vector<std::size_t> receives;
  std::size_t label = 0;  // of the operation with which it ends; 0: not written yet
};

bool makes_gradients(const Row& row) {
  return row.verb == Verb::backward || row.verb == Verb::compress;
}

// True if a row continues with data that came from others.
bool uses_what_came(const Row& row) {
  return row.stream == Stream::compute && row.verb != Verb::forward &&
         row.verb != Verb::accumulate && !makes_gradients(row);
}

class GoalWriter {
 public:
  GoalWriter(const Trace& trace, bool overlap, std::ostream& out)
      : trace_(trace), overlap_(overlap), out_(out) {}

  void write() {
    collect();
    out_ << goal_begin << steps_.size() << "\n";
    for (std::size_t rank = 0; rank < steps_.size(); ++rank) {
      out_ << "\nrank " << rank << " {\n";
      label_ = 0;
      for (std::size_t i = 0; i < steps_[rank].size(); ++i)
        step(rank, i);
      out_ << "}\n";
    }
  }

 private:
  void collect() {
    const int iteration = iteration_in_the_middle(trace_);
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> place_of;  // by row
    for (const std::size_t i : in_order(trace_)) {
      const Row& row = trace_.rows[i];
      if (row.iteration != iteration)
        continue;
      const auto rank = static_cast<std::size_t>(row.rank);
      steps_.resize(std::max(steps_.size(), rank + 1));
      place_of[i] = {rank, steps_[rank].size()};
      steps_[rank].push_back({.row = &row, .sends = {}, .receives = {}});
    }
    for (std::size_t m = 0; m < trace_.messages.size(); ++m) {
      const auto sender = place_of.find(static_cast<std::size_t>(trace_.messages[m].sender_row));
      const auto receiver =
          place_of.find(static_cast<std::size_t>(trace_.messages[m].receiver_row));
      if (sender == place_of.end() || receiver == place_of.end())
        continue;
      steps_[sender->second.first][sender->second.second].sends.push_back(m);
      steps_[receiver->second.first][receiver->second.second].receives.push_back(m);
    }
  }

  // Labels of the operations on its own rank for which this row waits.
  std::vector<std::size_t> required(std::size_t rank, std::size_t i) const {
    const Step& step = steps_[rank][i];
    const Row& row = *step.row;
    std::map<std::tuple<Stream, int>, std::size_t> last;  // by stream, each of which is in order
    std::vector<std::size_t> labels;
    const bool is_worker = row.rank < trace_.workers;
    for (std::size_t j = 0; j < i; ++j) {
      const Row& before = *steps_[rank][j].row;
      const bool same_stream = before.stream == row.stream && before.stage == row.stage;
      if (before.verb == Verb::wait || steps_[rank][j].label == 0)
        continue;
      const bool one_by_one = same_stream && row.stream != Stream::messages;
      if (!one_by_one && (before.end_s > row.start_s || !needs(step, steps_[rank][j], is_worker)))
        continue;
      if (before.stream == Stream::messages)
        labels.push_back(steps_[rank][j].label);
      else
        last[{before.stream, before.stage}] = steps_[rank][j].label;
    }
    for (const auto& [stream, label] : last)
      labels.push_back(label);
    return labels;
  }

  // True if a row waits for an earlier row of another stream of its rank.
  bool needs(const Step& step, const Step& earlier, bool is_worker) const {
    const Row& row = *step.row;
    const Row& before = *earlier.row;
    const bool same_bucket = before.bucket == row.bucket;
    const bool before_communicates =
        before.stream == Stream::communication || before.stream == Stream::messages;
    if (!is_worker && row.stream == Stream::compute)  // a server adds a worker's push
      return before.stream == Stream::messages && same_bucket &&
             std::ranges::any_of(earlier.receives, [&](std::size_t m) {
               return row.worker < 0 || trace_.messages[m].from == row.worker;
             });
    if (!is_worker && row.stream == Stream::messages)  // a server answers when it has added
      return !step.sends.empty() && before.stream == Stream::compute && same_bucket;
    if (uses_what_came(row) || row.verb == Verb::decompress)
      return before_communicates && (same_bucket || row.bucket < 0 || before.bucket < 0);
    if (row.stream == Stream::compression)
      return makes_gradients(before) && same_bucket;
    if (row.stream != Stream::communication)
      return false;
    if (before.stream == Stream::communication)  // the next stage of a pipeline
      return before.stage < row.stage && same_bucket;
    return makes_gradients(before) &&
           (same_bucket || before.bucket < 0 || row.bucket < 0 || !overlap_);
  }

  void step(std::size_t rank, std::size_t i) {
    Step& step = steps_[rank][i];
    if (step.row->verb == Verb::wait)
      return;
    const std::vector<std::size_t> before = required(rank, i);
    if (step.sends.empty() && step.receives.empty()) {
      step.label = operation("calc " + std::to_string(std::llround(step.row->end_s * 1e9) -
                                                      std::llround(step.row->start_s * 1e9)),
                             before, step.row->stream);
      return;
    }
    // A message sent after another one has arrived waits for that one, and for the messages sent
    // before it.
    const auto sent_s = [&](std::size_t m) { return trace_.messages[m].sent_s; };
    const auto arrived_s = [&](std::size_t m) { return trace_.messages[m].arrived_s; };
    std::ranges::stable_sort(step.sends, {}, sent_s);
    std::ranges::stable_sort(step.receives, {}, arrived_s);
    std::vector<std::size_t> came = before;
    std::vector<std::size_t> sent;  // since then
    std::vector<std::size_t> all;
    auto next = step.receives.begin();
    const auto receive = [&] {
      const TracedMessage& message = trace_.messages[*next];
      all.push_back(operation("recv " + bytes_of(message) + " from " +
                                  std::to_string(message.from) + " tag " + std::to_string(*next),
                              before));
      ++next;
      return all.back();
    };
    for (const std::size_t m : step.sends) {
      const TracedMessage& message = trace_.messages[m];
      std::vector<std::size_t> newly_came;
      while (next != step.receives.end() && arrived_s(*next) <= message.sent_s)
        newly_came.push_back(receive());
      if (!newly_came.empty()) {
        came = std::exchange(sent, {});
        came.insert(came.end(), newly_came.begin(), newly_came.end());
      }
      all.push_back(operation("send " + bytes_of(message) + " to " + std::to_string(message.to) +
                                  " tag " + std::to_string(m),
                              came));
      sent.push_back(all.back());
    }
    while (next != step.receives.end())
      receive();
    step.label = all.size() == 1 ? all.front() : operation("calc 0", all, step.row->stream);
  }

  static std::string bytes_of(const TracedMessage& message) {
    return std::to_string(std::max<std::uint64_t>(1, message.bytes)) + "b";
  }

  // Writes an operation and returns its label.
  std::size_t operation(const std::string& text, const std::vector<std::size_t>& before,
                        Stream stream = Stream::compute) {
    out_ << "l" << ++label_ << ": " << text;
    if (stream != Stream::compute)  // takes no time of the device
      out_ << " cpu " << static_cast<int>(stream);
    out_ << "\n";
    for (const std::size_t earlier : before)
      out_ << "l" << label_ << " requires l" << earlier << "\n";
    return label_;
  }

  const Trace& trace_;
  bool overlap_;
  std::ostream& out_;
  std::vector<std::vector<Step>> steps_;  // by rank
  std::size_t label_ = 0;
};

}  // namespace

const std::string goal_begin = "num_ranks ";

void write_goal(const Trace& trace, bool overlap, std::ostream& out) {
  GoalWriter(trace, overlap, out).write();
}

}  // namespace syncline
