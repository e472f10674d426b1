#include "sim/engine/stages.h"

#include <algorithm>

#include "sim/collectives.h"
#include "sim/engine/run.h"

namespace syncline {

// One bucket on its way through the stages of one rank.
struct Stages::PipelinedBucket {
  std::shared_ptr<const Plan> plan;
  const Bucket& bucket;
  int iteration;
  std::function<void()> done;
  int first;                // its first stream
  int number;               // of the bucket, since the start
  std::vector<int> passed;  // by action of the plan: pieces that have passed it

  const Phase& phase(std::size_t i) const { return std::get<Phase>((*plan)[i]); }
};

namespace {

std::vector<const Phase*> phases_of(const Plan& plan) {
  std::vector<const Phase*> phases;
  for (const auto& action : plan)
    if (const Phase* phase = std::get_if<Phase>(&action))
      phases.push_back(phase);
  return phases;
}

bool is_pipeline(const Plan& plan) {
  return std::ranges::any_of(phases_of(plan),
                             [](const Phase* phase) { return phase->stage.stages > 1; });
}

// Number of streams that a plan needs, with `passes` all-reduces one after the other.
int streams_of(const Plan& plan, int passes) {
  int streams = 1;
  for (const Phase* phase : phases_of(plan))
    streams = std::max(
        streams, phase->stage.stages > 1 ? phase->stage.stages * passes : phase->stage.channel + 1);
  return streams;
}

}  // namespace

Stages::Stages(Run& run, int rank) : run(run), rank(rank) {
  streams.push_back(std::unique_ptr<StreamState>(new StreamState{.run = run, .rank = rank}));
}

void Stages::make_streams() {
  if (run.setup.traffic.partners != Schedule::Partners::each_other)
    return;
  const auto make_until = [&](int count) {
    while (static_cast<int>(streams.size()) < count)
      streams.push_back(std::unique_ptr<StreamState>(
          new StreamState{.run = run, .rank = rank, .stage = static_cast<int>(streams.size())}));
  };
  // The payload has the expected size: nothing has been learned yet, so no message differs from it.
  const Payload first = run.setup.traffic.payload_of(run.setup.made().front(), -1);
  const std::shared_ptr<const Plan> over_all = plan_of(first);
  for (const Phase* phase : phases_of(*over_all))
    make_until(phase->stage.stream() + 1);
  // These streams have the same numbers on every rank, whatever part it has in the averages.
  of_all = streams_of(*over_all, first.all_reduces);
  if (!run.setup.traffic.picked.empty())  // buckets of other sizes may need more
    for (const Bucket& bucket : run.setup.buckets)
      of_all = std::max(of_all, streams_of(*plan_of(run.setup.traffic.payload_of(bucket, -1)), 1));
  make_until(of_all);
  if (run.setup.shards && run.setup.shards->across)
    make_until(of_all + 1);
  if (run.setup.within)
    make_until(of_all + streams_of(*plan(*run.setup.within, run.setup.buckets.front()), 1));
}

void Stages::start(const std::string& name) {
  for (const auto& one : streams)
    one->actor = run.start(name, rank, [&one = *one] { one.jobs.run_until_over(); });
}

std::shared_ptr<const Plan> Stages::plan(const Bucket& bucket, int iteration) {
  return plan_of(*run.payload(bucket, iteration));
}

std::shared_ptr<const Plan> Stages::plan(const Traffic& traffic, const Bucket& bucket) {
  std::shared_ptr<const Plan>& plan = dense_plans[{&traffic, bucket.parameters}];
  if (plan == nullptr)
    plan = std::make_shared<const Plan>(traffic.plan_of(traffic.payload_of(bucket, -1), rank));
  return plan;
}

std::shared_ptr<const Plan> Stages::plan_of(const Payload& payload) {
  const auto make = [&] {
    return std::make_shared<const Plan>(run.setup.traffic.plan_of(payload, rank));
  };
  if (!payload.messages.empty() || !payload.parts.empty())
    return make();
  const std::tuple key(payload.bytes, payload.dense_bytes, payload.small_bytes);
  constexpr std::size_t most_of_groups = 512;  // groups may differ in every iteration
  if (run.cycles != nullptr && plans.size() > most_of_groups)
    plans.clear();
  auto known = plans.find(key);
  if (known == plans.end())
    known = plans.emplace(key, make()).first;
  return known->second;
}

void Stages::average(const std::shared_ptr<const Plan>& plan, const Bucket& bucket, int iteration,
                     const std::function<void()>& done) {
  for (const auto& server : run.server_stages)
    if (rank < run.trace.workers && server->started == started)
      server->average(server->plan(bucket, iteration), bucket, iteration, [] {});
  execute(plan, 0, bucket, iteration, done);
}

void Stages::average_within(const std::shared_ptr<const Plan>& plan, const Bucket& bucket,
                            int iteration, const std::function<void()>& done) {
  execute(plan, of_all, bucket, iteration, done);
}

void Stages::execute(const std::shared_ptr<const Plan>& plan, int first, const Bucket& bucket,
                     int iteration, const std::function<void()>& done) {
  const int number = started++;
  if (!is_pipeline(*plan)) {
    const bool channels = streams_of(*plan, 1) > 1;
    stream(first).jobs.add([this, first, plan, &bucket, iteration, done, channels] {
      run.collective_begins(rank);
      const auto ended = [this, done] {
        run.collective_ends(rank);
        done();
      };
      if (!channels)
        return stream(first).average(*plan, bucket, iteration, ended);
      in_channels(*plan, first, bucket, iteration);
      ended();
    });
    return;
  }
  const auto all_done = [this, done] {
    ++finished;
    for (const auto& one : streams)
      one->upstream.wake();
    done();
  };
  const auto in_pipeline = std::make_shared<PipelinedBucket>(PipelinedBucket{
      plan, bucket, iteration, all_done, first, number, std::vector<int>(plan->size())});
  // All jobs are queued before an actor is woken: waking lets others run, and they may add the next
  // bucket.
  for (std::size_t i = 0; i < plan->size(); ++i)
    if (const Phase* phase = std::get_if<Phase>(&(*plan)[i]))
      stream(first + phase->stage.stream()).jobs.pending.emplace_back([this, in_pipeline, i] {
        pass(*in_pipeline, i);
      });
  wake();
}

void Stages::in_channels(const Plan& plan, int first, const Bucket& bucket, int iteration) {
  std::map<int, std::map<int, std::vector<const Phase*>>> passes;  // by pass, then by channel
  for (const Phase* phase : phases_of(plan))
    passes[phase->stage.pass][phase->stage.channel].push_back(phase);
  StreamState& own = stream(first);
  for (const auto& pass : passes) {
    int under_way = 0;
    for (const auto& channel : pass.second) {
      const std::vector<const Phase*>& phases = channel.second;
      StreamState& other = stream(first + channel.first);
      if (&other == &own)
        continue;
      ++under_way;
      other.jobs.add([&own, &other, &phases, &bucket, iteration, &under_way] {
        for (const Phase* phase : phases)
          other.phase(*phase, bucket, iteration, nullptr);
        if (--under_way == 0)
          own.upstream.wake();
      });
    }
    if (const auto channel = pass.second.find(0); channel != pass.second.end())
      for (const Phase* phase : channel->second)
        own.phase(*phase, bucket, iteration, nullptr);
    while (under_way > 0)
      own.upstream.wait();
  }
}

void Stages::pass(PipelinedBucket& in_pipeline, std::size_t i) {
  const Phase& whole = in_pipeline.phase(i);
  const Stage& stage = whole.stage;
  const bool every_step = run.setup.traffic.every_step;
  const auto neighbour = [&](std::size_t at) {
    return at < in_pipeline.plan->size() ? std::get_if<Phase>(&(*in_pipeline.plan)[at]) : nullptr;
  };
  const Phase* before = i > 0 ? neighbour(i - 1) : nullptr;
  const Phase* after = neighbour(i + 1);
  StreamState& own = stream(in_pipeline.first + stage.stream());
  const int limit = before == nullptr ? stage.in_flight : 0;
  while (limit > 0 && in_pipeline.number - finished >= limit)
    own.upstream.wait();

  const int pieces = pieces_of(stage, every_step);
  for (int p = 0; p < pieces; ++p) {
    if (before != nullptr) {
      const bool same_pass = before->stage.pass == stage.pass;
      const int needed = same_pass ? p + 1 : pieces_of(before->stage, every_step);
      while (in_pipeline.passed[i - 1] < needed)
        own.upstream.wait();
    }
    const bool last = p + 1 == pieces && after == nullptr;
    Phase piece = piece_of(whole, p, every_step);
    if (piece.group_size == 0) {  // nobody waits between its steps
      if (const double overhead_s = run.setup.scenario.step_overhead_s;
          overhead_s > 0 && piece.steps > 1 && !piece.sends.empty())
        sg::this_actor::sleep_for((piece.steps - 1) * overhead_s);
      piece.steps = 1;
    }
    const int partitions = piece_of(whole, p, every_step).steps / whole.steps;
    handle(own, piece.sends, in_pipeline);
    own.phase(piece, in_pipeline.bucket, in_pipeline.iteration, last ? in_pipeline.done : nullptr);
    handle(own, piece.receives, in_pipeline);
    add_up(own, piece, partitions, in_pipeline);
    ++in_pipeline.passed[i];
    if (after != nullptr)
      stream(in_pipeline.first + after->stage.stream()).upstream.wake();
  }
}

void Stages::handle(StreamState& own, const std::vector<Transfer>& transfers,
                    const PipelinedBucket& in_pipeline) {
  if (rank < run.trace.workers || run.setup.traffic.server_overhead_s == 0)
    return;
  double bytes = 0;
  for (const Transfer& transfer : transfers)
    bytes += static_cast<double>(transfer.bytes);
  const Payload& payload = *run.payload(in_pipeline.bucket, in_pipeline.iteration);
  run.handle(payload.tensors_in(bytes, run.trace.servers, rank - run.trace.workers),
             {.stream = Stream::communication,
              .stage = static_cast<std::uint8_t>(own.stage),
              .rank = rank,
              .bucket = in_pipeline.bucket.index,
              .iteration = in_pipeline.iteration});
}

// Each partition is added when it has come in, while the next one comes in.
void Stages::add_up(StreamState& own, const Phase& piece, int partitions,
                    const PipelinedBucket& in_pipeline) {
  if (!piece.adds)
    return;
  std::uint64_t bytes = 0;
  for (const Transfer& received : piece.receives)
    bytes += received.bytes;
  const Row& received = run.trace.rows[*own.last_row];
  const double coming_s = (received.end_s - received.start_s) * (partitions - 1) / partitions;
  run.sum_of_partitions(bytes, partitions, coming_s,
                        {.stream = Stream::communication,
                         .stage = static_cast<std::uint8_t>(own.stage),
                         .rank = rank,
                         .bucket = in_pipeline.bucket.index,
                         .iteration = in_pipeline.iteration});
}

void Stages::wake() {
  for (const auto& one : streams)
    one->jobs.wakeup.wake();
}

}  // namespace syncline
