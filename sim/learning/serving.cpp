// Learning with servers that answer every push, and with servers that pull sums from nodes.
#include <algorithm>
#include <utility>

#include "sim/learning/learner.h"

namespace syncline {
namespace {

constexpr int answers = 1;  // the stage of messages that servers compress
constexpr int model = 0;    // nodes send the model as one bucket

}  // namespace

Range Learner::shard(int server) const {
  return shares_of({0, objective_.parameters()}, servers_, server, server + 1);
}

int Learner::answers_of(int server, int client, int clients) const {
  const Cluster& cluster = setup_.traffic.cluster;
  return cluster.aggregator_of(static_cast<int>(topology_.nodes.size())) + server * clients +
         client;
}

Range Learner::range_of(const PieceOf& piece) const {
  const PushedPieces& cut = cuts_[index(piece.bucket)];
  const Range shard = shares_of(ranges_.of(piece.bucket), servers_, piece.server, piece.server + 1);
  return shares_of(shard, cut.partitions, cut.before(piece.piece), cut.before(piece.piece + 1));
}

void Learner::forward(int worker, int iteration) {
  if (!has_neighbours() && held_.empty()) {  // workers that average evaluate all gradients at once
    if (alone_.empty() && !averages_.contains(iteration))
      averages_[iteration].parameters = optimizer_.parameters();
    return;
  }
  const std::vector<float>& parameters =
      has_neighbours() ? alone_[index(worker)].parameters() : held_[index(worker)].read();
  const bool weighed = !has_neighbours() && learning_.rate_in_residual;
  compute(worker, iteration, parameters, weighed ? weight() : 1,
          gradients_[index(worker)].overwrite(objective_.parameters()));
}

double Learner::push(int worker, int bucket, int iteration) {
  const Range of_bucket = ranges_.of(bucket);
  const CopiedOnWrite& gradient = gradients_[index(worker)];
  SharedValues seen = gradient.share();
  std::size_t begin = 0;
  double scale = 1;
  if (!is_sent_as_it_is(bucket)) {
    auto sent = std::make_shared<std::vector<float>>(of_bucket.size());
    scale = send({.rank = worker, .stage = 0, .bucket = bucket}, of_bucket, iteration,
                 std::span(gradient.read()).subspan(of_bucket.begin, of_bucket.size()), *sent);
    seen = std::move(sent);
    begin = of_bucket.begin;
  }
  in_flight_[{worker, iteration, bucket}] = {
      .values = seen, .begin = begin, .unapplied = servers_ * cuts_[index(bucket)].pieces};
  own_[index(worker)].push_back(
      {.iteration = iteration,
       .bucket = bucket,
       .weight = static_cast<float>(learning_.rate_in_residual ? 1 : weight()),
       .values = std::move(seen),
       .begin = begin});
  return scale;
}

void Learner::push_difference(int worker, int bucket, int iteration, double rate) {
  const Range range = ranges_.of(bucket);
  const std::vector<float>& own = alone_[index(replica_of_[index(worker)])].parameters();
  const std::vector<float>& theirs = arrived_[index(worker)].together().read();
  auto difference = std::make_shared<std::vector<float>>(range.size());
  for (std::size_t i = range.begin; i < range.end; ++i)
    (*difference)[i - range.begin] = at_precision(static_cast<float>(rate) * (own[i] - theirs[i]));
  in_flight_[{worker, iteration, bucket}] = {.values = difference,
                                             .begin = range.begin,
                                             .unapplied = servers_ * cuts_[index(bucket)].pieces};
  differences_[index(worker)].emplace_back(bucket, std::move(difference));
}

std::span<const float> Learner::pushed(const PieceOf& piece, int worker, int iteration) const {
  const Range range = range_of(piece);
  const InFlight& sent = in_flight_.at({worker, iteration, piece.bucket});
  return std::span(*sent.values).subspan(range.begin - sent.begin, range.size());
}

void Learner::taken(const PieceOf& piece, int worker, int iteration) {
  const auto gradient = in_flight_.find({worker, iteration, piece.bucket});
  if (--gradient->second.unapplied == 0)
    in_flight_.erase(gradient);
}

void Learner::note_applied(const PieceOf& piece, int worker, int iteration, int together) {
  if (setup_.keep_messages)
    learned_.applied.push_back({.server = piece.server,
                                .bucket = piece.bucket,
                                .piece = piece.piece,
                                .worker = worker,
                                .iteration = iteration,
                                .together = together});
}

void Learner::note_applied(const PieceOf& piece, const Pushed& gradient, std::size_t together) {
  note_applied(piece, gradient.worker, gradient.iteration, static_cast<int>(together));
  note_staleness(range_of(piece), 1, static_cast<double>(gradient.staleness));
}

std::vector<float> Learner::add_up(const PieceOf& piece, std::vector<Pushed>& gradients,
                                   const std::function<float(const Pushed&)>& weight) {
  const Range range = range_of(piece);
  std::vector<float> sum(range.size());
  std::ranges::sort(gradients, {},
                    [](const Pushed& one) { return std::pair(one.worker, one.iteration); });
  for (const Pushed& one : gradients) {
    note_applied(piece, one, gradients.size());
    const float times = weight(one);
    const std::span<const float> gradient = pushed(piece, one.worker, one.iteration);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += times * gradient[i];
    taken(piece, one.worker, one.iteration);
  }
  return sum;
}

void Learner::apply(const PieceOf& piece, std::vector<Pushed> gradients) {
  const auto count = static_cast<double>(gradients.size());
  const auto least_one = [](const Pushed& one) {
    return static_cast<double>(std::max<std::int64_t>(one.staleness, 1));
  };
  const bool inverse = learning_.inverse_staleness;
  if (gradients.size() == 1 && !inverse) {  // nothing is to be added up
    const Pushed& one = gradients.front();
    note_applied(piece, one, 1);
    apply(range_of(piece), pushed(piece, one.worker, one.iteration), 1, weight());
    taken(piece, one.worker, one.iteration);
    return;
  }
  double mean = 1;  // harmonic mean of the gradients' staleness
  if (inverse) {
    double shares = 0;
    for (const Pushed& one : gradients)
      shares += 1 / least_one(one);
    mean = count / shares;
  }
  const std::vector<float> sum = add_up(piece, gradients, [&](const Pushed& one) {
    return inverse ? static_cast<float>(mean / least_one(one)) : 1.0f;
  });
  apply(range_of(piece), sum, count, inverse ? rate(updates_) / mean / count : weight());
}

void Learner::apply_mean(const PieceOf& piece, std::vector<Pushed> gradients,
                         std::int64_t updates) {
  // The rate is meant for a mean of all workers' gradients.
  std::vector<float> sum = add_up(piece, gradients, [](const Pushed&) { return 1.0f; });
  const auto missing = static_cast<float>(workers_ / static_cast<double>(gradients.size()));
  for (float& value : sum)
    value *= missing;
  apply(range_of(piece), sum, workers_, rate(updates) / workers_);
  updates_ = std::max(updates_, updates + 1);
}

void Learner::apply_difference(const PieceOf& piece, int worker, int iteration) {
  note_applied(piece, worker, iteration, 1);
  optimizer_.add(range_of(piece), pushed(piece, worker, iteration), 1);
  taken(piece, worker, iteration);
}

void Learner::drop(const PieceOf& piece, int worker, int iteration) {
  taken(piece, worker, iteration);
}

void Learner::note_staleness(const Range& range, double gradients, double staleness) {
  const double values = gradients * static_cast<double>(range.size());
  applied_values_ += values;
  staleness_ += values * staleness;
}

Learner::Answer Learner::answer(const PieceOf& piece, int worker, int iteration) {
  const int stream = answers_of(piece.server, worker, workers_);
  std::vector<float> none;
  return answer_to({.rank = stream, .stage = answers, .bucket = piece.bucket, .first = 0},
                   range_of(piece), iteration, known_.empty() ? none : known_[index(worker)]);
}

Learner::Answer Learner::answer_to(const Sender& sender, const Range& range, int iteration,
                                   std::vector<float>& known) {
  const float* now = optimizer_.parameters().data();
  if (known.empty()) {
    std::vector<float> sent(now + range.begin, now + range.end);
    round(sent);
    return {.values = CopiedOnWrite(std::move(sent))};
  }
  std::vector<float> change(range.size());
  for (std::size_t i = range.begin; i < range.end; ++i)
    change[i - range.begin] = now[i] - known[i];
  std::vector<float> seen(range.size());
  const double scale = send(sender, range, iteration, change, seen);
  // The next change contains whatever a message leaves out, unless the compressor keeps it.
  for (std::size_t i = range.begin; i < range.end; ++i)
    known[i] += seen[i - range.begin];
  if (coder_.keeps_residuals(iteration))
    for (const Range& one : ranges_.compressed(sender.bucket)) {
      const Range both = overlap(one, range);
      std::copy(now + both.begin, now + both.end,
                known.begin() + static_cast<std::ptrdiff_t>(both.begin));
    }
  return {.values = CopiedOnWrite(std::move(seen)), .is_change = true, .scale = scale};
}

void Learner::Arrived::arrive(std::size_t begin, const Answer& answer, bool newest) {
  const std::vector<float>& values = answer.values.read();
  if (answer.is_change) {
    float* from = parameters.write().data() + begin;
    std::ranges::transform(values, std::span(from, values.size()), from, std::plus<>());
  } else if (newest && !values.empty()) {
    newer[begin] = answer.values;
  }
}

const CopiedOnWrite& Learner::Arrived::together() {
  if (newer.empty())
    return parameters;
  std::size_t count = 0;
  for (const auto& [begin, part] : newer)
    count += part.read().size();
  const std::size_t all = parameters.read().size();
  if (newer.begin()->second.read().size() == all) {
    parameters = newer.begin()->second;
  } else {
    std::vector<float>& to = count == all ? parameters.overwrite(all) : parameters.write();
    for (const auto& [begin, part] : newer)
      std::ranges::copy(part.read(), to.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  newer.clear();
  return parameters;
}

void Learner::arrive(const PieceOf& piece, int worker, const Answer& answer, bool newest) {
  arrived_[index(worker)].arrive(range_of(piece).begin, answer, newest);
}

void Learner::read(int worker, int iteration,
                   const std::function<ArrivedPiece(const PieceOf&)>& arrived) {
  if (setup_.keep_messages)
    for (PieceOf piece; piece.server < servers_; ++piece.server)
      for (piece.bucket = 0; piece.bucket < ranges_.buckets(); ++piece.bucket)
        for (piece.piece = 0; piece.piece < cuts_[index(piece.bucket)].pieces; ++piece.piece)
          learned_.reads.push_back({.worker = worker,
                                    .iteration = iteration,
                                    .server = piece.server,
                                    .bucket = piece.bucket,
                                    .piece = piece.piece,
                                    .version = arrived(piece).version,
                                    .own = arrived(piece).own});
  if (held_.empty())  // the worker has parameters of its own
    return;
  CopiedOnWrite& held = held_[index(worker)];
  held = {};  // before the parts come together, which would else be in a copy
  held = arrived_[index(worker)].together();
  std::deque<OwnUpdate>& own = own_[index(worker)];
  std::erase_if(own, [&](const OwnUpdate& update) {
    bool answered = true;
    PieceOf piece{.server = 0, .bucket = update.bucket};
    for (; piece.server < servers_; ++piece.server)
      for (piece.piece = 0; piece.piece < cuts_[index(update.bucket)].pieces; ++piece.piece) {
        if (update.iteration < arrived(piece).own)
          continue;
        answered = false;
        const Range range = range_of(piece);
        std::vector<float>& parameters = held.write();
        for (std::size_t i = range.begin; i < range.end; ++i)
          parameters[i] -= update.weight * (*update.values)[i - update.begin];
      }
    return answered;
  });
}

SharedValues Learner::gradient(int worker) const {
  return gradients_[index(worker)].share();
}

void Learner::add_to_node(int node, const std::vector<float>& gradient) {
  std::vector<float>& sum = nodes_[index(node)].sum;
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += at_precision(gradient[i]);
}

std::vector<double> Learner::send_sum(int node, std::int64_t update, int iteration) {
  std::vector<float>& sum = nodes_[index(node)].sum;
  auto seen = std::make_shared<std::vector<float>>(sum.size());
  std::vector<double> scales;
  for (int server = 0; server < servers_; ++server) {
    const Range range = shard(server);
    const Sender sender{.rank = setup_.traffic.cluster.aggregator_of(node),
                        .stage = 0,
                        .bucket = model,
                        .first = range.begin};
    scales.push_back(send(sender, range, iteration,
                          std::span<const float>(sum).subspan(range.begin, range.size()),
                          std::span<float>(*seen).subspan(range.begin, range.size())));
  }
  sums_[{update, node}] = {.values = std::move(seen), .unapplied = servers_};
  std::ranges::fill(sum, 0.0f);
  return scales;
}

void Learner::apply(int server, std::int64_t update, const std::vector<Sum>& sums) {
  const Range range = shard(server);
  std::vector<float> total(range.size());
  int gradients = 0;
  for (const Sum& sum : sums)
    gradients += sum.gradients;
  // In the order of nodes, independent of the order of arrival.
  std::vector<Sum> in_order = sums;
  std::ranges::sort(in_order, {}, &Sum::node);
  double weighed = 0;  // the sum of the gradients' weights, for the weight decay
  for (const Sum& sum : in_order) {
    note_staleness(range, sum.gradients, sum.staleness);
    const auto sent = sums_.find({update, sum.node});
    // The mean of an update's gradients gets the weight rate / (staleness in updates), as in
    // n-softsync.
    const double weight_of_sum =
        learning_.inverse_staleness ? workers_ / (std::max(sum.staleness, 1.0) * gradients) : 1;
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i] += static_cast<float>(weight_of_sum) * (*sent->second.values)[range.begin + i];
    weighed += weight_of_sum * sum.gradients;
    if (--sent->second.unapplied == 0)
      sums_.erase(sent);
  }
  apply(range, total, weighed, weight());
}

Learner::Answer Learner::answer_node(int server, int node, std::int64_t update) {
  const int stream = answers_of(server, node, static_cast<int>(topology_.nodes.size()));
  return answer_to({.rank = stream, .stage = answers, .bucket = model, .first = 0}, shard(server),
                   static_cast<int>(update), nodes_[index(node)].known);
}

void Learner::arrive_at_node(int server, int node, const Answer& answer, bool newest) {
  nodes_[index(node)].arrived.arrive(shard(server).begin, answer, newest);
}

void Learner::take(int worker, int node) {
  CopiedOnWrite& held = held_[index(worker)];
  held = {};
  held = nodes_[index(node)].arrived.together();
  if (setup_.scenario.precision != Precision::fp32)
    round(held.write());
}

}  // namespace syncline
