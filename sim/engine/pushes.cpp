// A worker's side of servers that answer each push: sends gradients, and keeps the parameters that
// come back.
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/collectives.h"
#include "sim/engine/run.h"
#include "sim/server.h"

namespace syncline {
namespace {

struct BucketPush {
  WorkerState& worker;
  int bucket;
  int iteration;
  std::uint64_t bytes;  // of the message, over all servers
  Push::What what;
  // By server, then piece: versions of the parameters that the gradient was computed from.
  std::vector<std::int64_t> read_versions;
};

// Sends one piece; returns when all of it has left this worker.
void send_piece(const BucketPush& bucket, int piece, Row& row,
                std::vector<std::int64_t>& messages) {
  WorkerState& worker = bucket.worker;
  Run& run = worker.run;
  const auto servers = static_cast<int>(run.servers.size());
  const PushedPieces& cut = run.cuts[index(bucket.bucket)];
  const ServerParts& parts = run.setup.buckets[index(bucket.bucket)].parts;
  int leaving = servers;
  for (const auto& server : run.servers) {
    const std::uint64_t bytes =
        bucket.what == Push::What::question
            ? control_bytes * static_cast<std::uint64_t>(run.setup.servers_as_one)
            : cut.pushed(part_of(parts, bucket.bytes, servers, server->shard), piece);
    Push push{.worker = worker.rank,
              .bucket = bucket.bucket,
              .piece = piece,
              .iteration = bucket.iteration,
              .read_version = bucket.read_versions[index(server->shard * cut.pieces + piece)],
              .what = bucket.what};
    const SentMessage sent = run.wire.deliver(
        {worker.rank, server->rank(), bytes, true},
        [&run, &worker, &server = *server, push](const SentMessage& message) mutable {
          push.came_s = sg::Engine::get_clock();
          run.wire.add_receiver_row(message, {.verb = Verb::receive,
                                              .stream = Stream::messages,
                                              .rank = server.rank(),
                                              .bucket = push.bucket,
                                              .iteration = push.iteration});
          server.pushes.add(push);
          if (push.what == Push::What::difference && --worker.outstanding == 0)
            worker.wakeup.wake();
        },
        [&worker, &leaving] {
          if (--leaving == 0)
            worker.stream.wakeup.wake();
        });
    row.bytes_sent += sent.bytes;
    messages.push_back(sent.number);
  }
  while (leaving > 0)
    worker.stream.wakeup.wait();
}

}  // namespace

int answers_to_a_push(const WorkerState& worker, int bucket) {
  return static_cast<int>(worker.run.servers.size()) * worker.run.cuts[index(bucket)].pieces;
}

void push_to_servers(WorkerState& worker, const Bucket& bucket, int iteration,
                     std::uint64_t message_bytes, Push::What what) {
  BucketPush push{.worker = worker,
                  .bucket = bucket.index,
                  .iteration = iteration,
                  .bytes = message_bytes,
                  .what = what,
                  .read_versions = {}};
  const auto first = static_cast<std::ptrdiff_t>(worker.run.piece(bucket.index, 0));
  for (const std::vector<std::int64_t>& of_server : worker.read_version)
    push.read_versions.insert(
        push.read_versions.end(), of_server.begin() + first,
        of_server.begin() + first + worker.run.cuts[index(bucket.index)].pieces);
  worker.stream.jobs.add([push = std::move(push)] {
    Run& run = push.worker.run;
    const int limit = run.setup.traffic.pushing.in_flight;
    while (limit > 0 && push.worker.buckets_in_flight >= limit)
      push.worker.stream.wakeup.wait();
    if (push.what != Push::What::difference)  // nothing answers a difference
      ++push.worker.buckets_in_flight;
    const double start_s = sg::Engine::get_clock();
    const Verb verb = push.what == Push::What::question ? Verb::ask : Verb::push;
    Row row = push.worker.stream.row(verb, push.bucket, push.iteration);
    std::vector<std::int64_t> messages;
    for (int piece = 0; piece < run.cuts[index(push.bucket)].pieces; ++piece)
      send_piece(push, piece, row, messages);
    run.add_row(start_s, row);
    run.wire.sends(messages);
  });
}

void answer_arrived(WorkerState& worker, int shard, const Push& push, const CachedPiece& answer,
                    const Learner::Answer& values, const SentMessage& message) {
  const double now_s = sg::Engine::get_clock();
  const double sent_s = message.sent_s;
  if (worker.answers &&
      (sent_s > worker.answers->end_s || push.iteration != worker.answers->iteration))
    end_answers(worker);
  if (!worker.answers)
    worker.answers = {.start_s = sent_s,
                      .verb = Verb::pull,
                      .stream = Stream::messages,
                      .rank = worker.rank,
                      .iteration = push.iteration};
  worker.answers->start_s = std::min(worker.answers->start_s, sent_s);
  worker.answers->end_s = now_s;
  worker.answers->bytes_received += message.bytes;
  worker.answer_messages.push_back(message.number);

  CachedPiece& cached = worker.cache[index(shard)][worker.run.piece(push.bucket, push.piece)];
  const bool newest = answer.own > cached.own;  // answers can overtake each other
  if (newest)
    cached = answer;
  if (Learner* learner = worker.run.learner.get())
    learner->arrive({shard, push.bucket, push.piece}, worker.rank, values, newest);
  const bool complete =
      ++worker.answers_of[index(push.bucket)] % answers_to_a_push(worker, push.bucket) == 0;
  if (complete) {
    --worker.buckets_in_flight;
    worker.stream.wakeup.wake();
    if (worker.run.setup.traffic.compressed_pulls)
      worker.to_decompress.emplace_back(push.bucket, push.iteration);
  }
  if (--worker.outstanding == 0 || worker.waits_for_fresh)
    worker.wakeup.wake();
}

void end_answers(WorkerState& worker) {
  if (worker.answers) {
    worker.run.trace.rows.push_back(*worker.answers);
    worker.run.wire.receives(std::exchange(worker.answer_messages, {}));
  }
  worker.answers.reset();
}

void read_cache(WorkerState& worker) {
  const int made = worker.iteration + 1;
  for (std::size_t s = 0; s < worker.cache.size(); ++s)
    for (std::size_t p = 0; p < worker.cache[s].size(); ++p)
      worker.read_version[s][p] = worker.cache[s][p].version + made - worker.cache[s][p].own;
  if (worker.run.learner != nullptr)
    worker.run.learner->read(worker.rank, made, [&](const PieceOf& piece) {
      const CachedPiece& cached =
          worker.cache[index(piece.server)][worker.run.piece(piece.bucket, piece.piece)];
      return Learner::ArrivedPiece{.version = cached.version, .own = cached.own};
    });
}

bool is_fresh(WorkerState& worker, double clock) {
  const std::size_t pieces = worker.cache.front().size();
  const std::size_t all = worker.cache.size() * pieces;
  const auto is_old = [&] {
    return worker.cache[worker.fresh / pieces][worker.fresh % pieces].clock < clock;
  };
  while (worker.fresh < all && !is_old())
    ++worker.fresh;
  return worker.fresh == all;
}

int oldest_clock(const WorkerState& worker) {
  int oldest = std::numeric_limits<int>::max();
  for (const std::vector<CachedPiece>& of_server : worker.cache)
    for (const CachedPiece& piece : of_server)
      oldest = std::min(oldest, piece.clock);
  return oldest;
}

}  // namespace syncline
