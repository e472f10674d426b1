// InHAD: iteration-number-based hierarchical gradient aggregation (Xiao et al., J. Supercomputing
// 2021). Workers hand gradients to an aggregator in their node and go on; nodes send the server
// their iteration number, a few bytes; the server counts the numbers, and when `threshold`
// gradients are waiting it pulls one sum per node that has any, makes one update of them (the
// n-softsync rule of Zhang et al. 2016), and sends the parameters back.
//
// The paper's text leaves these open; each is a parameter, with the reason for its default:
//   threshold    0 stands for the number of workers, one round's worth: the middle between ASP (1)
//                and never hearing of each other.
//   report       `gradient`: after every contribution, so the threshold counts gradients as
//                n-softsync does. `round`: when every worker of the node has contributed once
//                more, which saves messages and lets a straggler hold its node's up.
//   answer       `pulled`: parameters go to the nodes that contributed, as ASP answers whom it
//                hears. `all`: to every node, for one model more per node and update.
//   wait         `off`: workers take whatever parameters the node has, since hiding the transfer is
//                the method's aim. `on`: until their own gradient is in them, as in ASP.
//   staleness    0: no bound. Else a node is also pulled when its oldest gradient was computed that
//                many updates ago, whatever the count.
// Stale gradients are used, not dropped: what is left when the workers end is pulled too.
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

// What the scheduler knows of a node: numbers are counts of gradients since the start.
struct Node {
  std::int64_t reported = 0;
  std::int64_t asked_for = 0;
  bool sum_on_its_way = false;
  std::int64_t oldest_version = 0;
  bool last = false;
};

// Sums on their way that will make one update together.
struct Round {
  std::set<int> awaited;
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
      // The sum may hold more than was known when it was asked for.
      node.asked_for = std::max(node.asked_for, message.iteration_number);
      node.sum_on_its_way = false;
      complete(message);
    } else {
      node.reported = std::max(node.reported, message.iteration_number);
      node.oldest_version = message.oldest_version;
      node.last = node.last || message.last;
    }
    pull_where_due();
  }

 private:
  // While a sum is on its way, what comes after it gathers in the node's fresh buffer: asking again
  // would only queue sums on the same link, each staler than the one before.
  bool waiting(const Node& node) const {
    return node.reported > node.asked_for && !node.sum_on_its_way;
  }

  void pull_where_due() {
    std::int64_t count = 0;
    bool closing = true;
    for (const Node& node : nodes_) {
      count += waiting(node) ? node.reported - node.asked_for : 0;
      closing = closing && node.last;
    }
    const bool due = static_cast<double>(count) >= threshold_ || closing;
    Round round;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const bool old =
          bound_ > 0 && static_cast<double>(server_.version() - node.oldest_version) >= bound_;
      if (!waiting(node) || !(due || old))
        continue;
      node.asked_for = node.reported;
      node.sum_on_its_way = true;
      round.awaited.insert(static_cast<int>(i));
    }
    if (round.awaited.empty())
      return;
    for (const int node : round.awaited)
      server_.ask_for_sum(node);
    rounds_.push_back(std::move(round));
  }

  // A node answers requests in order, so its sum belongs to the oldest round that awaits it.
  void complete(const NodeMessage& sum) {
    for (auto round = rounds_.begin(); round != rounds_.end(); ++round) {
      if (round->awaited.erase(sum.node) == 0)
        continue;
      round->sums.push_back(sum);
      if (round->awaited.empty()) {
        server_.apply(round->sums);
        answer(round->sums);
        rounds_.erase(round);
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
  std::vector<Round> rounds_;
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
