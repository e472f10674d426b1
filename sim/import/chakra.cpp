// Reads Chakra execution traces in JSON, as written by chakra_jsonizer (mlcommons/chakra 1.0:
// schema/protobuf/et_def.proto, src/jsonizer): one object after another, first GlobalMetadata, then
// the nodes of one rank, in proto3's JSON, where 64-bit numbers are text and default values are
// absent. Reads one data-parallel iteration: the computation of one stream, and all-reduces.
// Operators of the host, which a trace of PyTorch has, take no time: a node that depends on an
// operator of the host depends on the operator's own dependencies instead.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"
#include "sim/import/imported_model.h"

namespace syncline {
namespace {

using Json = nlohmann::json;

constexpr double most_id = 9007199254740992;  // limit of whole numbers in doubles
constexpr double most_microseconds = 1e13;    // 1e7 s
constexpr int deepest = 32;
constexpr int most_trace_nodes = 500'000;
constexpr std::size_t most_dependencies = 2'000'000;  // of all nodes together

const std::vector<std::string> node_types{"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                          "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                          "COMM_RECV_NODE", "COMM_COLL_NODE"};
const std::vector<std::string> collectives{
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

struct Node {
  double id = 0;
  std::string name;
  int line = 0;
  bool communicates = false;
  bool of_host = false;
  double broadcast_bytes = 0;  // the model's buffers, sent by DDP: no gradients
  double ns = 0;
  double bytes = 0;
  std::vector<double> needs;  // ids
};

// Calls `read` for each object of a text, with the line in which it begins.
void for_each_object(const std::string& path, const std::string& text,
                     const std::function<void(int line, std::string_view json)>& read) {
  int line = 1;
  int begin_line = 0;
  int depth = 0;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n' ? 1 : 0;
    if (c == '\0')
      refuse_at(path, line, "a NUL byte: allowed is text in UTF-8");
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '{' || c == '[') {
      if (depth == 0 && c == '{') {
        begin = i;
        begin_line = line;
      } else if (depth == 0 || depth == deepest) {
        refuse_at(
            path, line,
            depth == 0
                ? "a list: allowed are objects one after the other, as chakra_jsonizer writes them"
                : fmt::format("more than {} levels", deepest));
      }
      ++depth;
    } else if (depth == 0) {
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
        refuse_at(path, line,
                  "'" + printable(std::string(1, c)) + "' between objects: allowed are blanks");
    } else if (c == '"') {
      quoted = true;
    } else if (c == '}' || c == ']') {
      if (--depth == 0)
        read(begin_line, std::string_view(text).substr(begin, i + 1 - begin));
    }
  }
  if (depth > 0)
    refuse_at(path, begin_line, "the object that begins here does not end");
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : "";
}

double number(const std::string& name, const Json& value, double most) {
  return checked_number({.name = name, .minimum = 0, .maximum = most, .whole = true},
                        value.is_number_unsigned() ? value.dump() : text_of(value));
}

double member(const Json& node, const char* name, double most) {
  const auto found = node.find(name);
  return found == node.end() ? 0 : number(name, *found, most);
}

// A whole number in the attribute of this name; false counts as 0, true as 1. Returns `missing` if
// the attribute is absent.
double attribute(const Json& node, const std::string& name, double most, double missing) {
  const auto list = node.find("attr");
  if (list == node.end())
    return missing;
  if (!list->is_array())
    refuse("attr is no list");
  for (const Json& one : *list) {
    if (!one.is_object() || !one.contains("name") || one["name"] != name)
      continue;
    for (const auto& [key, value] : one.items())
      if (value.is_boolean())
        return value.get<bool>() ? 1 : 0;
      else if (key.ends_with("Val"))
        return number(name, value, most);
    return 0;
  }
  return missing;
}

// Enums are written by name; protobuf also allows their numbers.
std::string type_of(const Json& node) {
  const Json& type = node["type"];
  if (type.is_number_unsigned() && type.get<std::uint64_t>() < node_types.size())
    return node_types[type.get<std::size_t>()];
  if (type.is_string() && std::ranges::count(node_types, text_of(type)) > 0)
    return text_of(type);
  refuse("type = {}: allowed are {}", brief(type.is_string() ? text_of(type) : "?"),
         listed(node_types));
}

double nanoseconds_of(const Json& node) {
  const double ns = 1000 * member(node, "durationMicros", most_microseconds);
  if (ns == 0 && attribute(node, "num_ops", most_id, 0) > 0)
    refuse("num_ops without durationMicros: allowed are times, not numbers of operations");
  return ns;
}

const std::string& collective_of(const Json& node) {
  const double type = attribute(node, "comm_type", 1e9, -1);
  if (type < 0 || type >= static_cast<double>(collectives.size()))
    refuse("no comm_type from 0 to {}", collectives.size() - 1);
  return collectives[static_cast<std::size_t>(type)];
}

double collective_bytes_of(const Json& node) {
  const double bytes = attribute(node, "comm_size", most_message_bytes, 0);
  if (bytes == 0)
    refuse("no comm_size: allowed are bytes from 1");
  return bytes;
}

// Reads one node. Returns true if the node takes part in the iteration.
bool read_node(const Json& json, Node& node) {
  if (!json.contains("type"))
    refuse("no type: allowed are {}", listed(node_types));
  node.id = member(json, "id", most_id);
  node.name = json.contains("name") ? text_of(json["name"]) : "";
  for (const char* list : {"ctrlDeps", "dataDeps"})
    if (const auto needs = json.find(list); needs != json.end()) {
      if (!needs->is_array())
        refuse("{} is no list", list);
      for (const Json& id : *needs)
        node.needs.push_back(number(list, id, most_id));
    }
  const std::string type = type_of(json);
  if (type == "METADATA_NODE")
    return false;
  node.of_host = attribute(json, "is_cpu_op", 1, 0) > 0;
  if (node.of_host)
    return true;
  node.communicates = type == "COMM_COLL_NODE";
  if (type != "COMP_NODE" && !node.communicates)
    refuse("{} is not simulated: allowed are COMP_NODE, COMM_COLL_NODE and METADATA_NODE", type);
  if (!node.communicates) {
    node.ns = nanoseconds_of(json);
    return true;
  }
  const std::string& collective = collective_of(json);
  if (collective != "ALL_REDUCE" && collective != "BROADCAST")
    refuse("{} is not simulated: allowed is ALL_REDUCE, by which workers add their gradients",
           collective);
  node.communicates = collective == "ALL_REDUCE";
  (node.communicates ? node.bytes : node.broadcast_bytes) = collective_bytes_of(json);
  return true;
}

// Puts the nodes in an order in which one stream can compute them: nodes that wait only for
// computation first, by number; all-reduces as soon as their gradients exist.
class Order {
 public:
  Order(const std::string& path, std::vector<Node> nodes) : path_(path), nodes_(std::move(nodes)) {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!index_.emplace(nodes_[i].id, i).second)
        refuse_at(path_, nodes_[i].line, "a second node with id " + number_text(nodes_[i].id));
  }

