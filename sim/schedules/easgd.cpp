// Asynchronous elastic averaging SGD (Zhang, Choromanska, LeCun, NIPS 2015, arXiv 1412.6651,
// Algorithm 1). Servers hold a centre; each worker has parameters x of its own. In every
// `period`-th iteration, from the first, a worker asks for the centre and waits for it. It sends
// the servers d = a (x - centre), which they add to the centre, and takes the step x -= rate *
// gradient(x) + d. So the centre follows the mean of the workers, and pulls them back. d is on its
// way while the worker computes; the worker waits for its arrival before the next exchange, as the
// authors' code does (github.com/sixin-zh/mpiT, asyncsgd). a is the moving rate; `auto` is 0.9 /
// workers, as there. With `momentum` workers step with the usual momentum; the authors' EAMSGD has
// Nesterov's.
#include <cmath>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

int period(const Settings& settings) {
  return static_cast<int>(settings.number("period"));
}

void worker(Worker& worker) {
  const double rate = worker.settings().number("moving-rate");
  const double moving = std::isfinite(rate) ? rate : 0.9 / worker.workers();
  for (int t = 0; worker.next_iteration(); ++t) {
    if (t % period(worker.settings()) == 0) {
      for (const Bucket& bucket : worker.buckets())
        worker.ask(bucket);
      worker.pull();
      for (const Bucket& bucket : worker.buckets())
        worker.push_difference(bucket, moving);
    }
    compute_gradient(worker);
    worker.step_alone();
  }
}

void server(Server& server) {
  while (const auto push = server.next_push())
    if (push->what == Push::What::question)
      server.reply(*push);
    else
      server.apply(*push);
}

const Registered<Schedule> entry{{
    .name = "easgd",
    .sentence = "workers step alone; every `period` steps each and a centre on servers attract",
    .help = {.more = "Workers exchange parameters, not gradients, and nobody waits for another "
                     "worker. Loss and accuracy are the centre's.",
             .paper = "Zhang, Choromanska, LeCun, NIPS 2015, arXiv 1412.6651"},
    .options = {whole_number("period", "iterations between two exchanges of a worker", "10", 1,
                             1e6),
                or_word(number("moving-rate",
                               "part of its distance from the centre that a worker moves towards "
                               "it, and the centre towards the worker; auto: 0.9 / workers",
                               "auto", 0, 1),
                        "auto")},
    .own_parameters = true,
    .round = [](const Settings& settings, int) { return period(settings); },
    .keeps = [](const Settings&, bool) -> std::vector<std::string> {
      return {"centre", "difference"};
    },
    .most_lead = unbounded,
    .worker = worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline
