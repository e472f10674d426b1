#include "tests/reference/exchanges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>

namespace syncline::reference {
namespace {

// The ranks at the same place in their nodes.
std::vector<int> across(const Facts& facts, int rank) {
  const std::vector<int>& local = facts.nodes[index(facts.node_of[index(rank)])];
  const auto place = std::ranges::find(local, rank) - local.begin();
  std::vector<int> ranks;
  for (const std::vector<int>& node : facts.nodes)
    ranks.push_back(node.at(static_cast<std::size_t>(place)));
  return ranks;
}

class Writer {
 public:
  Writer(const Facts& facts, const Message& message, int rank, int channel)
      : facts_(facts), message_(message), rank_(rank), channel_(channel), n_(facts.workers()) {}

  void encode(double part = 1) {
    if (message_.values > 0)
      parts.emplace_back(Seconds{facts_.encode_s(rank_, values(part))});
  }
  void decode(double part = 1, int messages = 1) {
    if (message_.values > 0)
      parts.emplace_back(Seconds{facts_.decode_s(rank_, values(part)) +
                                 (messages - 1) * facts_.decode_further_s(rank_, values(part))});
  }
  void send(int to, double bytes) {
    parts.emplace_back(Round{.sends = {{to, bytes}}, .receives = {}});
  }
  void receive(int from) { parts.emplace_back(Round{.sends = {}, .receives = {from}}); }
  void swap(int with, double bytes) {
    parts.emplace_back(Round{.sends = {{with, bytes}}, .receives = {with}});
  }
  void ring(const std::vector<int>& ranks, int rounds, double bytes) {
    const auto steps = rounds * (static_cast<int>(ranks.size()) - 1);
    if (steps > 0)
      append_ring(parts, ranks, rank_, steps, bytes);
  }
  // n - 1 rounds, each to a rank one further round the circle.
  void to_all(double bytes) {
    for (int far = 1; far < n_; ++far)
      parts.emplace_back(
          Round{.sends = {{(rank_ + far) % n_, bytes}}, .receives = {(rank_ + n_ - far) % n_}});
  }

  void hierarchical() {
    const std::vector<int>& local = facts_.nodes[index(facts_.node_of[index(rank_)])];
    const double m = static_cast<double>(local.size());
    const double nodes = static_cast<double>(facts_.nodes.size());
    ring(local, 1, message_.dense_bytes / m);
    if (message_.values > 0 && facts_.nodes.size() > 1) {  // only what crosses nodes is compressed
      encode(1 / m);
      ring(across(facts_, rank_), 1, message_.bytes / m);
      decode(1 / m, static_cast<int>(facts_.nodes.size()));
    } else {
      ring(across(facts_, rank_), 2, message_.dense_bytes / m / nodes);
    }
    ring(local, 1, message_.dense_bytes / m);
  }

  void hitopk() {
    const std::vector<int>& local = facts_.nodes[index(facts_.node_of[index(rank_)])];
    const double m = static_cast<double>(local.size());
    const double nodes = static_cast<double>(facts_.nodes.size());
    ring(local, 1, message_.dense_bytes / m);
    encode(1 / m);
    ring(across(facts_, rank_), 1, message_.bytes / m);
    ring(local, 1, nodes * message_.bytes / m);
    decode(1 / m, n_);
  }

  void hierarchical_compressed() {
    const std::vector<int>& local = facts_.nodes[index(facts_.node_of[index(rank_)])];
    const std::vector<int> others = across(facts_, rank_);
    const double m = static_cast<double>(local.size());
    const double nodes = static_cast<double>(others.size());
    ring(local, 1, message_.dense_bytes / m);
    if (others.size() > 1) {
      encode(1 / m);
      const auto place =
          static_cast<std::size_t>(std::ranges::find(others, rank_) - others.begin());
      for (std::size_t far = 1; far < others.size(); ++far)
        parts.emplace_back(
            Round{.sends = {{others[(place + far) % others.size()], message_.bytes / m / nodes}},
                  .receives = {others[(place + others.size() - far) % others.size()]}});
      decode(1 / m / nodes, static_cast<int>(others.size()));
      encode(1 / m / nodes);
      ring(others, 1, message_.bytes / m / nodes);
      decode(1 / m);
    }
    ring(local, 1, message_.dense_bytes / m);
  }

