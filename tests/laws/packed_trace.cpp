#include "tests/laws/packed_trace.h"

#include <cstdio>
#include <sstream>

#include "tests/laws/packed_learned.h"

namespace syncline {

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string packed(const Trace& trace) {
  std::ostringstream out;
  out << trace.workers << ' ' << trace.servers << ' ' << number(trace.end_s) << ' ' << trace.flows
      << ' ' << trace.in_step << ' ' << trace.own_parameters << ' ' << trace.round << ' '
      << number(trace.window.from_s) << ' ' << number(trace.window.to_s) << ' ' << trace.window.warm
      << ' ' << trace.cut_short << ' ' << number(trace.profiles_s) << ' '
      << number(trace.alone_per_s) << ' ' << trace.rank_names.size() << ' ' << trace.links.size()
      << ' ' << trace.rows.size() << ' ' << trace.messages.size() << ' ' << number(trace.sample_s)
      << ' ' << number(trace.again_in_accumulate) << ' ' << trace.again_in_backward.size();
  for (const double part : trace.again_in_backward)
    out << ' ' << number(part);
  out << '\n';
  for (const std::string& name : trace.rank_names)
    out << name << '\n';
  for (const int worker : trace.on_worker)
    out << worker << ' ';
  for (const double part : trace.off_node)
    out << number(part) << ' ';
  for (const bool one_core : trace.one_core)
    out << one_core << ' ';
  for (const int node : trace.node_of)
    out << node << ' ';
  for (const LinkUse& link : trace.links) {
    out << link.name << ' ' << number(link.bytes) << ' ' << number(link.measured_bytes) << ' '
        << link.fatpipe << ' ' << number(link.measured_flow_bytes) << ' '
        << number(link.bandwidth.first_Bps) << ' ' << number(link.bandwidth.period_s) << ' '
        << link.bandwidth.changes.size();
    for (const auto& [at_s, Bps] : link.bandwidth.changes)
      out << ' ' << number(at_s) << ' ' << number(Bps);
    out << '\n';
  }
  for (const TracedMessage& message : trace.messages)
    out << number(message.sent_s) << ' ' << number(message.arrived_s) << ' ' << message.from << ' '
        << message.to << ' ' << message.bytes << ' ' << message.sender_row << ' '
        << message.receiver_row << '\n';
  for (const LinkUse& link : trace.links) {
    out << link.sampled_bytes.size();
    for (const double bytes : link.sampled_bytes)
      out << ' ' << number(bytes);
    out << '\n';
  }
  out << trace.pauses.size() << '\n';
  for (const Pause& pause : trace.pauses)
    out << number(pause.start_s) << ' ' << number(pause.end_s) << ' ' << pause.rank << ' '
        << static_cast<int>(pause.stage) << '\n';
  for (const Row& row : trace.rows)
    out << name_of(row.verb) << ' ' << number(row.start_s) << ' ' << number(row.end_s) << ' '
        << static_cast<int>(row.stream) << ' ' << static_cast<int>(row.stage) << ' ' << row.rank
        << ' ' << row.bucket << ' ' << row.iteration << ' ' << row.bytes_sent << ' '
        << row.bytes_received << ' ' << row.version << ' ' << row.read_version << ' ' << row.worker
        << '\n';
  if (trace.learned)
    pack(*trace.learned, out);
  return out.str();
}

Trace unpacked(const std::string& text) {
  std::istringstream in(text);
  Trace trace;
  std::size_t names = 0;
  std::size_t links = 0;
  std::size_t rows = 0;
  std::size_t messages = 0;
  std::size_t buckets = 0;
  in >> trace.workers >> trace.servers >> trace.end_s >> trace.flows >> trace.in_step >>
      trace.own_parameters >> trace.round >> trace.window.from_s >> trace.window.to_s >>
      trace.window.warm >> trace.cut_short >> trace.profiles_s >> trace.alone_per_s >> names >>
      links >> rows >> messages >> trace.sample_s >> trace.again_in_accumulate >> buckets;
  trace.again_in_backward.resize(buckets);
  for (double& part : trace.again_in_backward)
    in >> part;
  in.ignore();
  trace.rank_names.resize(names);
  for (std::string& name : trace.rank_names)
    std::getline(in, name);
  trace.on_worker.resize(names);
  for (int& worker : trace.on_worker)
    in >> worker;
  trace.off_node.resize(names);
  for (double& part : trace.off_node)
    in >> part;
  for (int worker = 0; worker < trace.workers; ++worker) {
    bool one_core = false;
    in >> one_core;
    trace.one_core.push_back(one_core);
  }
  trace.node_of.resize(static_cast<std::size_t>(trace.workers));
  for (int& node : trace.node_of)
    in >> node;
  trace.links.resize(links);
  for (LinkUse& link : trace.links) {
    std::size_t changes = 0;
    in >> link.name >> link.bytes >> link.measured_bytes >> link.fatpipe >>
        link.measured_flow_bytes >> link.bandwidth.first_Bps >> link.bandwidth.period_s >> changes;
    link.bandwidth.changes.resize(changes);
    for (auto& [at_s, Bps] : link.bandwidth.changes)
      in >> at_s >> Bps;
  }
  trace.messages.resize(messages);
  for (TracedMessage& message : trace.messages)
    in >> message.sent_s >> message.arrived_s >> message.from >> message.to >> message.bytes >>
        message.sender_row >> message.receiver_row;
  for (LinkUse& link : trace.links) {
    std::size_t samples = 0;
    in >> samples;
    link.sampled_bytes.resize(samples);
    for (double& bytes : link.sampled_bytes)
      in >> bytes;
  }
  std::size_t pauses = 0;
  in >> pauses;
  trace.pauses.resize(pauses);
  for (Pause& pause : trace.pauses) {
    int stage = 0;
    in >> pause.start_s >> pause.end_s >> pause.rank >> stage;
    pause.stage = static_cast<std::uint8_t>(stage);
  }
  trace.rows.resize(rows);
  for (Row& row : trace.rows) {
    std::string verb;
    int stream = 0;
    int stage = 0;
    in >> verb >> row.start_s >> row.end_s >> stream >> stage >> row.rank >> row.bucket >>
        row.iteration >> row.bytes_sent >> row.bytes_received >> row.version >> row.read_version >>
        row.worker;
    row.verb = verb_of(verb).value();
    row.stream = static_cast<Stream>(stream);
    row.stage = static_cast<std::uint8_t>(stage);
  }
  trace.learned = unpack_learned(in);
  return trace;
}

}  // namespace syncline
