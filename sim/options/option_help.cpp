// What `syncline help` says of each option besides its sentence: one more, and a value to try.
#include <map>

#include "sim/options/options.h"

namespace syncline {

const OptionHelp& option_help(const std::string& name) {
  static const std::map<std::string, OptionHelp> all{
      {"platform",
       {"It describes hosts, links and routes; platforms/README.md says how to write one.",
        "v100-4x8-100gib"}},
      {"workers",
       {"They are taken node by node, so that 8 workers on nodes of 4 are two nodes.", "1,8,32"}},
      {"workers-per-node",
       {"A plain <cluster> has no such property, and every host would be a node.", "4"}},
      {"servers",
       {"Servers of their own need hosts with role = server, or hosts that are not workers.", "0"}},
      {"host-bandwidth",
       {"Servers on nodes and their aggregators get gradients through this port.", "24e9"}},
      {"host-memory-bandwidth",
       {"Adding gradients on a CPU is limited by its memory: three bytes move per byte added.",
        "200e9"}},
      {"model",
       {"Workload texts of ASTRA-sim 1.0 and SimAI and Chakra traces as JSON are read too, with "
        "their own times.",
        "bert-base"}},
      {"batch", {"Twice the batch takes twice the computation and the same communication.", "64"}},
      {"precision",
       {"Gradients in fp16 have half the bytes, and have throughput rows of their own.", "fp16"}},
      {"throughput",
       {"It is an input, what one device does alone; the throughput of a result is that of all "
        "workers together.",
        "400"}},
      {"device",
       {"Its cost table prices compression, and its measured rows are seconds of computation.",
        "v100-modelled"}},
      {"efficiency",
       {"It is an input, for models without a measured row; scaling efficiency, the column "
        "scaling, "
        "is a result.",
        "0.4"}},
      {"optimizer",
       {"By default the step is in the measured throughput and counts as computation.",
        "adam --memory-bandwidth 9e11"}},
      {"memory-bandwidth",
       {"An optimiser's step does little arithmetic, so its time is bytes over this rate.",
        "9e11 --optimizer sgd"}},
      {"optimizer-overhead",
       {"A worker alone hides it, because its host runs ahead of the device.", "1e-5"}},
      {"schedule",
       {"All average together (bsp, topk-sgd), or servers apply gradients as they come (asp, ssp, "
        "inhad).",
        "bsp,asp"}},
      {"exchange",
       {"Which one is fastest depends on message size, workers and the network in nodes.",
        "ring,tree,hierarchical"}},
      {"overlap",
       {"Without it communication begins when backward has ended, as in simple implementations.",
        "off"}},
      {"bucket-bytes",
       {"Small buckets start early but pay latency often; large ones leave less to overlap.",
        "0,26214400,all"}},
      {"compressor",
       {"Fewer bytes are sent, but making and reading messages takes the device's time.",
        "none,topk --device v100-modelled"}},
      {"dense-below",
       {"Small tensors gain little from compression and lose accuracy.",
        "4096 --compressor topk --device v100-modelled"}},
      {"network",
       {"It says how latency, bandwidth and flows that meet become seconds.", "exact,lv08"}},
      {"bandwidth-factor",
       {"With 2 every link is twice as fast: a what-if in one word.", "0.5,1,2"}},
      {"latency-factor", {"With 0.5 every latency is half of the platform's.", "0.5"}},
      {"step-overhead",
       {"Launching a step of a collective costs some microseconds of software.", "5e-6"}},
      {"fidelity",
       {"Flows are what large clusters need; within 3 % of every step where the README says so.",
        "step"}},
      {"jitter",
       {"With 0.1 iterations differ by about 10 %, and whoever waits for all waits for the "
        "slowest.",
        "0.1"}},
      {"iterations",
       {"A fixed number makes runs comparable to the second, but may not be enough to be exact.",
        "20"}},
      {"interval", {"A smaller one needs a longer run.", "0.02"}},
      {"max-iterations", {"A run that ends so says it in a warning.", "500"}},
      {"warmup",
       {"The first iterations of a run are not like the others: caches and queues fill.", "2"}},
      {"price",
       {"A cell's cost is its workers times their hours; without a price only its seconds are "
        "known.",
        "2.48 --epoch-samples 1281167"}},
      {"epoch-samples",
       {"Cells are ranked by what an epoch takes; without it that is a million samples.",
        "1281167"}},
      {"seed",
       {"The same scenario and seed give the same bytes of every result.", "7 --jitter 0.1"}},
  };
  static const OptionHelp none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

}  // namespace syncline
