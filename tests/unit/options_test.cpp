#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "sim/catalogue/network.h"
#include "sim/options/resolve.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/given.h"

namespace syncline {
namespace {

using Strings = std::vector<std::string>;

TEST(CommandLine, AcceptsSpaceOrEqualsSign) {
  const CommandLine line = parse_command_line({"--workers", "4", "--model=vgg16"}, {});
  EXPECT_EQ(line.options.at("workers").value, "4");
  EXPECT_EQ(line.options.at("workers").where, "--workers");
  EXPECT_EQ(line.options.at("model").value, "vgg16");
  EXPECT_TRUE(line.arguments.empty());
}

TEST(CommandLine, SeparatesArgumentsFlagsAndOptions) {
  const CommandLine line = parse_command_line({"a.cfg", "--out", "dir", "--resume", "--batch", "8"},
                                              {{"out", true}, {"resume"}});
  EXPECT_EQ(line.arguments, Strings{"a.cfg"});
  EXPECT_EQ(line.flags.at("out"), "dir");
  EXPECT_TRUE(line.flags.contains("resume"));
  EXPECT_EQ(line.options.size(), 1U);
}

TEST(CommandLine, RefusesAnUnknownOptionAndNamesTheNearest) {
  expect_mentions(error_of([] {
                    parse_command_line({"--wokers", "3"}, {});
                  }),
                  {"--wokers", "nearest are workers, ", "`syncline run --help` has all"});
}

TEST(CommandLine, RefusesAnotherCommandsFlag) {
  expect_mentions(error_of([] { parse_command_line({"--out", "x"}, {}); }), {"--out"});
}

TEST(CommandLine, RefusesAnOptionWithoutAValueAndOneGivenTwice) {
  expect_mentions(error_of([] { parse_command_line({"--workers"}, {}); }), {"--workers"});
  expect_mentions(error_of([] {
                    parse_command_line({"--batch", "1", "--batch", "1"}, {});
                  }),
                  {"--batch", "twice"});
}

TEST(CommandLine, DoesNotGuessFromPrefixes) {
  EXPECT_THROW(parse_command_line({"--work", "3"}, {}), std::invalid_argument);
}

TEST(CommandLine, ChecksJobs) {
  const std::vector<Flag> flags{{"jobs", true}};
  EXPECT_EQ(jobs_of(parse_command_line({"--jobs", "3"}, flags)), 3);
  EXPECT_GE(jobs_of(parse_command_line({}, flags)), 1);
  for (const char* bad : {"0", "-1", "1.5", "many"})
    EXPECT_THROW(jobs_of(parse_command_line({"--jobs", bad}, flags)), std::invalid_argument) << bad;
}

GivenOptions read(const std::string& text) {
  const TemporaryFolder folder;
  return parse_config_file(folder.write("some.cfg", text));
}

std::string file_error(const std::string& text) {
  return error_of([&] { read(text); });
}

TEST(ConfigFile, ReadsKeysValuesAndComments) {
  const GivenOptions options =
      read("# a comment\n\n  model=vgg16 # another\nworkers = 1, 2,4\r\n\tbatch\t=\t8");
  EXPECT_EQ(options.size(), 3U);
  EXPECT_EQ(options.at("model").value, "vgg16");
  EXPECT_EQ(options.at("workers").value, "1, 2,4");
  EXPECT_EQ(options.at("batch").value, "8");
  EXPECT_TRUE(options.at("batch").where.ends_with("some.cfg:5")) << options.at("batch").where;
}

TEST(ConfigFile, NamesTheLineOfAnUnknownKeyAndTheNearest) {
  expect_mentions(file_error("model = vgg16\n\nwokers = 3\n"),
                  {"some.cfg:3: ", "wokers", "nearest are workers, "});
}

TEST(ConfigFile, NamesTheLineOfAKeyGivenTwice) {
  expect_mentions(file_error("model = vgg16\nmodel = vgg16\n"), {"some.cfg:2: ", "model", "twice"});
}

TEST(ConfigFile, NamesTheLineThatIsNotAnAssignment) {
  expect_mentions(file_error("model = vgg16\nfaster please\n"), {"some.cfg:2: ", "faster please"});
}

TEST(ConfigFile, OfOneThingHasNoSections) {  // they would have no effect
  expect_mentions(file_error("batch = 1\n[run]\nmodel = vgg16\n"), {"some.cfg:2: ", "[run]"});
}

TEST(ConfigFile, MustExist) {
  expect_mentions(error_of([] { parse_config_file("/nowhere/some.cfg"); }), {"/nowhere/some.cfg"});
  const TemporaryFolder folder;
  expect_mentions(error_of([&] { parse_config_file(folder.path()); }), {folder.path()});
}

TEST(ConfigFile, IsOverriddenByTheCommandLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("some.cfg", "workers = 8\nbatch = 16\n");
  const GivenOptions options =
      merged_with_file(parse_command_line({path, "--workers", "2"}, {})).front().options;
  EXPECT_EQ(options.at("workers").value, "2");
  EXPECT_EQ(options.at("batch").value, "16");
  EXPECT_THROW(merged_with_file(parse_command_line({path, path}, {})), std::invalid_argument);
}

TEST(ConfigFile, PathsAreRelativeToTheConfigFile) {
  const TemporaryFolder folder;
  folder.write("net.csv", "layer,parameters,forward_flop\na,1,1\n");
  const GivenOptions options = parse_config_file(
      folder.write("some.cfg", "model = net.csv\nplatform = two-hosts\nthroughput = 1\n"));
  EXPECT_EQ(resolve(options).model,
            std::filesystem::weakly_canonical(folder.path("net.csv")).string());
}

TEST(Resolve, FillsInDefaults) {
  const Scenario scenario = resolve(given({}));
  EXPECT_EQ(scenario.schedule->name, "bsp");
  EXPECT_EQ(scenario.exchange->name, "ring");
  EXPECT_EQ(scenario.batch, 32);
  EXPECT_EQ(scenario.warmup, 1);
  EXPECT_FALSE(scenario.iterations);
  EXPECT_EQ(scenario.interval, 0.01);
  EXPECT_EQ(scenario.max_iterations, 1000);
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_EQ(scenario.servers, 0);
  EXPECT_EQ(scenario.network->name, "exact");
  EXPECT_EQ(scenario.fusion.kind, Fusion::Kind::bytes);
  EXPECT_EQ(scenario.fusion.bytes, 26214400);
  EXPECT_EQ(scenario.compressor, nullptr);
  EXPECT_TRUE(scenario.overlap);
  EXPECT_EQ(scenario.fidelity, Fidelity::automatic);
  EXPECT_FALSE(scenario.workers || scenario.throughput || scenario.efficiency);
  EXPECT_TRUE(scenario.platform.ends_with("platforms/two-hosts.xml"));
  EXPECT_TRUE(scenario.model.ends_with("models/resnet50.csv"));
}

TEST(Resolve, TakesTheSchedulesExchange) {
  EXPECT_EQ(resolve(given({{"schedule", "asp"}})).exchange->name, "ps");
  EXPECT_EQ(resolve(given({{"exchange", "tree"}})).exchange->name, "tree");
}

TEST(Resolve, ReadsEveryOption) {
  const Scenario scenario = resolve(given({{"workers", "3"},        {"workers-per-node", "2"},
                                           {"servers", "4"},        {"batch", "5"},
                                           {"precision", "fp16"},   {"throughput", "1e3"},
                                           {"device", "k80"},       {"efficiency", "0.5"},
                                           {"schedule", "ssp"},     {"staleness", "7"},
                                           {"overlap", "off"},      {"bucket-bytes", "merged"},
                                           {"network", "lv08"},     {"bandwidth-factor", "0.9"},
                                           {"latency-factor", "2"}, {"step-overhead", "1e-6"},
                                           {"fidelity", "step"},    {"jitter", "0.1"},
                                           {"iterations", "6"},     {"warmup", "0"},
                                           {"seed", "12345678901"}}));
  EXPECT_EQ(scenario.workers, 3);
  EXPECT_EQ(scenario.workers_per_node, 2);
  EXPECT_EQ(scenario.servers, 4);
  EXPECT_EQ(scenario.batch, 5);
  EXPECT_EQ(scenario.precision, Precision::fp16);
  EXPECT_EQ(scenario.throughput, 1000);
  EXPECT_EQ(scenario.device, "k80");
  EXPECT_EQ(scenario.efficiency, 0.5);
  EXPECT_EQ(scenario.schedule_settings.number("staleness"), 7);
  EXPECT_FALSE(scenario.overlap);
  EXPECT_EQ(scenario.fusion.kind, Fusion::Kind::merged);
  EXPECT_EQ(scenario.network->name, "lv08");
  EXPECT_EQ(scenario.bandwidth_factor, 0.9);
  EXPECT_EQ(scenario.latency_factor, 2);
  EXPECT_EQ(scenario.step_overhead_s, 1e-6);
  EXPECT_EQ(scenario.fidelity, Fidelity::step);
  EXPECT_EQ(scenario.jitter, 0.1);
  EXPECT_EQ(scenario.iterations, 6);
  EXPECT_EQ(scenario.warmup, 0);
  EXPECT_EQ(scenario.seed, 12345678901U);
  for (const char* key : {"workers", "staleness", "seed", "exchange", "schedule"})
    EXPECT_FALSE(scenario.written.at(key).empty()) << key;
}

// The error for a bad value of an option.
std::string refused_setting(const std::string& key, const std::string& value,
                            const std::string& schedule = "bsp") {
  return error_of([&] { resolve(given({{key, value}, {"schedule", schedule}})); });
}

TEST(Resolve, RefusesInvalidNumbers) {
  for (const char* key :
       {"workers", "workers-per-node", "servers", "batch", "throughput", "efficiency",
        "bucket-bytes", "bandwidth-factor", "latency-factor", "step-overhead", "jitter",
        "iterations", "interval", "max-iterations", "warmup", "seed"}) {
    for (const char* bad : {"nan", "NaN", "inf", "1e400", "-1", "-1e400", "three", "3x"})
      expect_mentions(refused_setting(key, bad),
                      {"--" + std::string(key) + ": " + key + " = " + bad + ": allowed are"});
    expect_mentions(refused_setting(key, ""),
                    {"--" + std::string(key) + ": " + key + " is empty: allowed is a value"});
  }
}

// A double cannot hold the next number: once, it silently became the seed before it.
TEST(Resolve, RefusesSeedsThatItCannotTellApart) {
  EXPECT_EQ(resolve(given({{"seed", "9007199254740991"}})).seed, 9007199254740991U);
  for (const char* seed : {"9007199254740992", "9007199254740993"})
    expect_mentions(refused_setting("seed", seed), {"allowed are whole numbers"});
}

// Some functions of the C library refuse such a number.
TEST(Resolve, TakesDenormalBucketBytes) {
  const Scenario scenario = resolve(given({{"bucket-bytes", "1e-310"}}));
  EXPECT_EQ(scenario.fusion.kind, Fusion::Kind::bytes);
  EXPECT_EQ(scenario.fusion.bytes, 1e-310);
}

TEST(Resolve, RefusesZeroWhereItMeansNothing) {
  for (const char* key : {"workers", "workers-per-node", "batch", "throughput", "efficiency",
                          "bandwidth-factor", "iterations", "interval", "max-iterations"})
    expect_mentions(refused_setting(key, "0"), {std::string(key) + " = 0: allowed are"});
  for (const char* key :
       {"servers", "latency-factor", "step-overhead", "jitter", "warmup", "seed", "bucket-bytes"})
    EXPECT_EQ(resolve(given({{key, "0"}})).written.at(key), "0");
}

TEST(Resolve, RefusesFractionsOfCounts) {
  for (const char* key : {"workers", "workers-per-node", "servers", "batch", "iterations",
                          "max-iterations", "warmup", "seed"})
    expect_mentions(refused_setting(key, "1.5"),
                    {std::string(key) + " = 1.5: allowed are whole numbers"});
}

TEST(Resolve, TakesALengthOrWhatDecidesIt) {
  EXPECT_EQ(resolve(given({{"iterations", "7"}})).iterations, 7);
  const Scenario scenario =
      resolve(given({{"iterations", "auto"}, {"interval", "0.05"}, {"max-iterations", "50"}}));
  EXPECT_FALSE(scenario.iterations);
  EXPECT_EQ(scenario.interval, 0.05);
  EXPECT_EQ(scenario.max_iterations, 50);
  expect_mentions(refused_setting("iterations", "some"), {"iterations = some", "or auto"});
  for (const char* key : {"interval", "max-iterations"})
    expect_mentions(error_of([&] {
                      resolve(given({{"iterations", "7"}, {key, key[0] == 'i' ? "0.05" : "50"}}));
                    }),
                    {"--" + std::string(key), "iterations = 7", "allowed is auto"});
}

TEST(Resolve, ListsAllNamesOrOfMoreThanEightTheNearest) {
  expect_mentions(refused_setting("model", "resnet5"),
                  {"resnet5", "nearest are resnet50, ", "`syncline list models` has all"});
  expect_mentions(refused_setting("platform", "two-host"), {"two-host'", "two-hosts", "gbe-32x1"});
  expect_mentions(refused_setting("schedule", "bsq", "bsq"),
                  {"--schedule", "'bsq': nearest are bsp, ", "asp", "ssp"});
  expect_mentions(refused_setting("exchange", "rong"),
                  {"--exchange", "'rong': nearest are ring, "});
  expect_mentions(refused_setting("compressor", "zip"),
                  {"--compressor", "'zip'", "`syncline list compressors` has all"});
  expect_mentions(refused_setting("network", "fast"), {"--network", "'fast'", "exact", "lv08"});
  expect_mentions(refused_setting("overlap", "yes"), {"overlap = yes", "on", "off"});
  expect_mentions(refused_setting("precision", "fp8"), {"precision = fp8", "fp32", "fp16"});
  expect_mentions(refused_setting("fidelity", "high"), {"fidelity = high", "flow", "step"});
  expect_mentions(refused_setting("bucket-bytes", "some"),
                  {"bucket-bytes = some", "all", "merged"});
}

}  // namespace
}  // namespace syncline