  // If n is not a power of two, the first ranks form pairs so that a power of two remains. Calls
  // middle(place, rank_at, power) for those that remain; `keeps`: the place in a pair of the one
  // that does.
  template <class Middle>
  void in_pairs(int keeps, double before, double after, Middle middle) {
    const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(n_)));
    const int pairs = n_ - power;
    const bool paired = rank_ < 2 * pairs;
    const int other = rank_ ^ 1;
    if (paired && rank_ % 2 != keeps) {
      send(other, before);
      receive(other);
      return;
    }
    if (paired)
      receive(other);
    const auto rank_at = [pairs, keeps](int place) {
      return place < pairs ? 2 * place + keeps : place + pairs;
    };
    middle(paired ? rank_ / 2 : rank_ - pairs, rank_at, power);
    if (paired)
      send(other, after);
  }

  void halving_doubling() {
    in_pairs(1, message_.bytes, message_.bytes, [&](int place, auto rank_at, int power) {
      for (int far = power / 2; far >= 1; far /= 2)
        swap(rank_at(place ^ far), message_.bytes * far / power);
      for (int far = 1; far < power; far *= 2)
        swap(rank_at(place ^ far), message_.bytes * far / power);
    });
  }

  void gather_by_doubling() {
    in_pairs(1, message_.bytes, message_.bytes * (n_ - 1), [&](int place, auto rank_at, int power) {
      const int pairs = n_ - power;
      for (int far = 1; far < power; far *= 2) {
        const int first = place / far * far;
        const int two = std::clamp(pairs - first, 0, far);  // these bring another's message, too
        swap(rank_at(place ^ far), message_.bytes * (far + two));
      }
    });
  }

  // The odd rank of two gives its list to the even one, which merges; then pairs of those that
  // merged.
  void gtopk() {
    const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(n_)));
    const int pairs = n_ - power;
    const bool paired = rank_ < 2 * pairs;
    if (paired && rank_ % 2 == 1) {
      send(rank_ - 1, message_.bytes);
      receive(rank_ - 1);
      return decode();
    }
    if (paired) {
      receive(rank_ + 1);
      decode();
    }
    const int place = paired ? rank_ / 2 : rank_ - pairs;
    const auto rank_at = [&](int at) { return at < pairs ? 2 * at : at + pairs; };
    std::vector<int> below;
    int far = 1;
    for (; far < power && place % (2 * far) == 0; far *= 2) {
      below.push_back(rank_at(place + far));
      receive(below.back());
      decode();
    }
    if (place > 0) {
      send(rank_at(place - far), message_.bytes);
      receive(rank_at(place - far));
    }
    for (; !below.empty(); below.pop_back())
      send(below.back(), message_.bytes);
    if (paired)
      send(rank_ + 1, message_.bytes);
    decode();
  }

  void tree();

  Parts parts;

 private:
  std::uint64_t values(double part) const {  // of the largest of evenly cut parts
    return static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(message_.values) * part - 1e-6));
  }

  const Facts& facts_;
  const Message& message_;
  int rank_;
  int channel_;
  int n_;
};

