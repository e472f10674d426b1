// InHAD: iteration-number-based hierarchical gradient aggregation (Xiao et al., J. Supercomputing
// 2022, online 2021). Workers copy gradients to an aggregator in their node and go on; nodes send
// the server their iteration number, a few bytes; the server adds up the numbers, and when
// `threshold` gradients are waiting it pulls one sum per node that has any, makes one update of
// them (the n-softsync rule of Zhang et al. 2016), and sends the parameters back.
//
// The paper's abstract leaves these open; each is a parameter, with the reason for its default:
//   threshold    0 means the number of workers, one gradient per worker on average: between ASP (1)
//                and workers that never get each other's gradients (infinity).
//   report       `gradient`: after every contribution, so the threshold counts gradients, as in
//                n-softsync. `round`: when every worker of the node has contributed once more:
//                fewer messages, but a slow worker delays its node's report.
//   answer       `pulled`: parameters go to the nodes that contributed, as ASP answers the sender.
//                `all`: to every node, for one model more per node and update.
//   wait         `off`: workers take the parameters that the node has, because hiding the transfer
//                is the method's aim. `on`: they wait until their own gradient is in them, as in
//                ASP.
//   staleness    0: no bound. Else a node is also pulled when its oldest gradient used parameters
//                that are so many updates old, independent of the threshold.
// Stale gradients are used, not dropped: those left when the workers end are pulled too.
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "sim/aggregator.h"
#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void worker(Worker& worker) {
  const bool wait = worker.settings().word("wait") == "on";
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets())
      worker.backward(bucket);
    worker.hand_over();
    if (wait)
      worker.wait_until_applied();
    worker.take_parameters();
    worker.step();
  }
}

void aggregator(Aggregator& node) {
  const bool every_gradient = node.settings().word("report") == "gradient";
  while (const auto event = node.next()) {
    if (event->kind == Aggregator::Event::Kind::sum_wanted)
      node.send_sum(event->server);
    else if (every_gradient || node.completes_a_round())
      node.report();
  }
}

// What the scheduler knows about a node: counts are of gradients since the start.
struct Node {
  std::int64_t reported = 0;
  std::int64_t asked_for = 0;
  bool sum_under_way = false;
  std::int64_t oldest_version = 0;
  bool last = false;
};

// Sums that have been asked for and will make one update together.
struct PendingUpdate {
  std::set<int> missing;  // nodes whose sum has not arrived
  std::vector<NodeMessage> sums;
};

class Scheduler {
 public:
  explicit Scheduler(Server& server)
      : server_(server), nodes_(static_cast<std::size_t>(server.nodes())) {
    const double threshold = server.settings().number("threshold");
    threshold_ = threshold > 0 ? threshold : server.workers();
    if (threshold_ > server.workers() && server.settings().word("wait") == "on")
      throw std::invalid_argument("threshold = " + std::to_string(std::lround(threshold_)) +
                                  " with wait = on: all " + std::to_string(server.workers()) +
                                  " workers would wait for more gradients than they can make; " +
                                  "allowed are thresholds up to their number");
    bound_ = server.settings().number("staleness");
    answer_all_ = server.settings().word("answer") == "all";
  }

  void receive(const NodeMessage& message) {
    Node& node = nodes_[static_cast<std::size_t>(message.node)];
    if (message.is_sum) {
      // The sum may have more gradients than the node had reported when it was asked.
      node.asked_for = std::max(node.asked_for, message.iteration_number);
      node.sum_under_way = false;
      complete(message);
    } else {
      node.reported = std::max(node.reported, message.iteration_number);
      node.oldest_version = message.oldest_version;
      node.last = node.last || message.last;
    }
    pull_where_due();
  }

 private:
  // While a sum is under way, new gradients collect at the node; asking again would only queue sums
  // on the same link, each older than the one before.
  bool waiting(const Node& node) const {
    return node.reported > node.asked_for && !node.sum_under_way;
  }

  void pull_where_due() {
    std::int64_t count = 0;
    bool all_ended = true;
    for (const Node& node : nodes_) {
      count += waiting(node) ? node.reported - node.asked_for : 0;
      all_ended = all_ended && node.last;
    }
    const bool due = static_cast<double>(count) >= threshold_ || all_ended;
    PendingUpdate update;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const bool old =
          bound_ > 0 && static_cast<double>(server_.version() - node.oldest_version) >= bound_;
      if (!waiting(node) || !(due || old))
        continue;
      node.asked_for = node.reported;
      node.sum_under_way = true;
      update.missing.insert(static_cast<int>(i));
    }
    if (update.missing.empty())
      return;
    for (const int node : update.missing)
      server_.ask_for_sum(node);
    pending_updates_.push_back(std::move(update));
  }

  // A node answers requests in order, so its sum belongs to the oldest update that misses it.
  void complete(const NodeMessage& sum) {
    for (auto update = pending_updates_.begin(); update != pending_updates_.end(); ++update) {
      if (update->missing.erase(sum.node) == 0)
        continue;
      update->sums.push_back(sum);
      if (update->missing.empty()) {
        server_.apply(update->sums);
        answer(update->sums);
        pending_updates_.erase(update);
      }
      return;
    }
  }

  void answer(const std::vector<NodeMessage>& sums) {
    if (answer_all_) {
      for (int node = 0; node < server_.nodes(); ++node)
        server_.send_parameters(node);
      return;
    }
    for (const NodeMessage& sum : sums)
      if (!sum.gradients.empty())
        server_.send_parameters(sum.node);
  }

  Server& server_;
  std::vector<Node> nodes_;
  std::vector<PendingUpdate> pending_updates_;
  double threshold_ = 0;
  double bound_ = 0;
  bool answer_all_ = false;
};

void server(Server& server) {
  Scheduler scheduler(server);
  while (const auto message = server.next_message())
    scheduler.receive(*message);
}

const Registered<Schedule> entry{{
    .name = "inhad",
    .sentence = "nodes sum gradients; a server counts their iteration numbers and pulls the sums",
    .parameters = {{.name = "threshold",
                    .sentence = "gradients that must be waiting before sums are pulled; 0: as many "
                                "as there are workers",
                    .fallback = "0",
                    .minimum = 0,
                    .maximum = 1e9,
                    .whole = true},
                   {.name = "staleness",
                    .sentence =
                        "also pull a node whose oldest gradient is this many updates old; 0: "
                        "no bound",
                    .fallback = "0",
                    .minimum = 0,
                    .maximum = 1e9,
                    .whole = true},
                   {.name = "report",
                    .sentence =
                        "a node sends its iteration number after each gradient or each round",
                    .fallback = "gradient",
                    .choices = {"gradient", "round"}},
                   {.name = "answer",
                    .sentence = "new parameters go to the nodes that were pulled or to all",
                    .fallback = "pulled",
                    .choices = {"pulled", "all"}},
                   {.name = "wait",
                    .sentence = "on: a worker waits for parameters that contain its own gradient",
                    .fallback = "off",
                    .choices = {"on", "off"}},
                   pull_parameter()},
    .exchange = "ps",
    .any_exchange = false,
    .worker = worker,
    .server = server,
    .aggregator = aggregator,
}};

}  // namespace
}  // namespace syncline
