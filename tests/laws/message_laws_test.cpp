// Law 19 (tests/laws/README.md): the messages of a trace, and what other programs read of them.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <sstream>

#include "sim/report/timeline.h"
#include "sim/traces/traces.h"
#include "tests/laws/every_schedule.h"

namespace syncline {
namespace {

using Json = nlohmann::json;

TEST(Law19, MessagesAreWhatTheirRowsSendAndReceive) {
  for (const auto& [name, options] : every_schedule()) {
    const Trace trace = simulated(options).trace;
    ASSERT_FALSE(trace.messages.empty()) << name;
    std::vector<std::uint64_t> sent(trace.rows.size());
    std::vector<std::uint64_t> received(trace.rows.size());
    for (const TracedMessage& message : trace.messages) {
      ASSERT_GE(message.sender_row, 0) << name;
      ASSERT_GE(message.receiver_row, 0) << name;
      const auto sender = static_cast<std::size_t>(message.sender_row);
      const auto receiver = static_cast<std::size_t>(message.receiver_row);
      EXPECT_EQ(trace.rows[sender].rank, message.from) << name;
      EXPECT_EQ(trace.rows[receiver].rank, message.to) << name;
      EXPECT_LE(message.sent_s, message.arrived_s) << name;
      EXPECT_LE(message.arrived_s, trace.rows[receiver].end_s + 1e-9) << name;
      sent[sender] += message.bytes;
      received[receiver] += message.bytes;
    }
    for (std::size_t i = 0; i < trace.rows.size(); ++i) {
      EXPECT_EQ(sent[i], trace.rows[i].bytes_sent) << name << ": " << name_of(trace.rows[i].verb);
      EXPECT_EQ(received[i], trace.rows[i].bytes_received)
          << name << ": " << name_of(trace.rows[i].verb);
    }
  }
}

TEST(Law19, SamplesOfALinkAreItsBytesAndNeverMoreThanItCarries) {
  for (const auto& [name, options] : every_schedule()) {
    const Trace trace = simulated(options).trace;
    for (const LinkUse& link : trace.links) {
      double bytes = 0;
      ASSERT_FALSE(link.sampled_bytes.empty()) << name;
      for (const double sample : link.sampled_bytes) {
        EXPECT_LE(sample, link.bandwidth.mean_Bps() * trace.sample_s * (1 + 1e-6))
            << name << link.name;
        bytes += sample;
      }
      EXPECT_NEAR(bytes, link.bytes, 1e-6 * link.bytes) << name << ": " << link.name;
    }
  }
}

// Conditions for ui.perfetto.dev to show all of a file.
TEST(Law19, PerfettoReadsTheTraceOfEverySchedule) {
  struct Slice {
    double start;
    double end;
  };
  for (const auto& [name, options] : every_schedule()) {
    const Trace trace = simulated(options).trace;
    std::ostringstream text;
    write_perfetto(trace, text);
    const Json all = Json::parse(text.str());
    std::map<std::pair<int, std::int64_t>, std::vector<Slice>> tracks;
    std::map<std::pair<int, std::int64_t>, std::string> names;
    std::map<std::string, double> counters;
    std::map<int, std::vector<Json>> arrows;
    std::size_t slices = 0;
    for (const Json& event : all["traceEvents"]) {
      const std::string phase = event["ph"];
      const std::pair track(event["pid"].get<int>(), event["tid"].get<std::int64_t>());
      if (phase == "X") {
        const double start = event["ts"];
        std::vector<Slice>& on_track = tracks[track];
        ASSERT_GE(event["dur"].get<double>(), 0) << name;
        if (!on_track.empty()) {
          ASSERT_GE(start, on_track.back().start) << name << ": time goes back on a track";
          ASSERT_GE(start, on_track.back().end - 1e-4) << name << ": slices overlap";
        }
        on_track.push_back({start, start + event["dur"].get<double>()});
        ++slices;
      } else if (phase == "M") {
        if (event["name"] == "thread_name")
          names[track] = event["args"]["name"];
      } else if (phase == "C") {
        const double at = event["ts"];
        EXPECT_GE(at, counters[event["name"]]) << name << ": time of a counter goes back";
        counters[event["name"]] = at;
        EXPECT_TRUE(std::isfinite(event["args"]["value"].get<double>()));
      } else {
        ASSERT_TRUE(phase == "s" || phase == "f") << name << ": " << phase;
        arrows[event["id"]].push_back(event);
      }
    }
    EXPECT_EQ(slices, trace.rows.size()) << name;
    std::map<int, std::map<std::string, int>> streams;
    for (const auto& [track, of_track] : tracks) {
      ASSERT_TRUE(names.contains(track)) << name << ": a track without a name";
      EXPECT_EQ(++streams[track.first][names[track]], 1) << name << ": " << names[track];
    }
    EXPECT_GE(counters.size(), 2U) << name;
    EXPECT_FALSE(arrows.empty()) << name;
    for (const auto& [id, ends] : arrows) {
      ASSERT_EQ(ends.size(), 2U) << name << ": an arrow has two ends";
      EXPECT_EQ(ends[0]["ph"], "s");
      EXPECT_EQ(ends[1]["ph"], "f");
      EXPECT_LE(ends[0]["ts"].get<double>(), ends[1]["ts"].get<double>()) << name;
      for (const Json& end : ends) {
        const double at = end["ts"];
        EXPECT_TRUE(std::ranges::any_of(
            tracks[{end["pid"].get<int>(), end["tid"].get<std::int64_t>()}],
            [&](const Slice& slice) { return slice.start <= at && at < slice.end; }))
            << name << ": an arrow ends outside of every slice";
      }
    }
  }
}

// Reads a GOAL text and simulates it on hosts with one card each, where a message takes latency +
// bytes / bandwidth.
class Goal {
 public:
  explicit Goal(const std::string& text) {
    std::istringstream in(text);
    std::string word;
    std::size_t rank = 0;
    std::size_t ranks = 0;
    in >> word >> ranks;
    EXPECT_EQ(word, "num_ranks");
    ranks_.resize(ranks);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string first;
      if (!(words >> first) || first == "}")
        continue;
      if (first == "rank") {
        words >> rank;
        EXPECT_LT(rank, ranks);
        continue;
      }
      std::string second;
      words >> second;
      if (second == "requires") {
        std::string before;
        words >> before;
        EXPECT_TRUE(ranks_[rank].contains(first)) << line;
        EXPECT_TRUE(ranks_[rank].contains(before)) << line;
        ranks_[rank][first].before.push_back(before);
        continue;
      }
      EXPECT_TRUE(first.ends_with(":")) << line;
      Operation operation{.kind = second};
      std::string value;
      words >> value;
      operation.amount = std::stod(value);  // nanoseconds, or bytes followed by a b
      EXPECT_EQ(value.ends_with("b"), second != "calc") << line;
      for (std::string key; words >> key;) {
        words >> value;
        (key == "tag"   ? operation.tag
         : key == "cpu" ? operation.cpu
                        : operation.peer) = std::stoi(value);
      }
      first.pop_back();
      EXPECT_TRUE(ranks_[rank].emplace(first, operation).second) << line;
    }
  }

