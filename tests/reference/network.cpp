#include "tests/reference/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace syncline::reference {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::size_t at_index(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

Happenings::Id Happenings::add(Happening happening, const std::vector<Id>& needs) {
  const Id id = static_cast<Id>(happenings_.size());
  happenings_.push_back(std::move(happening));
  for (const Id need : needs)
    require(id, need);
  return id;
}

Happenings::Id Happenings::when_all(const std::vector<Id>& needs) {
  return add({}, needs);
}

Happenings::Id Happenings::delay(Id after, double seconds) {
  return add({.kind = Kind::delay, .amount = seconds}, {after});
}

Happenings::Id Happenings::flow(Id after, const Way& way, double bytes) {
  return add({.kind = Kind::flow, .amount = bytes, .way = &way}, {after});
}

Happenings::Id Happenings::turn(Id after, int of, double seconds) {
  if (of >= static_cast<int>(queues_.size()))
    queues_.resize(at_index(of) + 1);
  return add({.kind = Kind::turn, .amount = seconds, .of = of}, {after});
}

void Happenings::require(Id later, Id earlier) {
  happenings_[at_index(earlier)].later.push_back(later);
  ++happenings_[at_index(later)].waits_for;
}

Happenings::Id Happenings::held() {
  const Id id = when_all();
  ++happenings_[at_index(id)].waits_for;
  return id;
}

void Happenings::let_go(Id id) {
  if (--happenings_[at_index(id)].waits_for == 0)
    begun_.push_back(id);
}

void Happenings::tell(Id id, std::function<void()> told) {
  told_.emplace_back(id, std::move(told));
}

void Happenings::begin(Id id) {
  const Happening& begun = happenings_[at_index(id)];
  switch (begun.kind) {
    case Kind::join:
      happened(id);
      break;
    case Kind::delay:
      if (begun.amount <= 0)
        return happened(id);
      alarms_.emplace_back(now_s_ + begun.amount, id);
      std::ranges::push_heap(alarms_, std::greater());
      break;
    case Kind::flow:
      if (begun.way->same_host || begun.amount <= 0)
        return happened(id);
      flows_.push_back({.id = id, .left = begun.amount, .way = begun.way});
      flows_changed_ = true;
      break;
    case Kind::turn: {
      std::vector<Id>& queue = queues_[at_index(begun.of)];
      queue.push_back(id);
      if (queue.size() == 1) {
        alarms_.emplace_back(now_s_ + begun.amount, id);
        std::ranges::push_heap(alarms_, std::greater());
      }
      break;
    }
  }
}

void Happenings::happened(Id id) {
  Happening& event = happenings_[at_index(id)];
  event.at_s = now_s_;
  if (event.kind == Kind::turn) {
    std::vector<Id>& queue = queues_[at_index(event.of)];
    queue.erase(queue.begin());
    if (!queue.empty()) {
      alarms_.emplace_back(now_s_ + happenings_[at_index(queue.front())].amount, queue.front());
      std::ranges::push_heap(alarms_, std::greater());
    }
  }
  const auto first = std::ranges::lower_bound(told_, id, {}, [](const auto& t) { return t.first; });
  for (auto told = first; told != told_.end() && told->first == id; ++told)
    told->second();
  for (const Id later : event.later)
    if (--happenings_[at_index(later)].waits_for == 0)
      begun_.push_back(later);
}

// All flows grow together; when a link is full, or a flow at its own limit, the flows concerned
// stop growing, and the others go on.
void Happenings::share() {
  std::vector<double> left_Bps = link_Bps_;
  std::vector<std::vector<std::size_t>> on_link(link_Bps_.size());
  std::vector<int> growing(link_Bps_.size());
  std::vector<std::size_t> used;
  std::vector<std::size_t> limited;  // flows with their own limit
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    flows_[f].Bps = -1;
    if (flows_[f].way->flow_Bps < never)
      limited.push_back(f);
    for (const int l : flows_[f].way->links) {
      const std::size_t link = at_index(l);
      if (on_link[link].empty())
        used.push_back(link);
      on_link[link].push_back(f);
      ++growing[link];
    }
  }
  std::ranges::sort(limited, std::greater(),
                    [&](std::size_t f) { return flows_[f].way->flow_Bps; });
  const auto fix = [&](std::size_t f, double Bps) {
    flows_[f].Bps = Bps;
    for (const int l : flows_[f].way->links) {
      left_Bps[at_index(l)] -= Bps;
      --growing[at_index(l)];
    }
  };
  for (;;) {
    double least = never;
    std::size_t fullest = 0;
    std::erase_if(used, [&](std::size_t link) { return growing[link] == 0; });
    for (const std::size_t link : used)
      if (const double each = left_Bps[link] / growing[link]; each < least) {
        least = each;
        fullest = link;
      }
    while (!limited.empty() && flows_[limited.back()].Bps >= 0)
      limited.pop_back();
    if (!limited.empty() && flows_[limited.back()].way->flow_Bps <= least) {
      fix(limited.back(), flows_[limited.back()].way->flow_Bps);
      continue;
    }
    if (least == never)
      break;
    for (const std::size_t f : on_link[fullest])
      if (flows_[f].Bps < 0)
        fix(f, least);
  }
  for (Flow& flow : flows_)
    if (flow.Bps < 0)
      flow.Bps = never;  // crosses no links
}

void Happenings::run() {
  std::ranges::stable_sort(told_, {}, [](const auto& t) { return t.first; });
  for (Id id = 0; id < static_cast<Id>(happenings_.size()); ++id)
    if (happenings_[at_index(id)].waits_for == 0)
      begun_.push_back(id);
  for (;;) {
    for (std::size_t i = 0; i < begun_.size(); ++i)  // grows during the loop
      begin(Id(begun_[i]));
    begun_.clear();
    if (flows_changed_)
      share();
    flows_changed_ = false;
    double next_s = alarms_.empty() ? never : alarms_.front().first;
    for (const Flow& flow : flows_)
      next_s = std::min(next_s, now_s_ + flow.left / flow.Bps);
    if (next_s == never)
      break;
    // Flows that end within a rounding error end together; otherwise symmetric flows would
    // alternate.
    const double together_s = 1e-12 * next_s;
    const double step_s = next_s - now_s_;
    std::vector<Id> ended;
    std::erase_if(flows_, [&](Flow& flow) {
      const bool ends = flow.left <= flow.Bps * (step_s + together_s);
      flow.left -= flow.Bps * step_s;
      if (ends)
        ended.push_back(flow.id);
      return ends;
    });
    flows_changed_ = !ended.empty();
    now_s_ = next_s;
    while (!alarms_.empty() && alarms_.front().first <= next_s + together_s) {
      ended.push_back(alarms_.front().second);
      std::ranges::pop_heap(alarms_, std::greater());
      alarms_.pop_back();
    }
    std::ranges::sort(ended);
    for (const Id id : ended)
      happened(id);
  }
  if (std::ranges::any_of(happenings_, [](const Happening& each) { return each.at_s < 0; }))
    throw std::logic_error("something in the reference waits for ever");
}

}  // namespace syncline::reference
