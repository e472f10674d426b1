// InHAD: iteration-number-based hierarchical gradient aggregation (Xiao et al., J. Supercomputing
// 2022, online 2021). Workers copy gradients to an aggregator in their node and go on. Nodes send
// the server their iteration number, a few bytes. The server adds up the numbers; when `threshold`
// gradients are waiting, it pulls one sum from each node that has any, makes one update from the
// sums (the n-softsync rule of Zhang et al. 2016), and sends the parameters back. With several
// servers the first one counts and decides, so that all make the same updates.
//
// The paper's abstract leaves these open; each is a parameter, with the reason for its default:
//   staleness    A worker computes iteration c only with parameters that contain its own gradient
//                of iteration c - staleness - 1. This is SSP's rule (Ho et al. 2013) for other
//                workers' updates, here for the worker's own. 1 hides one transfer behind one
//                iteration, the method's aim, and keeps staleness limited, its claim; 0 hides
//                nothing, as in ASP; with `none` workers never wait, and on a slow network
//                gradients pile up in the nodes' sums.
//   threshold    0 means the number of workers, one gradient per worker on average: between ASP (1)
//                and workers that never get each other's gradients (infinity).
//   report       `gradient`: after every contribution, so the threshold counts gradients, as in
//                n-softsync. `round`: when every worker of the node has contributed once more:
//                fewer messages, but a slow worker delays its node's report.
//   answer       `pulled`: parameters go to the nodes that contributed, as ASP answers the sender.
//                `all`: parameters go to every node, at the cost of one more model per node and
//                update.
// Stale gradients are used, not dropped: gradients left when the workers end are pulled, too.
//
// No worker waits forever. A worker waits when staleness + 1 of its gradients are not in its
// parameters. Once nothing is on its way, all such workers wait at their nodes, which have reported
// the gradients. So the server waits for no more gradients than staleness + 1 per worker that has
// not ended.
#include <algorithm>
#include <limits>
#include <map>
#include <variant>
#include <vector>

#include "sim/aggregator.h"
#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void worker(Worker& worker) {
  const double staleness = worker.settings().number("staleness");
  while (worker.next_iteration()) {
    compute_gradient(worker);
    worker.hand_over();
    worker.wait_until_applied(staleness);
    worker.take_parameters();
    worker.step();
  }
}

void aggregator(Aggregator& node) {
  const bool every_gradient = node.settings().word("report") == "gradient";
  while (const auto event = node.next()) {
    if (event->kind == Aggregator::Event::Kind::sum_wanted)
      node.send_sum(event->update, event->nodes_in_update);
    else if (every_gradient || node.completes_a_round() || node.all_workers_stand())
      node.report();
  }
}

// Number of waiting gradients at which the server pulls.
double threshold_of(const Settings& settings, int workers) {
  const double threshold = settings.number("threshold");
  return threshold > 0 ? threshold : workers;
}

// The most gradients that a worker can have waiting.
double waiting_of_each(const Settings& settings) {
  return settings.number("staleness") + 1;
}

std::string refusal(const Settings& settings, int workers) {
  const double most = workers * waiting_of_each(settings);
  const double threshold = threshold_of(settings, workers);
  if (threshold <= most)
    return "";
  const auto whole = [](double number) { return std::to_string(static_cast<long>(number)); };
  return "threshold = " + whole(threshold) +
         " with staleness = " + whole(settings.number("staleness")) + ": " +
         std::to_string(workers) + " workers never have more than " + whole(most) +
         " gradients waiting; allowed are thresholds up to that";
}

// Counts the nodes' iteration numbers, and decides when to pull. Only the first server gets
// reports.
class Scheduler {
 public:
  explicit Scheduler(Server& server)
      : server_(server),
        nodes_(static_cast<std::size_t>(server.nodes())),
        threshold_(threshold_of(server.settings(), server.workers())),
        per_worker_(waiting_of_each(server.settings())) {}