  std::size_t count(const std::string& kind) const {
    std::size_t found = 0;
    for (const auto& rank : ranks_)
      for (const auto& [label, operation] : rank)
        found += operation.kind == kind ? 1 : 0;
    return found;
  }

  // Seconds until every operation is done; throws if there is a cycle or a wait for a message that
  // nobody sends.
  double replayed(double latency_s, double bandwidth_Bps) {
    std::map<std::pair<std::size_t, int>, double> free_s;  // when cpus are free; -1: the card
    std::map<std::pair<int, int>, double> arrived_s;       // by receiver and tag
    std::size_t left = 0;
    for (const auto& rank : ranks_)
      left += rank.size();
    double end_s = 0;
    while (left > 0) {
      // Chooses the operation that can begin first.
      Operation* next = nullptr;
      std::size_t at = 0;
      double begin_s = 0;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        for (auto& [label, operation] : ranks_[rank]) {
          const double ready_s = ready(rank, operation, arrived_s);
          if (operation.done_s >= 0 || ready_s < 0)
            continue;
          const bool waits = operation.kind == "recv";
          const int unit = operation.kind == "send" ? -1 : operation.cpu;
          const double could_s = waits ? ready_s : std::max(ready_s, free_s[{rank, unit}]);
          if (next == nullptr || could_s < begin_s) {
            next = &operation;
            at = rank;
            begin_s = could_s;
          }
        }
      if (next == nullptr)
        return -1;
      next->done_s = begin_s;
      if (next->kind == "calc") {
        next->done_s = free_s[{at, next->cpu}] = begin_s + next->amount * 1e-9;
      } else if (next->kind == "send") {
        next->done_s = free_s[{at, -1}] = begin_s + next->amount / bandwidth_Bps;
        arrived_s[{next->peer, next->tag}] = next->done_s + latency_s;
      }
      end_s = std::max(end_s, next->done_s);
      --left;
    }
    return end_s;
  }

 private:
  struct Operation {
    std::string kind;
    double amount = 0;
    int peer = -1;
    int tag = -1;
    int cpu = 0;
    std::vector<std::string> before = {};
    double done_s = -1;
  };

  // When everything that the operation requires is done; -1: not known yet.
  double ready(std::size_t rank, const Operation& operation,
               const std::map<std::pair<int, int>, double>& arrived_s) const {
    double ready_s = 0;
    if (operation.kind == "recv") {
      const auto found = arrived_s.find({static_cast<int>(rank), operation.tag});
      if (found == arrived_s.end())
        return -1;
      ready_s = found->second;
    }
    for (const std::string& label : operation.before) {
      const double done_s = ranks_[rank].at(label).done_s;
      if (done_s < 0)
        return -1;
      ready_s = std::max(ready_s, done_s);
    }
    return ready_s;
  }

