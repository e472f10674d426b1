// Chakra's recorded traces (.et), written here by protobuf's rules from the JSON of the same trace.
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "sim/import/imported_model.h"
#include "sim/setup/model.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::string iteration_json = SYNCLINE_SOURCE_DIR "/tests/program/fixtures/iteration.json";

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}

std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string message(const std::string& bytes) {
  return varint(bytes.size()) + bytes;
}

std::uint64_t number_of(const Json& text) {
  return std::stoull(text.get<std::string>());
}

std::string attribute(const Json& attribute) {
  std::string bytes = bytes_field(1, attribute["name"]);
  if (attribute.contains("boolVal"))
    bytes += number_field(27, attribute["boolVal"].get<bool>() ? 1 : 0);
  if (attribute.contains("int64Val"))
    bytes += number_field(9, number_of(attribute["int64Val"]));
  if (attribute.contains("stringVal"))
    bytes += bytes_field(29, attribute["stringVal"]);
  return bytes;
}

// proto3 writes lists of numbers `packed`; the other form must be readable, too.
std::string node(const Json& json, bool packed) {
  std::string bytes;
  if (json.contains("id"))
    bytes += number_field(1, number_of(json["id"]));
  bytes += bytes_field(2, json["name"]);
  bytes += number_field(3, json["type"] == "COMM_COLL_NODE" ? 7 : 4);
  for (const auto& [field, list] : {std::pair{4u, "ctrlDeps"}, {5u, "dataDeps"}}) {
    if (!json.contains(list))
      continue;
    std::string all;
    for (const Json& id : json[list])
      all += packed ? varint(number_of(id)) : number_field(field, number_of(id));
    bytes += packed ? bytes_field(field, all) : all;
  }
  bytes += number_field(6, 123456789);  // start_time_micros, which is not read
  if (json.contains("durationMicros"))
    bytes += number_field(7, number_of(json["durationMicros"]));
  bytes += bytes_field(8, bytes_field(1, "[[1, 2]]"));  // inputs
  for (const Json& one : json.value("attr", Json::array()))
    bytes += bytes_field(10, attribute(one));
  bytes += varint(99 << 3 | 1) + std::string(8, '\7') + varint(98 << 3 | 5) + std::string(4, '\7');
  return bytes;
}

std::string recorded_iteration(bool packed = true) {
  std::string objects = "[" + text_of(iteration_json) + "]";
  for (std::size_t at = 0; (at = objects.find("}{", at)) != std::string::npos;)
    objects.replace(at, 2, "},{");
  std::string bytes;
  for (const Json json = Json::parse(objects); const Json& one : json)
    bytes += message(one.contains("type")
                         ? node(one, packed)
                         : bytes_field(1, "0.0.4") + bytes_field(2, attribute(one["attr"][0])));
  return bytes;
}

void expect_same(const Model& a, const Model& b) {
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].name, b.layers[i].name);
    EXPECT_EQ(a.layers[i].parameters, b.layers[i].parameters);
    EXPECT_EQ(a.layers[i].forward_flop, b.layers[i].forward_flop);
  }
  EXPECT_EQ(a.times->forward_s, b.times->forward_s);
  EXPECT_EQ(a.times->backward_s, b.times->backward_s);
  EXPECT_EQ(a.times->step_s, b.times->step_s);
  EXPECT_EQ(a.read_as, b.read_as);
}

TEST(RecordedChakra, IsTheModelThatItsJsonIs) {
  const TemporaryFolder folder;
  for (const bool packed : {true, false})
    expect_same(read_model(folder.write("trace.et", recorded_iteration(packed))),
                read_model(iteration_json));
}

// A length of 10 is a newline and one of 9 a tab: a file may begin like an empty line.
TEST(RecordedChakra, IsKnownByItsBytesWhateverItsFirstLengthLooksLike) {
  const std::string all = recorded_iteration();
  const std::string nodes = all.substr(1 + static_cast<unsigned char>(all[0]));
  const TemporaryFolder folder;
  for (const char* version : {"1.2.3.4", "1.2.3.45", "{", "11", "1"})
    expect_same(read_model(folder.write("trace", message(bytes_field(1, version)) + nodes)),
                read_model(iteration_json));
}