  void receive(const NodeReport& report) {
    Node& node = nodes_[static_cast<std::size_t>(report.node)];
    node.reported = std::max(node.reported, report.gradients);
    node.delivered = std::max(node.delivered, report.delivered);
    node.sums_delivered = std::max(node.sums_delivered, report.sums_delivered);
    node.ended_workers = std::max(node.ended_workers, report.ended_workers);
    pull_if_due();
  }

 private:
  struct Node {
    std::int64_t reported = 0;   // gradients since the start
    std::int64_t delivered = 0;  // of these, in sums that all servers have received
    std::int64_t sums_asked = 0;
    std::int64_t sums_delivered = 0;
    int ended_workers = 0;

    // While a sum is on its way, new gradients collect at the node. Asking again would only queue
    // sums on the same link, each older than the one before.
    std::int64_t waiting() const {
      return sums_asked > sums_delivered ? 0 : std::max<std::int64_t>(reported - delivered, 0);
    }
  };

  void pull_if_due() {
    std::int64_t gradients = 0;
    int nodes = 0;
    int active_workers = server_.workers();
    for (const Node& node : nodes_) {
      gradients += node.waiting();
      nodes += node.waiting() > 0 ? 1 : 0;
      active_workers -= node.ended_workers;
    }
    const double can_wait = active_workers > 0 ? active_workers * per_worker_ : 0;
    if (nodes == 0 || static_cast<double>(gradients) < std::min(threshold_, can_wait))
      return;
    ++update_;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].waiting() > 0) {
        ++nodes_[i].sums_asked;
        server_.ask_for_sum(static_cast<int>(i), update_, nodes);
      }
  }

  Server& server_;
  std::vector<Node> nodes_;
  std::int64_t update_ = 0;
  double threshold_;
  double per_worker_;
};

void server(Server& server) {
  const bool answer_all = server.settings().word("answer") == "all";
  Scheduler scheduler(server);
  std::map<std::int64_t, std::vector<NodeSum>> incomplete;  // updates that lack some sums
  while (const auto message = server.next_message()) {
    if (const auto* report = std::get_if<NodeReport>(&*message)) {
      scheduler.receive(*report);
      continue;
    }
    const auto& sum = std::get<NodeSum>(*message);
    std::vector<NodeSum>& sums = incomplete[sum.update];
    sums.push_back(sum);
    if (static_cast<int>(sums.size()) < sum.nodes_in_update)
      continue;
    server.apply(sums);
    if (answer_all)
      for (int node = 0; node < server.nodes(); ++node)
        server.send_parameters(node);
    else
      for (const NodeSum& pulled : sums)
        server.send_parameters(pulled.node);
    incomplete.erase(sum.update);
  }
}

const Registered<Schedule> entry{{
    .name = "inhad",
    .sentence = "nodes sum gradients; a server counts their iteration numbers and pulls the sums",
    .help = {.more = "One sum per node crosses the network instead of one gradient per worker, "
                     "while workers go on.",
             .paper = "Xiao et al., The Journal of Supercomputing 2022"},
    .options = {whole_number("threshold",
                             "gradients that must be waiting before sums are pulled; 0: as many "
                             "as there are workers",
                             "0", 0, 1e9),
                staleness_option("how many of a worker's own gradients its parameters may lack",
                                 "1"),
                choice("report",
                       "a node sends its iteration number after each gradient or each round",
                       "gradient", {"gradient", "round"}),
                choice("answer", "new parameters go to the nodes that were pulled or to all",
                       "pulled", {"pulled", "all"}),
                pull_option()},
    .waiting = [](const Settings&) { return Schedule::Waiting::for_some; },
    .refusal = refusal,
    .settles_slowly = true,
    // With threshold = 1 each gradient is pulled at once, so a worker is only held back by its own
    // gradients.
    .most_lead =
        [](const Settings& settings) {
          return settings.number("threshold") == 1 ? std::numeric_limits<double>::infinity() : 0;
        },
    .worker = worker,
    .server = server,
    .aggregator = aggregator,
}};

}  // namespace
}  // namespace syncline