  std::vector<std::map<std::string, Operation>> ranks_;
};

std::string goal_of(const Trace& trace, bool overlap = true) {
  std::ostringstream text;
  write_goal(trace, overlap, text);
  return text.str();
}

// Alone on its cards, an iteration takes as long in the replay; twice the bandwidth halves its
// exposed part, which shows that no times were written into the file.
TEST(Law19, AReplayedIterationTakesAsLong) {
  for (const bool overlap : {true, false})
    for (const char* exchange : {"ring", "halving-doubling"}) {
      Options options{{"platform", star_platform({.nodes = 4, .slow_speed = 0.5})},
                      {"model", model_of({10'000'000, 20'000'000, 30'000'000})},
                      {"bucket-bytes", "0"},
                      {"exchange", exchange},
                      {"overlap", overlap ? "on" : "off"},
                      {"fidelity", "step"}};
      const Simulated run = simulated(options);
      Goal goal(goal_of(run.trace, overlap));
      EXPECT_EQ(goal.count("send"), goal.count("recv"));
      EXPECT_NEAR(goal.replayed(2e-5, 1e9) / run.iteration_s(), 1, 0.001) << exchange << overlap;
      options["bandwidth-factor"] = "2";
      Goal again(goal_of(run.trace, overlap));
      EXPECT_NEAR(again.replayed(2e-5, 2e9) / simulated(options).iteration_s(), 1, 0.001)
          << exchange << overlap;
    }
}

TEST(Law19, GoalOfEveryScheduleWithIterationsIsReplayed) {
  for (const auto& [name, options] : every_schedule()) {
    const Schedule& schedule = Registered<Schedule>::find(options.at("schedule"));
    if (schedule.aggregator != nullptr || schedule.round != nullptr ||
        schedule.neighbours != nullptr)
      continue;  // refused
    Goal goal(goal_of(simulated(options).trace));
    EXPECT_GT(goal.count("send"), 0U) << name;
    EXPECT_EQ(goal.count("send"), goal.count("recv")) << name;
    EXPECT_GT(goal.replayed(1e-5, 1e9), 0.1) << name << ": it never ends";
  }
}

TEST(Law19, ChakraHasTheComputationAndTheBytesOfAnIteration) {
  const Simulated run = simulated({{"platform", star_platform({.nodes = 2})},
                                   {"model", model_of({1'000'000, 3'000'000})},
                                   {"bucket-bytes", "0"}});
  std::ostringstream text;
  write_chakra(run.trace, 1, {12'000'000, 4'000'000}, true, text);
  // The objects stand one after another: joins them into an array with commas and brackets.
  std::string joined = "[" + text.str() + "]";
  for (std::size_t at = 0; (at = joined.find("}\n{", at)) != std::string::npos; ++at)
    joined.replace(at, 2, "},");
  const Json nodes = Json::parse(joined);
  double computed_us = 0;
  std::vector<std::string> bytes;
  std::map<std::string, Json> by_id;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const Json& node = nodes[i];
    for (const Json& before : node.value("dataDeps", Json::array()))
      EXPECT_TRUE(by_id.contains(before.get<std::string>())) << node;
    by_id[node["id"].get<std::string>()] = node;
    EXPECT_TRUE(node["attr"].is_array()) << node;
    if (node["type"] == "COMP_NODE")
      computed_us += std::stod(node["durationMicros"].get<std::string>());
    else
      bytes.push_back(node["attr"][2]["int64Val"]);
  }
  EXPECT_NEAR(computed_us, 100'000, 1);
  EXPECT_EQ(bytes, (std::vector<std::string>{"12000000", "4000000"}));
  // forward, then backward of two buckets, with an all-reduce after each
  EXPECT_EQ(by_id["3"]["type"], "COMM_COLL_NODE");
  EXPECT_EQ(by_id["3"]["dataDeps"], (Json{"2"}));
  EXPECT_EQ(by_id["5"]["dataDeps"], (Json{"4", "3"}));
}

// A worker alone pays a start for each push: once, its messages had one value, as starts cost
// nothing. The fewer workers share a server's card, the fewer bytes a start is worth.
TEST(Cat, PricesThePushesOfAWorkerAlone) {
  for (const char* schedule : {"asp", "ssp", "inhad"}) {
    std::uint64_t before = 0;
    for (const char* workers : {"4", "2", "1"}) {
      Options options{
          {"platform", star_platform({.nodes = 4, .nic_latency_s = 1e-4, .servers = 1})},
          {"model", model_of({1'000'000})},
          {"compressor", "cat"},
          {"schedule", schedule}};
      options["servers"] = "1";
      options["workers"] = workers;
      const double sent = simulated(options).figures.bytes_sent;
      EXPECT_GT(sent, 1e4) << schedule << workers;
      EXPECT_GE(static_cast<std::uint64_t>(sent), before) << schedule << workers;
      before = static_cast<std::uint64_t>(0.9 * sent);
    }
  }
}

}  // namespace
}  // namespace syncline
