#include "tests/reference/servers.h"

#include <algorithm>
#include <cmath>

namespace syncline::reference {

using Id = Happenings::Id;

int partitions_of(const Facts& facts, const Message& message) {
  return std::max(1, static_cast<int>(std::ceil(message.bytes / facts.partition_bytes)));
}

Servers::Servers(Happenings& happenings, Player& player, const Facts& facts)
    : happenings_(happenings), player_(player), facts_(facts), earlier_(index(facts.ranks())) {
  for (Ids& of_rank : earlier_)
    for (int stage = 0; stage < stages; ++stage)
      of_rank.push_back(happenings.when_all());
}

Id Servers::after_earlier(int rank, Stage stage, Id come) {
  return happenings_.when_all({come, earlier_[index(rank)][stage]});
}

// Sums or gathers in m - 1 steps round the workers of the node.
Id Servers::in_node(int rank, Stage stage, double bytes, Id come) {
  const std::vector<int>& local = facts_.nodes[index(facts_.node_of[index(rank)])];
  const auto m = static_cast<int>(local.size());
  if (!facts_.aggregate || m == 1)
    return come;
  Parts parts;
  append_ring(parts, local, rank, m - 1, bytes / m);
  return earlier_[index(rank)][stage] =
             player_.play(parts, rank, stage, after_earlier(rank, stage, come));
}

Id Servers::send_all(int from, Id begin, int first, std::vector<Ids>& arrivals,
                     const std::function<double(int to)>& bytes) {
  if (facts_.step_overhead_s > 0)
    begin = happenings_.delay(begin, facts_.step_overhead_s);
  Ids injected;
  for (int i = 0; i < static_cast<int>(arrivals.size()); ++i) {
    const auto [sent, arrived] = player_.send(from, first + i, bytes(first + i), begin);
    injected.push_back(sent);
    arrivals[index(i)].push_back(arrived);
  }
  return happenings_.when_all(injected);
}

void Servers::pass_servers(double bytes, Ids& done) {
  const int workers = facts_.workers();
  const auto part_of = [&](int worker) {  // of a worker's bytes, to or from each server
    const std::size_t m = facts_.nodes[index(facts_.node_of[index(worker)])].size();
    return bytes / facts_.servers / (facts_.aggregate ? static_cast<double>(m) : 1.0);
  };
  std::vector<Ids> pushed(index(facts_.servers));
  double to_each = 0;
  for (int worker = 0; worker < workers; ++worker) {
    Id& earlier = earlier_[index(worker)][push];
    const Id begin = after_earlier(worker, push, done[index(worker)]);
    earlier = send_all(worker, begin, workers, pushed, [&](int) { return part_of(worker); });
    to_each += part_of(worker);
    done[index(worker)] = earlier;
  }
  std::vector<Ids> pulled(index(workers));
  for (int server = workers; server < facts_.ranks(); ++server) {
    Ids& earlier = earlier_[index(server)];
    const Id come = happenings_.when_all(pushed[index(server - workers)]);
    earlier[push] =
        happenings_.turn(after_earlier(server, push, come), facts_.memory_of[index(server)],
                         memory_bytes_per_sum * to_each / facts_.memory_Bps);
    const Id begin = after_earlier(server, pull, earlier[push]);
    earlier[pull] = send_all(server, begin, 0, pulled, part_of);
  }
  for (int worker = 0; worker < workers; ++worker) {
    const Id come = happenings_.when_all(pulled[index(worker)]);
    done[index(worker)] = earlier_[index(worker)][pull] =
        after_earlier(worker, pull, happenings_.when_all({done[index(worker)], come}));
  }
}

std::vector<Id> Servers::average(const Message& message, const std::vector<Id>& ready) {
  const int partitions = partitions_of(facts_, message);
  const double bytes = message.bytes / partitions;
  const bool alone = facts_.workers() == 1 || (facts_.aggregate && facts_.nodes.size() == 1);
  std::vector<Ids> ends(ready.size());
  for (int partition = 0; partition < partitions; ++partition) {
    Ids done = ready;
    for (int worker = 0; worker < facts_.workers(); ++worker)
      done[index(worker)] = in_node(worker, sum_in_node, bytes, done[index(worker)]);
    if (!alone)
      pass_servers(bytes, done);
    for (int worker = 0; worker < facts_.workers(); ++worker)
      ends[index(worker)].push_back(in_node(worker, spread_in_node, bytes, done[index(worker)]));
  }
  Ids averages;
  for (const Ids& of_worker : ends)
    averages.push_back(happenings_.when_all(of_worker));
  return averages;
}

}  // namespace syncline::reference
