// Asynchronous parallel: each worker pushes its gradients when they are ready; the parameter server
// applies them at once and answers with the current parameters; no worker waits for another one
// (Dean et al. 2012; QSGD appendix D states the same model). Staleness is unbounded.
#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void server(Server& server) {
  while (const auto push = server.next_push()) {
    server.apply(*push);
    server.reply(*push);
  }
}

const Registered<Schedule> entry{{
    .name = "asp",
    .sentence =
        "asynchronous: a server applies each gradient as it comes, no worker waits for others",
    .help = {.more = "Slow workers delay no others, but gradients are applied to parameters that "
                     "others have changed since: staleness has no bound. A worker waits for the "
                     "answer to each push, even if it is alone; with ssp's cache it does not. With "
                     "pull = compressed and compressor = topk it is dual-way gradient "
                     "sparsification: a server keeps what it has not yet sent to each worker. Its "
                     "momentum (SAMomentum) is not here.",
             .paper = "Dean et al., NIPS 2012; dual-way: Yan et al., ICPP 2020"},
    .options = {pull_option()},
    .most_lead = unbounded,
    .worker = downpour_worker,
    .server = server,
}};

}  // namespace
}  // namespace syncline
