// A small simulation with fewer parts than the engine: flows have no separate start, no rank
// computes, and events at the same time end together. Sharing links takes most of the time, so
// steps of sharing are counted.
#include "sim/traffic/followed_plans.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "sim/traffic/followed_streams.h"
#include "sim/traffic/link_shares.h"

namespace syncline {
namespace {

using followed::FollowedPart, followed::Job, followed::Mailbox, followed::Message,
    followed::MovingMessage, followed::FollowedStream, followed::Timer;

class Follower {
 public:
  Follower(const Traffic& traffic, Routes& routes, const Payload& payload,
           const std::vector<Plan>& plans, const FollowedPart& what)
      : traffic_(traffic), routes_(routes), payload_(payload), what_(what) {
    for (int bucket = 0; bucket < what.buckets; ++bucket)
      for (std::size_t rank = 0; rank < plans.size(); ++rank)
        add(static_cast<int>(rank), plans[rank]);
  }

  // Seconds until everything is done; none: following all of it would take too long.
  std::optional<double> seconds() {
    for (std::size_t s = 0; s < streams_.size(); ++s)
      runnable_.push_back(static_cast<int>(s));
    for (;;) {
      while (!runnable_.empty()) {
        const int stream = runnable_.back();
        runnable_.pop_back();
        go_on(stream);
      }
      if (shares_.updates() > followed::most_updates)
        return std::nullopt;
      // Seconds, not times: a short flow ends, even if now + its seconds rounds to now.
      double seconds = shares_.next_end_s();
      if (!timers_.empty())
        seconds = std::min(seconds, std::max(0.0, timers_.top().at_s - now_s_));
      if (seconds == std::numeric_limits<double>::infinity())
        return now_s_;
      now_s_ += seconds;
      for (const int flow : shares_.pass(seconds)) {
        timers_.push({now_s_ + flows_[index(flow)].latency_s, true, flows_[index(flow)].mailbox});
        injected(flows_[index(flow)].stream);
      }
      while (!timers_.empty() && timers_.top().at_s <= now_s_ * (1 + followed::rounding)) {
        const Timer timer = timers_.top();
        timers_.pop();
        if (timer.arrival)
          arrived(timer.index);
        else
          runnable_.push_back(timer.index);
      }
    }
  }

 private:
  using State = FollowedStream::State;

  int stream_of(int rank, int stage) {
    const auto [entry, added] = stream_at_.try_emplace({rank, stage}, streams_.size());
    if (added)
      streams_.push_back({.rank = rank});
    return static_cast<int>(entry->second);
  }

  void add(int rank, const Plan& plan) {
    const std::size_t begin = first_work(plan) != nullptr ? 1 : 0;
    const std::size_t end = plan.size() - (last_work(plan) != nullptr ? 1 : 0);
    const Phase* before = nullptr;
    // A channel begins a bucket, or a pass of it, when the one before has ended on all channels.
    int pass = 0;
    std::pair<int, int> earlier(0, 0);  // jobs of the rank that this pass follows
    if (const auto last = jobs_of_.find(rank); last != jobs_of_.end())
      earlier = last->second;
    std::pair<int, int> own(static_cast<int>(jobs_.size()), 0);
    for (std::size_t i = begin; i < end; ++i) {
      const Phase* phase = std::get_if<Phase>(&plan[i]);
      Job job{.phase = phase};
      const bool staged = phase != nullptr && phase->stage.stages > 1;
      if (phase == nullptr)
        job.work_s = traffic_.compression.seconds(rank, std::get<Work>(plan[i]), -1);
      const int stream = stream_of(rank, phase != nullptr ? phase->stage.stream() : 0);
      const auto number = static_cast<int>(jobs_.size());
      if (phase != nullptr && !staged) {
        if (phase->stage.pass != pass) {
          pass = phase->stage.pass;
          earlier = {own.first, number};
          own.first = number;
        }
        job.after = earlier;
      }
      if (staged) {
        job.partitions = std::min(phase->stage.partitions, what_.partitions);
        if (before != nullptr) {
          job.before = number - 1;
          job.whole = before->stage.pass != phase->stage.pass;
          jobs_.back().next = stream;
        }
      }
      before = staged ? phase : nullptr;
      streams_[index(stream)].jobs.push_back(number);
      jobs_.push_back(job);
    }
    jobs_of_[rank] = {own.first, static_cast<int>(jobs_.size())};
  }

  int mailbox_of(int from, int to, int stage) {
    const auto [entry, added] = mailbox_at_.try_emplace({from, to, stage}, mailboxes_.size());
    if (added)
      mailboxes_.push_back({.stream = stream_of(to, stage)});
    return static_cast<int>(entry->second);
  }

  const Route& route(int from, int to) {
    const auto [known, added] = known_.try_emplace({from, to});
    if (added) {
      known->second = routes_.between(from, to);
      known->second.latency_s = routes_.latency_s(from, to);
    }
    return known->second;
  }

  void wakes_at(double at_s, int stream, State then) {
    streams_[index(stream)].state = then;
    streams_[index(stream)].ready_s = at_s;
    timers_.push({at_s, false, stream});
  }

  void arrived(int number) {
    Mailbox& mailbox = mailboxes_[index(number)];
    if (++mailbox.arrived <= mailbox.asked && --streams_[index(mailbox.stream)].pending == 0)
      runnable_.push_back(mailbox.stream);
  }

  // Does everything that a stream can do now.
  void go_on(int number) {
    for (;;) {
      FollowedStream& stream = streams_[index(number)];
      if (stream.at == stream.jobs.size() || stream.ready_s > now_s_ * (1 + followed::rounding))
        return;
      Job& job = jobs_[index(stream.jobs[stream.at])];
      switch (stream.state) {
        case State::next:
          if (job.phase == nullptr)
            return wakes_at(now_s_ + job.work_s, number, State::added);
          if (!partition_is_there(job) || !earlier_have_ended(job, number) ||
              !all_are_there(number, *job.phase))
            return;
          break;
        case State::together:
          return;
        case State::handled:
          stream.state = State::overhead;
          if (const double at_s = handled_until(stream.rank, *job.phase, job.phase->sends);
              at_s > now_s_)
            return wakes_at(at_s, number, State::overhead);
          break;
        case State::overhead:
          stream.state = State::inject;
          if (const double s = job.software_s(stream.step, traffic_.step_overhead_s); s > 0)
            return wakes_at(now_s_ + s, number, State::inject);
          break;
        case State::inject:
          inject(number, *job.phase);
          break;
        case State::moving:
          if (stream.pending > 0)
            return;
          if (++stream.step < steps_of(*job.phase)) {
            stream.state = State::overhead;
            break;
          }
          stream.step = 0;
          stream.state = State::added;
          if (const double added_s = added_until(stream.rank, *job.phase); added_s > now_s_)
            return wakes_at(added_s, number, State::added);
          break;
        case State::added:
          stream.state = State::next;
          if (job.next >= 0)
            runnable_.push_back(job.next);
          if (++job.passed == job.partitions) {
            ++stream.at;
            for (const int other : std::exchange(follow_[stream.rank], {}))
              runnable_.push_back(other);
          }
          break;
      }
    }
  }

  // True if the previous job has passed the partition that this job's next partition follows.
  bool partition_is_there(const Job& job) const {
    if (job.before < 0)
      return true;
    const Job& before = jobs_[index(job.before)];
    return before.passed >= (job.whole ? before.partitions : job.passed + 1);
  }

  // True if all jobs that this channel's job follows have ended; else asked again when one ends.
  bool earlier_have_ended(const Job& job, int stream) {
    for (int i = job.after.first; i < job.after.second; ++i)
      if (jobs_[index(i)].passed < jobs_[index(i)].partitions) {
        follow_[streams_[index(stream)].rank].push_back(stream);
        return false;
      }
    return true;
  }

