#include "tests/reference/channels.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace syncline::reference {
namespace {

// The paths of all channels through one node: channel c enters by card `in[c]`. The exit cards are
// found for one channel after the other, as in NCCL: the card of entry if another worker has it,
// else any card that is left.
class Node {
 public:
  Node(std::vector<int> workers, const std::vector<int>& card_of, const std::vector<int>& in,
       bool backwards)
      : workers_(std::move(workers)), card_of_(card_of), in_(in), backwards_(backwards) {
    if (backwards)
      std::ranges::reverse(workers_);
    if (!search(0))
      throw std::logic_error("the reference finds no way through a node");
  }

  int out(std::size_t channel) const { return out_[channel]; }

  // Starts at the entry worker and goes round the node, so that channels are at different workers
  // at a time.
  std::vector<int> order(std::size_t channel) const {
    const int first = on(in_[channel]).front();
    const int last = on(out_[channel]).back();
    std::vector<int> order = workers_;
    std::rotate(order.begin(), std::ranges::find(order, first), order.end());
    std::erase(order, last);
    order.push_back(last);
    return order;
  }

 private:
  std::vector<int> on(int card) const {
    std::vector<int> some;
    for (const int worker : workers_)
      if (card_of_[static_cast<std::size_t>(worker)] == card)
        some.push_back(worker);
    return some;
  }

  bool search(std::size_t channel) {
    if (channel == in_.size())
      return true;
    const int count = static_cast<int>(in_.size());
    std::vector<int> cards = {(in_[channel] + (backwards_ ? 1 : count - 1)) % count, in_[channel]};
    if (std::ranges::all_of(in_, [&](int card) { return on(card).size() > 1; }))
      std::ranges::reverse(cards);
    for (std::size_t card = 0; card < in_.size(); ++card)
      cards.push_back(static_cast<int>(card));
    for (const int card : cards) {
      const bool alone = card == in_[channel] && on(card).size() == 1 && workers_.size() > 1;
      if (alone || std::ranges::count(out_, card) > 0)
        continue;
      out_.push_back(card);
      if (search(channel + 1))
        return true;
      out_.pop_back();
    }
    return false;
  }

  std::vector<int> workers_;
  const std::vector<int>& card_of_;
  std::vector<int> in_;
  bool backwards_;
  std::vector<int> out_;
};

}  // namespace

std::vector<std::vector<std::vector<int>>> channels_of(const std::vector<std::vector<int>>& nodes,
                                                       const std::vector<int>& card_of) {
  std::size_t count = card_of.size();
  for (const std::vector<int>& node : nodes) {
    std::set<int> cards;
    for (const int worker : node)
      cards.insert(card_of[static_cast<std::size_t>(worker)]);
    count = std::min(count, cards.size());
  }
  if (count < 2 || nodes.size() < 2)
    return {};
  std::vector<std::vector<std::vector<int>>> channels(count);
  std::vector<int> in;
  for (std::size_t channel = 0; channel < count; ++channel)
    in.push_back(static_cast<int>(channel));
  bool backwards = true;
  for (const std::vector<int>& workers : nodes) {
    backwards = !backwards;
    const Node node(workers, card_of, in, backwards);
    for (std::size_t channel = 0; channel < count; ++channel) {
      channels[channel].push_back(node.order(channel));
      in[channel] = node.out(channel);
    }
  }
  return channels;
}

}  // namespace syncline::reference