TEST(RecordedChakra, NoTextIsTakenForOne) {
  for (const char* text : {"", "\n", "\n\n\n", "\n\nname,parameters,forward_flop\n",
                           "name,parameters,forward_flop\na,1,1\n", "DATA\n1\n", "{\"a\": 1}",
                           "\t\t\n", "# a comment\n"})
    EXPECT_FALSE(is_recorded_chakra(text)) << text;
}

// Cut anywhere, a trace is refused in one line, or read as a shorter trace that lacks something.
TEST(RecordedChakra, IsRefusedWhereItIsCut) {
  const std::string bytes = recorded_iteration();
  const TemporaryFolder folder;
  int refused = 0;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const std::string path = folder.write("t.et", bytes.substr(0, size));
    try {
      read_model(path);
    } catch (const std::runtime_error& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) - 8);
  const std::string path = folder.write("t.et", bytes.substr(0, bytes.size() - 3));
  expect_mentions(error_of([&] { read_model(path); }),
                  {"t.et:7: the message with this number does not end"});
}

TEST(RecordedChakra, NamesTheMessageThatIsNoNode) {
  const TemporaryFolder folder;
  const std::string metadata = message(bytes_field(1, "0.0.4"));
  const std::string group = folder.write("g.et", metadata + message(varint(5 << 3 | 3)));
  expect_mentions(error_of([&] { read_model(group); }),
                  {"g.et:2: the message with this number is no node of a Chakra trace"});
  const std::string sends =
      folder.write("s.et", metadata + message(bytes_field(2, "send") + number_field(3, 5)));
  expect_mentions(error_of([&] { read_model(sends); }),
                  {"s.et:2: node 'send': COMM_SEND_NODE is not simulated"});
}

// Five million empty messages, which are nodes of type 0, would become a gigabyte of JSON.
TEST(RecordedChakra, RefusesABadNodeBeforeItReadsThoseBehindIt) {
  const TemporaryFolder folder;
  folder.write("m.et", message(bytes_field(1, "0.0.4")) + std::string(5'000'000, '\0'));
  const Ended ended =
      run_program({"run", "--platform", "two-hosts", "--model", "m.et"}, folder.path(), [] {
        const rlimit memory{200'000'000, 200'000'000};
        setrlimit(RLIMIT_DATA, &memory);
      });
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"m.et:2: INVALID_NODE is not simulated"});
}

TEST(RecordedChakra, IsRefusedWhereItIsLargerThanAnyTrace) {
  const TemporaryFolder folder;
  const std::string metadata = message(bytes_field(1, "0.0.4"));
  const auto refusal_of = [&](const std::string& nodes) {
    const std::string path = folder.write("l.et", metadata + nodes);
    return error_of([&] { read_model(path); });
  };
  // A dependency on node 1 is one byte.
  const auto depending = [&](std::uint64_t id, std::size_t times) {
    return message(number_field(1, id) + number_field(3, 4) +
                   bytes_field(5, std::string(times, '\1')));
  };
  expect_mentions(refusal_of(depending(2, 2'000'000)),
                  {"l.et:2: the message with this number has 20000", "allowed are up to 2000000"});
  expect_mentions(
      refusal_of(depending(2, 1'100'000) + depending(3, 1'100'000)),
      {"l.et:3: this node and the nodes before it have 2200000 dependencies: allowed are 2000000"});
  const std::string metadata_node = message(number_field(3, 1));
  std::string many;
  for (int i = 0; i < 500'001; ++i)
    many += metadata_node;
  expect_mentions(refusal_of(many), {"l.et:500002: more than 500000 nodes, which is the limit"});
}

}  // namespace
}  // namespace syncline