  // Metadata nodes count as done from the beginning.
  ImportedIteration iteration(const std::set<double>& metadata) {
    missing_.resize(nodes_.size());
    users_.resize(nodes_.size());
    waits_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const double id : nodes_[i].needs) {
        const auto needed = index_.find(id);
        if (needed == index_.end() && !metadata.contains(id))
          refuse_at(path_, nodes_[i].line,
                    "depends on node " + number_text(id) + ", which is absent");
        if (needed == index_.end())
          continue;
        users_[needed->second].push_back(i);
        ++missing_[i];
      }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (missing_[i] == 0)
        ready_.push(key_of(i));
    std::size_t done = 0;
    for (; !ready_.empty(); ++done) {
      const std::size_t next = std::get<2>(ready_.top());
      ready_.pop();
      run(next);
    }
    if (done < nodes_.size())
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (missing_[i] > 0)
          refuse_at(path_, nodes_[i].line, "the node depends on itself, or on one that does");
    return finished();
  }

 private:
  // Sorted by kind (all-reduces, computation, computation that waits for all-reduces), then by id.
  using Key = std::tuple<int, double, std::size_t>;
  Key key_of(std::size_t i) const {
    return {nodes_[i].communicates ? 0 : waits_[i] ? 2 : 1, nodes_[i].id, i};
  }

  void run(std::size_t i) {
    const Node& node = nodes_[i];
    if (!node.communicates) {
      const std::string name = lower(node.name);
      const bool named =
          name.find("fwd") != std::string::npos || name.find("forward") != std::string::npos;
      if (waits_[i])
        iteration_.step_ns += node.ns;
      else if (named && iteration_.gradients.empty())
        iteration_.forward_ns += node.ns;
      else
        iteration_.rest_ns += node.ns;
    } else {
      iteration_.gradients.push_back({node.name, node.bytes, std::exchange(iteration_.rest_ns, 0)});
    }
    for (const std::size_t user : users_[i]) {
      if (nodes_[user].communicates && !node.communicates && waits_[i])
        refuse_at(path_, nodes_[user].line,
                  "an all-reduce after computation that waits for an all-reduce: allowed is one "
                  "iteration");
      waits_[user] =
          waits_[user] || (!nodes_[user].communicates && (node.communicates || waits_[i]));
      if (--missing_[user] == 0)
        ready_.push(key_of(user));
    }
  }

  // The end of forward affects no time, because backward follows without a pause.
  ImportedIteration finished() {
    iteration_.read_as = "Chakra trace, times in us";
    if (const auto hosts = std::ranges::count(nodes_, true, &Node::of_host); hosts > 0)
      iteration_.read_as +=
          fmt::format(", {} of {} nodes are operators of the host, left out", hosts, nodes_.size());
    double broadcast_bytes = 0;
    for (const Node& node : nodes_)
      broadcast_bytes += node.broadcast_bytes;
    if (broadcast_bytes > 0)
      iteration_.read_as +=
          fmt::format(", broadcasts of {} bytes, which are no gradients, left out",
                      number_text(broadcast_bytes));
    if (iteration_.forward_ns == 0 && !iteration_.gradients.empty()) {
      double all = iteration_.rest_ns;
      for (const auto& gradient : iteration_.gradients)
        all += gradient.ns;
      double& first = iteration_.gradients.front().ns;
      iteration_.forward_ns = std::min(all / 3, first / 2);
      first -= iteration_.forward_ns;
      iteration_.read_as += ", forward not named";
    }
    return std::move(iteration_);
  }

  const std::string& path_;
  std::vector<Node> nodes_;
  std::map<double, std::size_t> index_;          // by id
  std::vector<std::vector<std::size_t>> users_;  // nodes that depend on each node
  std::vector<std::size_t> missing_;
  std::vector<bool> waits_;  // true: computation that waits for all-reduces
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready_;
  ImportedIteration iteration_;
};

