// The order of events determines what is learned: from the order in which gradients were applied
// and parameters read, a second program without network or clock (tests/laws/replay.h) computes the
// same parameters, to the bit.
#include "tests/laws/replay.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <tuple>
#include <unistd.h>

namespace syncline {
namespace {

const Star crowded{
    .nodes = 3, .workers_per_node = 2, .nic_Bps = 4e5, .servers = 2, .slow_speed = 0.6};

Options small_lesson(const std::string& schedule, const Options& more = {}) {
  Options options{{"learn", "mlp"},
                  {"hidden", "7"},
                  {"hidden-layers", "2"},
                  {"momentum", "0.5"},
                  {"weight-decay", "0.01"},
                  {"schedule", schedule},
                  {"bucket-bytes", "0"},
                  {"iterations", "13"},
                  {"jitter", "0.4"},
                  {"servers", "2"},
                  {"platform", star_platform(crowded)}};
  options.merge(small_data());
  for (const auto& [key, value] : more)
    options[key] = value;
  if (schedule == "bsp" || schedule == "topk-sgd" || schedule == "local-sgd")
    options.erase("servers");
  return options;
}

// Simulates, and compares with the replay's parameters.
Replayed expect_replayed(const Options& options, const std::string& what) {
  const Simulated run = simulated(options);
  const Replayed again = replayed(options, run.trace);
  const std::vector<float>& learned = run.trace.learned->parameters_at_end;
  EXPECT_NE(learned, again.initial) << what;
  EXPECT_EQ(learned, again.parameters) << what;
  if (learned != again.parameters && learned.size() == again.parameters.size()) {
    double most = 0;
    double moved = 0;
    for (std::size_t i = 0; i < learned.size(); ++i) {
      most = std::max<double>(most, std::abs(learned[i] - again.parameters[i]));
      moved = std::max<double>(moved, std::abs(learned[i] - again.initial[i]));
    }
    ADD_FAILURE() << what << ": differ by " << most << " of " << moved;
  }
  return again;
}

std::vector<Options> sizes() {
  return {{},
          {{"bucket-bytes", "all"}},
          {{"model", model_of({9'000, 20, 30'000, 11, 7'000, 40'000})}},
          {{"model", model_of({400, 1, 1, 20, 3})}, {"bucket-bytes", "40"}}};
}

const std::vector<std::string>& schedules() {
  static const std::vector<std::string> all{"bsp", "local-sgd", "asp", "ssp", "inhad"};
  return all;
}

TEST(Replay, OfEveryScheduleIsTheSameToTheBit) {
  for (const std::string& schedule : schedules())
    for (const Options& size : sizes())
      expect_replayed(small_lesson(schedule, size), schedule + " " + std::to_string(size.size()));
}

TEST(Replay, OfPiecesIsTheSameToTheBit) {
  for (const std::string schedule : {"asp", "ssp"})
    for (const char* fidelity : {"flow", "step"})
      for (Options size : sizes()) {
        size["partition-bytes"] = size.contains("model") ? "9000" : "50";
        size["fidelity"] = fidelity;
        expect_replayed(small_lesson(schedule, size), schedule + fidelity);
      }
}

// With servers beside the workers, a worker's own pieces arrive earlier than others', so answers to
// two pieces of a bucket have parameters of different age.
TEST(Replay, OfBackupWorkers) {
  for (const char* backups : {"0", "1", "4"})
    for (const char* compressor : {"none", "topk"})
      for (Options size : sizes()) {
        size["compressor"] = compressor;
        size["backup-workers"] = backups;
        size["learning-rate-schedule"] = *compressor == 't' ? "step" : "cosine";
        expect_replayed(small_lesson("backup", size), backups + std::string(compressor));
      }
}

TEST(Replay, OfPiecesThatOvertakeIsTheSameToTheBit) {
  const Star beside{.nodes = 3, .workers_per_node = 2, .nic_Bps = 4e6};
  std::int64_t overtaken = 0;
  for (const char* fidelity : {"flow", "step"}) {
    Options options = small_lesson("asp", {{"staleness-rate", "inverse"},
                                           {"platform", star_platform(beside)},
                                           {"partition-bytes", "9000"},
                                           {"fidelity", fidelity},
                                           {"model", model_of({9'000, 20, 30'000, 11, 7'000})}});
    options.erase("servers");
    expect_replayed(options, fidelity);
    std::map<std::tuple<int, int, int, int>, std::int64_t> age;
    const Simulated run = simulated(options);
    for (const ReadPiece& read : run.trace.learned->reads) {
      const std::int64_t version = read.version - read.own;
      const auto known =
          age.emplace(std::tuple(read.worker, read.iteration, read.server, read.bucket), version);
      overtaken += known.first->second != version ? 1 : 0;
    }
  }
  EXPECT_GT(overtaken, 20);
}

// The trace as a reader of its file has it: what was applied, and with which parameters, from its
// rows alone. Pieces of a bucket are applied in order.
Trace told_by_rows(const Trace& trace) {
  Trace told = trace;
  told.learned->applied.clear();
  told.learned->reads.clear();
  std::map<std::tuple<int, int, int, int>, int> pieces;
  for (const Row& row : trace.rows) {
    if (row.verb != Verb::apply && row.verb != Verb::apply_part)
      continue;
    const int server = row.rank - trace.workers;
    const int piece = pieces[{server, row.bucket, row.worker, row.iteration}]++;
    told.learned->applied.push_back({server, row.bucket, piece, row.worker, row.iteration});
    told.learned->reads.push_back({.worker = row.worker,
                                   .iteration = row.iteration,
                                   .server = server,
                                   .bucket = row.bucket,
                                   .piece = piece,
                                   .version = row.read_version,
                                   .own = row.iteration});
  }
  return told;
}

// Once, a bucket of several pieces had a single row, with the versions of its last piece.
TEST(Replay, OfServersThatAnswerNeedsTheRowsOfTheTraceAlone) {
  for (const std::string schedule : {"asp", "ssp"})
    for (const char* fidelity : {"flow", "step"}) {
      std::size_t parts = 0;
      for (Options size : sizes()) {
        size["partition-bytes"] = size.contains("model") ? "9000" : "50";
        size["fidelity"] = fidelity;
        if (schedule == "ssp")
          size["cache"] = "off";
        const Options options = small_lesson(schedule, size);
        const Simulated run = simulated(options);
        parts += run.rows("apply-part").size();
        EXPECT_EQ(replayed(options, told_by_rows(run.trace)).parameters,
                  run.trace.learned->parameters_at_end)
            << schedule << fidelity;
      }
      EXPECT_GT(parts, 500u) << schedule << fidelity;
    }
}

// Two nodes and a server; answers to the nodes have this latency: lines of seconds and values.
std::string platform_with_answers_late(const std::string& latencies) {
  const std::string name = "answers-late-" + std::to_string(getpid());
  const std::string stem = testing::TempDir() + name;
  for (const char* host : {"-a", "-b"})
    std::ofstream(stem + host + ".txt") << latencies;
  std::ofstream xml(stem + ".xml");
  xml << "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n"
         "<host id=\"a\" speed=\"1e12f\"/><host id=\"b\" speed=\"1e12f\"/>"
         "<host id=\"s\" speed=\"1e12f\"><prop id=\"role\" value=\"server\"/></host>\n";
  for (const std::string way : {"a-up", "b-up", "a-down", "b-down"})
    xml << "<link id=\"" << way << "\" bandwidth=\"1e9Bps\" latency=\"1us\""
        << (way.ends_with("down") ? " latency_file=\"" + name + "-" + way.front() + ".txt\"" : "")
        << "/>\n";
  for (const std::string host : {"a", "b"})
    xml << "<route src=\"" << host << "\" dst=\"s\" symmetrical=\"NO\"><link_ctn id=\"" << host
        << "-up\"/></route><route src=\"s\" dst=\"" << host
        << "\" symmetrical=\"NO\"><link_ctn id=\"" << host << "-down\"/></route>\n";
  xml << "<route src=\"a\" dst=\"b\"><link_ctn id=\"a-up\"/></route>\n</zone></platform>\n";
  return stem + ".xml";
}

// A falling latency lets later answers overtake earlier ones. These must then change nothing:
// parameters at a worker never get older.
TEST(Replay, OfAnswersThatOvertakeEachOtherIsTheSameToTheBit) {
  for (const std::string schedule : {"ssp", "inhad"}) {
    const Options options = small_lesson(
        schedule, {{"platform", platform_with_answers_late("0 0.15\n0.25 1e-6\nPERIODICITY 0.3\n")},
                   {"servers", "1"},
                   {"staleness", "8"},
                   {"threshold", schedule == "inhad" ? "1" : ""},
                   {"iterations", "90"}});
    expect_replayed(options, schedule);
    const Simulated run = simulated(options);
    std::map<int, double> last_s;  // arrival of the last message to each rank
    int overtaken = 0;
    for (const TracedMessage& message : run.trace.messages) {
      if (message.from != run.trace.workers || message.bytes <= 64)
        continue;
      overtaken += message.arrived_s < last_s[message.to] ? 1 : 0;
      last_s[message.to] = std::max(last_s[message.to], message.arrived_s);
    }
    EXPECT_GT(overtaken, 5) << schedule;
    std::map<std::tuple<int, int, int>, std::int64_t> has;
    for (const ReadPiece& read : run.trace.learned->reads) {
      std::int64_t& version = has[{read.worker, read.bucket, read.piece}];
      EXPECT_GE(read.version, version) << schedule;
      version = read.version;
    }
  }
}

TEST(Replay, OfSspIsTheSameToTheBit) {
  for (const char* cache : {"on", "off"})
    for (const char* staleness : {"0", "1", "4"})
      for (const char* overlap : {"on", "off"})
        expect_replayed(
            small_lesson("ssp", {{"cache", cache}, {"staleness", staleness}, {"overlap", overlap}}),
            std::string(cache) + staleness + overlap);
}

TEST(Replay, HasUpdatesThatNoAnswerHasBrought) {
  const Simulated run = simulated(small_lesson("ssp", {{"staleness", "4"}}));
  std::int64_t alone = 0;
  for (const ReadPiece& read : run.trace.learned->reads)
    alone += read.own < read.iteration ? 1 : 0;
  EXPECT_GT(alone, 50);
}

TEST(Replay, OfInhadIsTheSameToTheBit) {
  for (const char* threshold : {"0", "1", "3"})
    for (const char* staleness : {"0", "3"})
      for (const char* answer : {"pulled", "all"})
        expect_replayed(
            small_lesson("inhad", {{"threshold", threshold},
                                   {"staleness", staleness},
                                   {"answer", answer},
                                   {"report", *threshold == '0' ? "round" : "gradient"}}),
            std::string(threshold) + staleness + answer);
}

TEST(Replay, OfLocalSgdIsTheSameToTheBit) {
  for (const char* steps : {"1", "2", "5"})
    for (const char* rate : {"1", "0.7"})
      for (const char* compressor : {"none", "topk"})
        expect_replayed(small_lesson("local-sgd", {{"local-steps", steps},
                                                   {"outer-learning-rate", rate},
                                                   {"outer-momentum", *rate == '1' ? "0" : "0.9"},
                                                   {"compressor", compressor}}),
                        std::string(steps) + rate + compressor);
}

TEST(Replay, OfReplicasAndLateAveragesIsTheSameToTheBit) {
  for (const char* replica : {"worker", "node"})
    for (const auto& [delay, mixing] :
         {std::pair("0", "0.4"), {"1", "changes"}, {"3", "changes"}, {"3", "0"}, {"3", "0.4"}})
      for (const auto& [compressor, precision] :
           {std::pair("none", "fp16"), {"none", "fp32"}, {"topk", "fp32"}})
        expect_replayed(small_lesson("local-sgd", {{"replica", replica},
                                                   {"average-delay", delay},
                                                   {"average-mixing", mixing},
                                                   {"local-steps", "4"},
                                                   {"outer-learning-rate", "0.7"},
                                                   {"outer-momentum", "0.9"},
                                                   {"precision", precision},
                                                   {"compressor", compressor}}),
                        std::string(replica) + delay + mixing + compressor + precision);
}

TEST(Replay, OfRatesThatChangeIsTheSameToTheBit) {
  for (const std::string& schedule : schedules())
    for (const char* in_residual : {"off", "on"})
      for (const char* compressor : {"none", "topk"}) {
        if (schedule == "local-sgd" && in_residual == std::string("on"))
          continue;  // refused
        expect_replayed(small_lesson(schedule, {{"learning-rate-schedule",
                                                 *compressor == 't' ? "step" : "cosine"},
                                                {"learning-rate-warm-up", "0.7"},
                                                {"rate-in-residual", in_residual},
                                                {"clip-norm", "0.3"},
                                                {"skew", "0.5"},
                                                {"compressor", compressor}}),
                        schedule + in_residual + compressor);
      }
}

TEST(Replay, OfHalfPrecisionIsTheSameToTheBit) {
  for (const std::string& schedule : schedules())
    expect_replayed(small_lesson(schedule, {{"precision", "fp16"}}), schedule);
}

TEST(Replay, OfStalenessThatLowersTheRateIsTheSameToTheBit) {
  for (const std::string schedule : {"asp", "ssp"})
    for (const char* partition : {"1e9", "50"})
      expect_replayed(
          small_lesson(schedule, {{"staleness-rate", "inverse"}, {"partition-bytes", partition}}),
          schedule + partition);
  for (const char* threshold : {"0", "1", "4"})
    expect_replayed(
        small_lesson("inhad", {{"staleness-rate", "inverse"}, {"threshold", threshold}}),
        threshold);
}

// n-softsync: the mean of an update's gradients weighs as much as in BSP if none is stale.
TEST(Replay, WeighsTheGradientsOfAnUpdateTogether) {
  Options options = small_lesson("inhad", {{"threshold", "6"}, {"staleness", "0"}});
  const std::vector<float> by_workers = simulated(options).trace.learned->parameters_at_end;
  options["staleness-rate"] = "inverse";
  EXPECT_EQ(by_workers, simulated(options).trace.learned->parameters_at_end);
}

// Whatever was handed to the compressor and not applied is in the residuals.
Replayed expect_nothing_lost(const Options& options, const std::string& what, int workers = 6) {
  const Replayed run = expect_replayed(options, what);
  const double weight = std::stod(options.at("learning-rate")) / workers;
  double largest = 0;
  double left = 0;
  for (const double sum : run.gradients)
    largest = std::max(largest, std::abs(sum));
  for (std::size_t i = 0; i < run.gradients.size(); ++i) {
    const double applied = (static_cast<double>(run.initial[i]) - run.parameters[i]) / weight;
    EXPECT_NEAR(applied + run.unsent[i] + run.lost[i], run.gradients[i], 1e-4 * largest)
        << what << " " << i;
    left = std::max(left, std::abs(run.unsent[i]));
  }
  EXPECT_GT(left, 1e-3 * largest) << what;
  return run;
}

TEST(Replay, LosesNothingOfWhatIsCompressed) {
  for (const std::string schedule : {"bsp", "topk-sgd", "asp", "ssp", "inhad"})
    for (const char* compressor : {"topk", "gaussiank", "onebit"})
      for (const Options& size : sizes()) {
        if (schedule == "topk-sgd" && compressor == std::string("onebit"))
          continue;
        Options options = small_lesson(schedule, size);
        options["compressor"] = compressor;
        options["density"] = "0.1";
        options["momentum"] = "0";
        options["weight-decay"] = "0";
        options["dense-below"] = "12";
        if (compressor == std::string("onebit"))
          options.erase("density");
        expect_nothing_lost(options, schedule + " " + compressor + std::to_string(size.size()));
      }
}

// Each worker keeps its own values that are not in the last list. gtopk also loses what a merge has
// dropped of elements that are in the last list.
TEST(Replay, OfMergedListsIsTheSameToTheBitAndLosesNothingElse) {
  for (const char* exchange : {"gtopk", "oktopk"})
    for (const int nodes : {1, 2, 3, 4}) {
      Star star = crowded;
      star.nodes = nodes;
      Options options = small_lesson("topk-sgd", {{"exchange", exchange},
                                                  {"density", "0.1"},
                                                  {"bucket-bytes", nodes == 2 ? "0" : "all"},
                                                  {"iterations", "40"},
                                                  {"platform", star_platform(star)}});
      expect_replayed(options, exchange);
      options["momentum"] = "0";
      options["weight-decay"] = "0";
      const Replayed run = expect_nothing_lost(options, exchange, 2 * nodes);
      const double lost = std::accumulate(
          run.lost.begin(), run.lost.end(), 0.0,
          [](double most, double value) { return std::max(most, std::abs(value)); });
      EXPECT_EQ(lost > 1e-4, exchange == std::string("gtopk") && nodes > 1) << exchange << nodes;
    }
}

TEST(Replay, OfWhatIsQuantisedIsTheSameToTheBit) {
  for (const std::string& schedule : schedules())
    for (const char* compressor : {"qsgd", "terngrad"})
      expect_replayed(small_lesson(schedule, {{"compressor", compressor}}),
                      schedule + " " + compressor);
}

TEST(Replay, OfCompressedPullsIsTheSameToTheBit) {
  for (const char* compressor : {"topk", "qsgd"})
    for (const Options& size : sizes())
      for (const std::string schedule : {"asp", "inhad"}) {
        Options options = small_lesson(schedule, size);
        options["compressor"] = compressor;
        options["pull"] = "compressed";
        const Replayed run = expect_replayed(options, schedule + compressor);
        EXPECT_LT(run.farthest, 1e-5) << schedule << compressor;
      }
}

}  // namespace
}  // namespace syncline