  // In a pipeline only a group's phase has steps; other phases are cut into partitions.
  static int steps_of(const Phase& phase) {
    return phase.stage.stages > 1 && phase.group_size == 0 ? 1 : phase.steps;
  }

  // True if all members of a phase with a common start have reached it.
  bool all_are_there(int number, const Phase& phase) {
    streams_[index(number)].state = State::handled;
    if (phase.group_size < 2 || phase.steps < 2)
      return true;
    std::vector<int>& waiting = waiting_[{phase.stage.stream(), phase.group}];
    if (static_cast<int>(waiting.size()) + 1 < phase.group_size) {
      streams_[index(number)].state = State::together;
      waiting.push_back(number);
      return false;
    }
    for (const int other : std::exchange(waiting, {})) {
      streams_[index(other)].state = State::handled;
      runnable_.push_back(other);
    }
    return true;
  }

  void inject(int number, const Phase& phase) {
    const int rank = streams_[index(number)].rank;
    const int stage = phase.stage.stream();
    const double parts = static_cast<double>(steps_of(phase)) * phase.stage.partitions;
    // Parts of rings and pipelines set out whether or not the receiver has asked for them.
    const bool at_once = is_ring(phase) || phase.stage.stages > 1;
    pending_of(number) = static_cast<int>(phase.sends.size());
    for (const Transfer& receive : phase.receives) {
      const int at = mailbox_of(receive.peer, rank, stage);
      Mailbox& mailbox = mailboxes_[index(at)];
      pending_of(number) += ++mailbox.asked > mailbox.arrived ? 1 : 0;
      if (!mailbox.waiting.empty()) {
        const Message message = mailbox.waiting.front();
        mailbox.waiting.pop_front();
        sets_out(at, message);
      }
    }
    streams_[index(number)].state = State::moving;
    for (const Transfer& send : phase.sends) {
      const int at = mailbox_of(rank, send.peer, stage);
      Mailbox& mailbox = mailboxes_[index(at)];
      const Message message{.stream = number,
                            .way = &route(rank, send.peer),
                            .latency_part = phase.latency_part,
                            .bytes = what_.per_byte * static_cast<double>(send.bytes) / parts};
      if (at_once || mailbox.asked > mailbox.set_out || is_local(*message.way))
        sets_out(at, message);
      else
        mailbox.waiting.push_back(message);
    }
  }

  static bool is_local(const Route& way) { return way.links.empty() && way.fatpipes.empty(); }

  int& pending_of(int stream) { return streams_[index(stream)].pending; }

  void injected(int stream) {
    if (--pending_of(stream) == 0)
      runnable_.push_back(stream);
  }

  void sets_out(int at, const Message& message) {
    ++mailboxes_[index(at)].set_out;
    if (!is_local(*message.way) && message.bytes > 0) {
      shares_.add(*message.way, message.bytes, static_cast<int>(flows_.size()));
      flows_.push_back({.stream = message.stream, .mailbox = at, .latency_s = message.latency_s()});
      return;
    }
    if (is_local(*message.way))
      arrived(at);
    else
      timers_.push({now_s_ + message.latency_s(), true, at});
    injected(message.stream);
  }

  // When a server has handled the messages of one partition. Servers on one host take turns.
  double handled_until(int rank, const Phase& phase, const std::vector<Transfer>& transfers) {
    double bytes = 0;
    for (const Transfer& transfer : transfers)
      bytes += static_cast<double>(transfer.bytes) / phase.stage.partitions;
    const double seconds = traffic_.handling_s(payload_, rank, bytes, routes_.cores(rank));
    if (seconds == 0)
      return now_s_;
    double& free_s = cores_free_s_[traffic_.cluster.rank_hosts[index(rank)]];
    free_s = std::max(free_s, now_s_) + seconds;
    return free_s;
  }