// Two trees over nodes, each with half of the bytes; the workers of a node form a chain behind the
// one in the tree. A chunk goes up from a rank at level l in round chunk + l, and comes down to it
// in round chunk + 2 top - l - 1. While all ranks are busy, the rounds are one phase that all begin
// together.
void Writer::tree() {
  const std::vector<std::vector<int>>& in_order = facts_.nodes_in(channel_);
  const auto nodes = static_cast<int>(in_order.size());
  int longest = 1;
  for (const std::vector<int>& node : in_order)
    longest = std::max(longest, static_cast<int>(node.size()));
  const auto zeros = [](int label) { return std::countr_zero(static_cast<unsigned>(label)); };
  const int top =
      longest - 1 + zeros(static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes))));
  const int chunks =
      std::max(1, static_cast<int>(std::ceil(std::floor(message_.bytes / 2) / facts_.chunk_bytes)));
  const double bytes = message_.bytes / 2 / chunks;

  std::map<int, Round> rounds;  // in which this rank takes part
  for (const bool first : {true, false}) {
    const auto label_of = [&](int node) {
      if (first)
        return node + 1;
      return nodes % 2 == 0 ? nodes - node : (node + 1) % nodes + 1;
    };
    const auto chain_of = [&](int node) {
      std::vector<int> chain = in_order[index(node)];
      // On one rail: channels visit every second node backwards.
      if (first == (facts_.channel_count() > 1 && node % 2 == 1))
        std::ranges::reverse(chain);
      return chain;
    };
    // For each child: its parent, and its level.
    for (int node = 0; node < nodes; ++node) {
      const std::vector<int> chain = chain_of(node);
      for (int place = 0; place < static_cast<int>(chain.size()); ++place) {
        const int child = chain[index(place)];
        const int level = longest - 1 - place + (place == 0 ? zeros(label_of(node)) : 0);
        int parent = place > 0 ? chain[index(place - 1)] : -1;
        for (int other = 0; other < nodes && place == 0; ++other)
          if (label_of(other) == above(label_of(node), nodes))
            parent = chain_of(other).front();
        if (parent < 0 || (rank_ != child && rank_ != parent))
          continue;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          Round& up = rounds[chunk + level];
          Round& down = rounds[chunk + 2 * top - level - 1];
          if (rank_ == child) {
            up.sends.emplace_back(parent, bytes);
            down.receives.push_back(parent);
          } else {
            up.receives.push_back(child);
            down.sends.emplace_back(child, bytes);
          }
        }
      }
    }
  }
  const int fill = 2 * top - 1;
  for (const auto& [number, round] : rounds) {
    if (number == fill && chunks - fill > 1)
      parts.emplace_back(Meeting{ring_of(facts_, channel_)});
    parts.emplace_back(round);
  }
}

}  // namespace

int above(int label, int n) {
  int first = 1;
  int last = n;
  for (int parent = 0;;) {
    int root = first;  // root of the rest: the label with most trailing zeros
    for (int other = first; other <= last; ++other)
      if (std::countr_zero(static_cast<unsigned>(other)) >
          std::countr_zero(static_cast<unsigned>(root)))
        root = other;
    if (root == label)
      return parent;
    parent = root;
    (label < root ? last : first) = label < root ? root - 1 : root + 1;
  }
}

std::vector<int> ring_of(const Facts& facts, int channel) {
  std::vector<int> ring;
  for (const std::vector<int>& node : facts.nodes_in(channel))
    ring.insert(ring.end(), node.begin(), node.end());
  return ring;
}

Parts parts_of(const Facts& facts, const Message& whole, int rank, int channel) {
  Message message = whole;
  message.bytes /= facts.channel_count();
  Writer writer(facts, message, rank, channel);
  const int n = facts.workers();
  const double part = 1.0 / n;
  const std::string& name = facts.exchange;
  if (n == 1)
    return {};
  if (name == "hierarchical") {
    writer.hierarchical();
    return writer.parts;
  }
  if (name == "hitopk") {
    writer.hitopk();
    return writer.parts;
  }
  if (name == "hierarchical-compressed") {
    writer.hierarchical_compressed();
    return writer.parts;
  }
  writer.encode();
  if (name == "ring") {
    writer.ring(ring_of(facts, channel), 2, message.bytes * part);
    writer.decode();
  } else if (name == "halving-doubling") {
    writer.halving_doubling();
    writer.decode();
  } else if (name == "tree") {
    writer.tree();
    writer.decode();
  } else if (name == "allgather") {
    if (facts.gathers_by_doubling)
      writer.gather_by_doubling();
    else
      writer.ring(ring_of(facts, channel), 1, message.bytes);
    writer.decode(1, n);
  } else if (name == "alltoall") {
    writer.to_all(message.bytes * part);
    writer.decode(part, n);
    writer.encode(part);
    writer.ring(ring_of(facts, channel), 1, message.bytes * part);
    writer.decode();
  } else if (name == "gtopk") {
    writer.gtopk();
  } else if (name == "oktopk") {
    writer.to_all(message.bytes * part);
    writer.decode(part, n);
    if (facts.balances)
      writer.to_all(message.bytes * part);
    writer.ring(ring_of(facts, channel), 1, message.bytes * part);
    writer.decode();
  } else {
    throw std::invalid_argument("the reference has no exchange " + name);
  }
  return writer.parts;
}

}  // namespace syncline::reference