// Reads the objects of a trace one by one, because a trace may be long, and keeps the nodes of the
// iteration. Refuses a node that cannot be simulated before it reads the nodes after it.
class TraceReader {
 public:
  explicit TraceReader(const std::string& path) : path_(path) {}

  // `line` is the object's line, also for error messages.
  void add(int line, std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
      refuse_at(path_, line, "the object that begins here is no JSON");
    if (json.contains("workload_graph"))
      refuse_at(
          path_, line,
          "workload_graph: allowed is a trace as chakra_jsonizer writes it, an object per node");
    if (std::exchange(is_first_, false) && !json.contains("type"))
      return;  // GlobalMetadata
    Node node{.line = line};
    try {
      if (++count_ > most_trace_nodes)
        refuse("more than {} nodes, which is the limit", most_trace_nodes);
      const bool takes_part = read_node(json, node);
      dependencies_ += node.needs.size();
      if (dependencies_ > most_dependencies)
        refuse("this node and the nodes before it have {} dependencies: allowed are {}",
               dependencies_, most_dependencies);
      if (takes_part)
        nodes_.push_back(std::move(node));
      else
        metadata_.insert(node.id);
    } catch (const std::invalid_argument& error) {
      const bool is_named = json.contains("name") && json["name"].is_string();
      refuse_at(path_, line,
                (is_named ? "node '" + brief(text_of(json["name"])) + "': " : "") + error.what());
    }
  }

  ImportedIteration iteration() {
    if (nodes_.empty())
      throw std::runtime_error(
          path_ + ": JSON without nodes: allowed is a Chakra trace as chakra_jsonizer writes it");
    return Order(path_, std::move(nodes_)).iteration(metadata_);
  }

 private:
  const std::string& path_;
  std::vector<Node> nodes_;
  std::set<double> metadata_;
  int count_ = 0;  // nodes
  std::size_t dependencies_ = 0;
  bool is_first_ = true;
};

}  // namespace

ImportedIteration read_chakra(const std::string& path, const std::string& text) {
  TraceReader trace(path);
  for_each_object(path, text, [&](int line, std::string_view json) { trace.add(line, json); });
  return trace.iteration();
}

ImportedIteration read_recorded_chakra(const std::string& path, std::string_view bytes) {
  TraceReader trace(path);
  for_each_recorded_object(path, bytes,
                           [&](int number, std::string_view json) { trace.add(number, json); });
  return trace.iteration();
}

}  // namespace syncline
