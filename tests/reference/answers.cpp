// Servers that answer each push: a worker pushes a bucket partition by partition, spread over all
// servers; each server applies partitions in the order of arrival, and answers each.
#include <algorithm>
#include <map>

#include "tests/reference/iterations.h"
#include "tests/reference/rounds.h"
#include "tests/reference/servers.h"

namespace syncline::reference {
namespace {

using Id = Happenings::Id;
using Ids = std::vector<Id>;

class Answers {
 public:
  Answers(Happenings& happenings, const Facts& facts, int iterations)
      : happenings_(happenings),
        facts_(facts),
        player_(happenings, facts),
        iterations_(iterations),
        applied_(index(facts.workers())),
        answers_(index(facts.workers())),
        begins_(index(facts.workers())),
        known_(index(facts.workers())),
        known_to_all_(index(facts.workers()), 0) {
    for (const Message& message : facts.buckets)
      for (int p = 0; p < partitions_of(facts, message); ++p)
        bytes_.push_back(message.bytes / partitions_of(facts, message) / facts.servers);
  }

  void add_all() {
    for (int worker = 0; worker < facts_.workers(); ++worker)
      add_pushes(worker);
    for (int worker = 0; worker < facts_.workers(); ++worker)
      for (int iteration = 0; iteration < iterations_; ++iteration)
        add_answers(worker, iteration);
    for (int worker = 0; worker < facts_.workers(); ++worker)
      for (int iteration = 1; iteration < iterations_; ++iteration)
        if (!cached())
          for (const Id answer : answers_[index(worker)][index(iteration - 1)])
            happenings_.require(begins_[index(worker)][index(iteration)], answer);
        else if (iteration > facts_.staleness)
          gates_[{worker, iteration}] = add_gate(worker, iteration);
  }

 private:
  bool cached() const { return facts_.has_cache; }
  int pieces() const { return static_cast<int>(bytes_.size()) * facts_.servers; }

  // When this worker of the platform starts: later if it shares its node, or its place in it, with
  // others.
  double starts_s(int worker) const {
    if (facts_.starts_together)
      return 0;
    const int node = facts_.node_of[index(worker)];
    const std::vector<int>& local = facts_.nodes[index(node)];
    const double part = (worker - local.front() +
                         static_cast<double>(node) / static_cast<double>(facts_.nodes.size())) /
                        static_cast<double>(local.size());
    double all_s = facts_.forward_s[index(worker)];
    for (const double s : facts_.backward_s[index(worker)])
      all_s += s;
    return part * all_s;
  }

  void add_pushes(int worker) {
    Id computed = happenings_.delay(happenings_.when_all(), starts_s(worker));
    Id injected = computed;
    for (int iteration = 0; iteration < iterations_; ++iteration) {
      begins_[index(worker)].push_back(happenings_.when_all({computed}));
      computed = happenings_.delay(begins_[index(worker)].back(), facts_.forward_s[index(worker)]);
      Ids ready;
      for (const double s : facts_.backward_s[index(worker)])
        ready.push_back(computed = happenings_.delay(computed, s));
      applied_[index(worker)].emplace_back();
      std::size_t piece = 0;
      for (std::size_t bucket = 0; bucket < facts_.buckets.size(); ++bucket)
        for (int p = 0; p < partitions_of(facts_, facts_.buckets[bucket]); ++p, ++piece) {
          const Id begin =
              happenings_.when_all({injected, facts_.overlap ? ready[bucket] : ready.back()});
          Ids sent;
          for (int server = facts_.workers(); server < facts_.ranks(); ++server) {
            const auto [out, arrived] = player_.send(worker, server, bytes_[piece], begin);
            sent.push_back(out);
            const Id comes = happenings_.delay(arrived, facts_.nudge_s ? facts_.nudge_s() : 0);
            applied_[index(worker)].back().push_back(
                happenings_.turn(comes, facts_.memory_of[index(server)],
                                 facts_.update_bytes * bytes_[piece] / facts_.memory_Bps));
          }
          injected = happenings_.when_all(sent);
        }
    }
  }

  // A push of clock c is answered when every worker's push of clock c - staleness is applied.
  void add_answers(int worker, int iteration) {
    answers_[index(worker)].emplace_back();
    known_[index(worker)].resize(index(pieces()), 0);
    for (int piece = 0; piece < pieces(); ++piece) {
      Ids needs = {applied_[index(worker)][index(iteration)][index(piece)]};
      if (iteration >= facts_.staleness)
        for (const auto& other : applied_)
          needs.push_back(
              other[index(iteration - static_cast<int>(facts_.staleness))][index(piece)]);
      const Id out = happenings_.when_all(needs);
      const int server = facts_.workers() + piece % facts_.servers;
      const Id come =
          player_.send(server, worker, bytes_[index(piece / facts_.servers)], out).second;
      answers_[index(worker)].back().push_back(come);
      if (cached()) {
        happenings_.tell(out, [this, come, piece] { has_[come] = of_slowest(piece); });
        happenings_.tell(come, [this, worker, piece, come] { learns(worker, piece, has_[come]); });
      }
    }
  }

  // The number of every worker's iterations that the server has applied.
  int of_slowest(int piece) const {
    int slowest = iterations_;
    for (const auto& of_worker : applied_) {
      int count = 0;
      while (count < iterations_ && happenings_.at(of_worker[index(count)][index(piece)]) >= 0)
        ++count;
      slowest = std::min(slowest, count);
    }
    return slowest;
  }

  // A worker with a cache begins the iterations that it knows enough for.
  void learns(int worker, int piece, int iterations) {
    std::vector<int>& known = known_[index(worker)];
    known[index(piece)] = std::max(known[index(piece)], iterations);
    int& all = known_to_all_[index(worker)];
    for (const int now = *std::ranges::min_element(known); all < now;) {
      ++all;
      const auto gate = gates_.find({worker, all + static_cast<int>(facts_.staleness)});
      if (gate != gates_.end())
        happenings_.let_go(gate->second);
    }
  }

  Id add_gate(int worker, int iteration) {
    const Id gate = happenings_.held();
    happenings_.require(begins_[index(worker)][index(iteration)], gate);
    return gate;
  }

  Happenings& happenings_;
  const Facts& facts_;
  Player player_;
  int iterations_;
  std::vector<double> bytes_;              // of each partition, per server
  std::vector<std::vector<Ids>> applied_;  // of each worker, by iteration and piece
  std::vector<std::vector<Ids>> answers_;
  std::vector<Ids> begins_;                  // of each worker, by iteration
  std::vector<std::vector<int>> known_;      // by worker and piece: everybody's iterations
  std::vector<int> known_to_all_;            // the minimum of these over pieces
  std::map<std::pair<int, int>, Id> gates_;  // opens a worker's iteration
  std::map<Id, int> has_;                    // clock that an answer brings
};

}  // namespace

double serving_s(const Facts& facts, int iterations) {
  Happenings happenings(facts.link_Bps);
  Answers answers(happenings, facts, iterations);
  answers.add_all();
  happenings.run();
  return happenings.now_s();
}

double seconds_of(const Facts& facts, int iterations) {
  if (facts.shards)
    return sharding_s(facts, iterations);
  return facts.answers_each ? serving_s(facts, iterations) : averaging_s(facts, iterations);
}

}  // namespace syncline::reference
