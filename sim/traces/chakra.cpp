#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/report/timeline.h"
#include "sim/traces/traces.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

// In protobuf's JSON, whole numbers of 64 bits are text.
Json attribute(const char* name, std::uint64_t value) {
  return {{"name", name}, {"int64Val", std::to_string(value)}};
}

const Json on_the_device{{"name", "is_cpu_op"}, {"boolVal", false}};

class ChakraWriter {
 public:
  explicit ChakraWriter(std::ostream& out) : out_(out) {}

  // Writes a node and returns its number.
  std::size_t node(const std::string& name, const char* type,
                   const std::vector<std::size_t>& requires_, std::int64_t duration_us,
                   const Json& attributes) {
    Json node{{"id", std::to_string(++nodes_)}, {"name", name}, {"type", type}};
    for (const std::size_t before : requires_)
      node["dataDeps"].push_back(std::to_string(before));
    if (duration_us > 0)  // a field with the value 0 is left out
      node["durationMicros"] = std::to_string(duration_us);
    node["attr"] = attributes;
    out_ << node.dump(2) << "\n";
    return nodes_;
  }

 private:
  std::ostream& out_;
  std::size_t nodes_ = 0;
};

}  // namespace

const std::string chakra_begin =
    Json{{"version", "0.0.4"},
         {"attr", {{{"name", "schema"}, {"stringVal", "1.0.2-chakra.1.0.0"}}}}}
        .dump(2) +
    "\n";

void write_chakra(const Trace& trace, int worker, const std::vector<std::uint64_t>& bucket_bytes,
                  bool overlap, std::ostream& out) {
  const int iteration = iteration_in_the_middle(trace);
  std::vector<const Row*> rows;
  for (const Row& row : trace.rows)
    if (row.rank == worker && row.iteration == iteration && row.stream == Stream::compute &&
        row.verb != Verb::wait)
      rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, &Row::start_s);

  out << chakra_begin;
  ChakraWriter writer(out);
  std::vector<std::size_t> computed;  // the last computation
  std::vector<std::size_t> reduced;   // the last all-reduce
  const auto reduce = [&](std::size_t bucket) {
    if (bucket_bytes[bucket] == 0)
      return;
    std::vector<std::size_t> before = computed;
    before.insert(before.end(), reduced.begin(), reduced.end());
    reduced = {writer.node(
        "all-reduce of bucket " + std::to_string(bucket), "COMM_COLL_NODE", before, 0,
        {on_the_device, attribute("comm_type", 0), attribute("comm_size", bucket_bytes[bucket])})};
  };
  double passed_s = 0;
  for (const Row* row : rows) {
    const bool steps = row->verb == Verb::step || row->verb == Verb::launch;
    const std::int64_t began_us = std::llround(passed_s * 1e6);  // keeps the sum right
    passed_s += row->end_s - row->start_s;
    const std::int64_t duration_us = std::llround(passed_s * 1e6) - began_us;
    if (steps && duration_us == 0)
      continue;
    std::vector<std::size_t> before = computed;
    if (steps)
      before.insert(before.end(), reduced.begin(), reduced.end());
    std::string name(name_of(row->verb));
    if (row->bucket >= 0)
      name += " of bucket " + std::to_string(row->bucket);
    computed = {writer.node(name, "COMP_NODE", before, duration_us, Json::array({on_the_device}))};
    const auto bucket = static_cast<std::size_t>(row->bucket);
    if (row->verb != Verb::backward)
      continue;
    if (overlap)
      reduce(bucket);
    else if (bucket + 1 == bucket_bytes.size())
      for (std::size_t b = 0; b <= bucket; ++b)
        reduce(b);
  }
}

}  // namespace syncline
