// Messages that are decoded together take the table's seconds for a first message and for each
// further one.
#include <gtest/gtest.h>

#include "sim/platform/platform_file.h"
#include "sim/setup/setup.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double parameters = 8'000'001, encode_s = 1e-9, first_s = 8e-10, further_s = 3e-11;

Simulated gathered(const std::string& exchange, const Star& star, const std::string& table,
                   const char* fidelity) {
  return simulated({{"platform", star_platform(star)},
                    {"model", model_of({5'000'001, 2'000'000, 1'000'000})},
                    {"schedule", "bsp"},
                    {"exchange", exchange},
                    {"compressor", "topk"},
                    {"density", "0.01"},
                    {"bucket-bytes", "0"},
                    {"overlap", "off"},
                    {"device", table},
                    {"fidelity", fidelity}});
}

// Decoding `messages` messages of each bucket at once.
double decoding_s(double messages) {
  return parameters * (first_s + (messages - 1) * further_s);
}

TEST(Decoding, OfGatheredMessagesTakesOneFirstAndEachFurther) {
  const std::string table = cost_table(encode_s, first_s, further_s);
  for (const int nodes : {2, 3, 8})
    for (const int workers_per_node : {1, 2})
      for (const char* fidelity : {"flow", "step", "analytic"}) {
        const Star star{.nodes = nodes, .workers_per_node = workers_per_node};
        const int workers = nodes * workers_per_node;
        EXPECT_NEAR(gathered("allgather", star, table, fidelity).figures.compress_s,
                    parameters * encode_s + decoding_s(workers), 1e-9)
            << workers << fidelity;
      }
}

// Each worker adds its part of all messages, and then the parts that the others have added.
TEST(Decoding, OfPartsTakesOneFirstAndEachFurtherOfAPart) {
  const std::string table = cost_table(encode_s, first_s, further_s);
  const Simulated run = gathered("alltoall", {.nodes = 4}, table, "step");
  EXPECT_NEAR(
      run.figures.compress_s,
      parameters * encode_s + decoding_s(4) / 4 + parameters * encode_s / 4 + parameters * first_s,
      1e-6);
}

// 512 workers, by hand: 8,000,001 x (0.8 + 511 x 0.03) ns.
TEST(Decoding, Of512MessagesIsMostlyThatOfFurtherOnes) {
  const std::string table = cost_table(encode_s, first_s, further_s);
  const Simulated run = gathered("allgather", {.nodes = 64, .workers_per_node = 8}, table, "flow");
  EXPECT_NEAR(run.figures.compress_s, 0.008000001 + 0.0064000008 + 0.12264001533, 1e-9);
}

TEST(Decoding, WithATableThatHasNoFurtherMessagesPricesEachAsOneAlone) {
  EXPECT_NEAR(
      gathered("allgather", {.nodes = 3}, cost_table(encode_s, first_s), "step").figures.compress_s,
      parameters * (encode_s + 3 * first_s), 1e-9);
}

// Whether the provenance of the prices says that each of several messages is priced as one alone.
bool says_so(const char* exchange, const std::string& table) {
  const Scenario scenario = resolved({{"platform", star_platform({.nodes = 4})},
                                      {"model", model_of({1'000'000})},
                                      {"compressor", "topk"},
                                      {"exchange", exchange},
                                      {"device", table}});
  const auto setup = prepare(scenario, read_platform(scenario));
  return setup.traffic.compression.provenance().find(
             "each of several messages priced as one alone") != std::string::npos;
}

TEST(Decoding, WithATableThatHasNoFurtherMessagesSaysSo) {
  EXPECT_TRUE(says_so("allgather", cost_table(encode_s, first_s)));
}
TEST(Decoding, WithATableThatHasFurtherMessagesSaysNothing) {
  EXPECT_FALSE(says_so("allgather", cost_table(encode_s, first_s, further_s)));
}
TEST(Decoding, WhereNobodyDecodesSeveralSaysNothing) {
  EXPECT_FALSE(says_so("gtopk", cost_table(encode_s, first_s)));
}

}  // namespace
}  // namespace syncline
