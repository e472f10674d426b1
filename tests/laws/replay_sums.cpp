// Schedules whose nodes sum gradients.
#include <algorithm>
#include <map>
#include <optional>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {

using Key = ReplayRules::Key;

class SumReplay {
 public:
  explicit SumReplay(ReplayRules& given) : rules_(given) {}

  void pull_sums() {
    rules_.count_applied(rules_.trace.servers);
    std::map<Key, std::size_t> order;  // the order in which a node received them
    std::map<int, std::size_t> of_node;
    std::map<Key, std::map<int, std::int64_t>> read;  // by server
    std::vector<Update> updates;
    std::map<int, std::int64_t> version;                   // of the last row, by server
    std::map<std::pair<int, int>, std::vector<Sum>> sums;  // by server and node
    for (const Row& row : rules_.trace.rows) {
      if (row.verb == Verb::hand_over && row.rank < rules_.trace.workers)
        order[{row.rank, row.iteration}] = of_node[rules_.trace.node_of[index(row.rank)]]++;
      if (row.verb != Verb::apply)
        continue;
      const int server = row.rank - rules_.trace.workers;
      const int node = rules_.trace.node_of[index(row.worker)];
      read[{row.worker, row.iteration}][server] = row.read_version;
      if (version[server] != row.version)
        updates.push_back({.server = server, .sums = {}});
      version[server] = row.version;
      std::vector<Sum>& all = sums[{server, node}];
      if (!updates.back().sums.contains(node)) {
        updates.back().sums[node] = all.size();
        all.push_back({.gradients = {},
                       .first = order.at({row.worker, row.iteration}),
                       .sent = {},
                       .staleness = 0});
      }
      all.back().gradients.emplace_back(row.worker, row.iteration);
      all.back().staleness += static_cast<double>(row.version - 1 - row.read_version);
      ++updates.back().gradients;
    }

    const int nodes = 1 + *std::ranges::max_element(rules_.trace.node_of);
    for (int server = 0; server < rules_.trace.servers; ++server)
      for (int node = 0; node < nodes; ++node)
        remember(server, node, 0, rules_.result.initial);
    std::map<Key, Floats> known;
    const auto gradient_of = [&](const Key& key) -> const Floats& {
      if (const auto found = known.find(key); found != known.end())
        return found->second;
      Floats held(rules_.size);
      for (const auto& [server, at_version] : read.at(key)) {
        const Elements span = part({0, rules_.size}, rules_.trace.servers, server, server + 1);
        const int node = rules_.trace.node_of[index(std::get<0>(key))];
        const bool copied =
            std::get<1>(key) > 0;  // in its first iteration a worker has the initial parameters
        std::ranges::transform(
            versions_[{server, rules_.scenario.compressed_pulls ? node : 0}].at(at_version),
            held.begin() + static_cast<std::ptrdiff_t>(span.begin), [&](float value) {
              return copied ? as_sent(value, rules_.scenario.precision) : value;
            });
      }
      const auto& [worker, iteration] = key;
      return known[key] = rules_.gradient(worker, iteration, held, rules_.forward_weight(key));
    };
    std::map<Key, int> applied;
    version.clear();
    std::int64_t whole = 0;
    for (const Update& update : updates) {
      const int server = update.server;
      const Elements span = part({0, rules_.size}, rules_.trace.servers, server, server + 1);
      Floats total(span.end - span.begin);
      const double weight = rules_.rate(whole) / rules_.trace.workers;
      double weighed = 0;
      for (const auto& [node, index] : update.sums) {
        std::vector<Sum>& all = sums.at({server, node});
        make_sums(all, index, node, span, gradient_of);
        const double staleness =
            all[index].staleness / static_cast<double>(all[index].gradients.size());
        const double part =
            rules_.learning.inverse_staleness
                ? rules_.trace.workers / (std::max(staleness, 1.0) * update.gradients)
                : 1;
        const auto factor = static_cast<float>(part);
        for (std::size_t i = 0; i < total.size(); ++i)
          total[i] += factor * (*all[index].sent)[i];
        weighed += part * static_cast<double>(all[index].gradients.size());
        for (const Key& key : all[index].gradients)
          whole += ++applied[key] == rules_.trace.servers ? 1 : 0;
      }
      rules_.step(rules_.parameters, rules_.velocity, span, total, weighed, weight,
                  rules_.learning.rate_in_residual);
      const std::int64_t made = ++version[server];
      if (!rules_.scenario.compressed_pulls)
        remember(server, 0, made, rules_.parameters);
      else
        for (const auto& [node, index] : update.sums)
          versions_[{server, node}][made] = rules_.answer(
              {rules_.trace.workers + rules_.trace.servers + nodes + server * nodes + node, 1, 0,
               0},
              span, static_cast<int>(made));
    }
  }

 private:
  struct Sum {
    std::vector<Key> gradients;
    std::size_t first = 0;  // index among the node's gradients
    std::optional<Floats> sent;
    double staleness = 0;  // sum over all gradients, in updates
  };

  // One update of a server.
  struct Update {
    int server = 0;
    std::map<int, std::size_t> sums;  // for each node, the index of its sum
    int gradients = 0;
  };

  void remember(int server, int node, std::int64_t version, const Floats& parameters) {
    const Elements span = part({0, rules_.size}, rules_.trace.servers, server, server + 1);
    versions_[{server, node}][version] = {
        parameters.begin() + static_cast<std::ptrdiff_t>(span.begin),
        parameters.begin() + static_cast<std::ptrdiff_t>(span.end)};
  }

  // Makes sums in the order in which the node sent them, which may differ from that of updates.
  template <class GradientOf>
  void make_sums(std::vector<Sum>& all, std::size_t index, int node, const Elements& span,
                 const GradientOf& gradient_of) {
    std::vector<Sum*> in_order;
    for (Sum& sum : all)
      if (!sum.sent && sum.first <= all[index].first)
        in_order.push_back(&sum);
    std::ranges::sort(in_order, {}, &Sum::first);
    for (Sum* sum : in_order) {
      Floats values(span.end - span.begin);
      for (const Key& key : sum->gradients)
        for (std::size_t i = span.begin; i < span.end; ++i)
          values[i - span.begin] += as_sent(gradient_of(key)[i], rules_.scenario.precision);
      sum->sent =
          rules_.seen({rules_.trace.workers + rules_.trace.servers + node, 0, 0, span.begin}, span,
                      static_cast<int>(sum->first + sum->gradients.size()), values.data());
    }
  }

  ReplayRules& rules_;
  // Each server's part of the parameters, by version: its own (node 0) or, with pull = compressed,
  // what each node has of it.
  std::map<std::pair<int, int>, std::map<std::int64_t, Floats>> versions_;
};

}  // namespace

void replay_sums(ReplayRules& rules) {
  SumReplay(rules).pull_sums();
}

}  // namespace syncline