  // When a rank has handled and added what it received. Ranks that add on one host take turns.
  double added_until(int rank, const Phase& phase) {
    const double handled_s = handled_until(rank, phase, phase.receives);
    double bytes = 0;
    for (const Transfer& received : phase.receives)
      bytes += phase.adds ? static_cast<double>(received.bytes) / phase.stage.partitions : 0;
    if (bytes == 0 || what_.per_byte == 0)
      return handled_s;
    double& free_s = memory_free_s_[traffic_.cluster.rank_hosts[index(rank)]];
    free_s = std::max(free_s, handled_s) + memory_bytes_per_sum * bytes / traffic_.host_memory_Bps;
    return free_s;
  }

  const Traffic& traffic_;
  Routes& routes_;
  const Payload& payload_;
  FollowedPart what_;
  double now_s_ = 0;
  std::vector<Job> jobs_;
  std::vector<FollowedStream> streams_;
  std::vector<Mailbox> mailboxes_;
  std::map<std::pair<int, int>, std::size_t> stream_at_;
  std::map<std::tuple<int, int, int>, std::size_t> mailbox_at_;
  std::map<std::pair<int, int>, Route> known_;
  std::map<int, std::pair<int, int>> jobs_of_;  // by rank: jobs of its last pass, as in Job::after
  std::map<int, std::vector<int>> follow_;      // by rank: streams that wait for these jobs to end
  std::map<std::pair<int, int>, std::vector<int>> waiting_;     // by stream and group
  std::map<std::string, double> memory_free_s_, cores_free_s_;  // by host
  std::vector<int> runnable_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  LinkShares shares_{routes_};
  std::vector<MovingMessage> flows_;  // by their numbers there
};

}  // namespace

std::optional<PlanTime> plan_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                                  double bandwidth) {
  if (traffic.averaging_ranks() > followed::most_ranks)
    return std::nullopt;
  std::vector<Plan> plans;
  double messages = 0;  // to follow
  int partitions = 1;
  const Phase* first = nullptr;
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank) {
    plans.push_back(traffic.plan_of(payload, rank, true));
    for (const auto& action : plans.back())
      if (const Phase* phase = std::get_if<Phase>(&action)) {
        first = first == nullptr ? phase : first;
        messages += static_cast<double>(phase->sends.size()) * phase->steps *
                    std::min(phase->stage.partitions, followed::most_partitions);
        partitions = std::max(partitions, phase->stage.partitions);
      }
    if (messages > followed::most_messages)
      return std::nullopt;
  }
  bool known = true;
  const auto followed = [&](int buckets, int parts, bool bytes) {
    const FollowedPart what{
        .buckets = buckets, .partitions = parts, .per_byte = bytes ? 1 / bandwidth : 0};
    const auto seconds =
        known ? Follower(traffic, routes, payload, plans, what).seconds() : std::nullopt;
    known = seconds.has_value();
    return seconds.value_or(0);
  };
  // Partitions that are not followed are assumed to keep the pace of those that are.
  const auto all = [&](int buckets, bool bytes) {
    const int parts = std::min(partitions, followed::most_partitions);
    const double seconds = followed(buckets, parts, bytes);
    if (parts == partitions)
      return seconds;
    const double pace_s = (seconds - followed(buckets, parts / 2, bytes)) / (parts - parts / 2);
    return seconds + (partitions - parts) * pace_s;
  };
  PlanTime time;
  time.seconds = all(1, true);
  time.fixed_s = std::min(time.seconds, all(1, false));
  time.pace_s = time.seconds;
  time.pace_fixed_s = time.fixed_s;
  // A rank may begin a bucket before all others have ended the bucket before.
  if (first != nullptr && first->stage.in_flight != 1) {
    time.pace_s = std::min(time.seconds, all(2, true) - time.seconds);
    time.pace_fixed_s = std::clamp(all(2, false) - time.fixed_s, 0.0, time.pace_s);
  }
  return known ? std::optional(time) : std::nullopt;
}

}  // namespace syncline
