#include "sim/report/glossary.h"

namespace syncline {
namespace {

const std::string small_run = "run --platform two-hosts --model resnet20 --throughput 920";
const std::string slow_run = "run --platform straggler-8x1 --model resnet20 --throughput 920";
const std::string explained = "explain --platform pcie-8x4-10gbe --model resnet50 --throughput 253";

}  // namespace

const std::vector<GlossaryWord>& glossary() {
  static const std::vector<GlossaryWord> words{
      {"worker", "an accelerator that computes gradients: one SimGrid host",
       "The option `workers` says how many there are, node by node", explained + " --workers 8"},
      {"node", "the workers of one machine, which share its network cards",
       "The host property `node` of a platform defines it, or the option `workers-per-node`",
       explained + " --exchange hierarchical"},
      {"server", "a machine or process that holds a shard of the model",
       "With `servers = 0` each node has one", explained + " --schedule asp --servers 0"},
      {"host", "a machine or a device of a platform, as SimGrid has them",
       "It computes at its `speed`; its property `role` says what it is for", explained},
      {"role",
       "what a host of a platform is for, by its property: `worker` (also without one), `server`, "
       "`host` (a node's CPU and memory) or `none`",
       "The option `worker-hosts` names the workers instead; of Batsim's roles `compute_node` is a "
       "worker, `master` and `storage` are none",
       explained + " --worker-hosts node*-gpu0"},
      {"rail",
       "a network of its own for the k-th card of every node, where nodes have several cards",
       "Messages from one rail to another cross the node first; `hierarchical` keeps to rails",
       explained + " --exchange hierarchical"},
      {"channel",
       "a ring, or a pair of trees, that carries a share of every message and leaves a node by a "
       "card "
       "of its own",
       "NCCL's word; the option `channels` says how many, by default one for each card",
       explained + " --channels 1"},
      {"straggler", "a worker that is slower than the others, always or for a while",
       "Platforms say it with a slower host or a SimGrid speed profile; the option `jitter` draws "
       "it",
       slow_run},
      {"neighbours", "workers that send each other their parameters, in `gossip` and `ad-psgd`",
       "These schedules have no other exchange", explained + " --schedule gossip"},
      {"round",
       "the iterations after which a schedule's calls repeat: `local-steps` of `local-sgd`, else 1",
       "In `explain`, figures of an iteration are means of a round",
       explained + " --schedule local-sgd --local-steps 4"},
      {"core", "a processor of a host, by its `core` in a platform",
       "Where a worker's host has a second one, compression does not delay its computation",
       explained + " --compressor efsign --exchange allgather --device h100"},
      {"latency", "the seconds before the first byte of a message arrives, however many follow",
       "A ring of n pays it 2(n - 1) times for each bucket; `latency-factor` multiplies it",
       explained + " --latency-factor 10"},
      {"bandwidth", "the bytes per second that a link carries, of all who use it together",
       "The option `bandwidth-factor` multiplies it", explained + " --bandwidth-factor 10"},
      {"cell", "one combination of a sweep's values",
       "A process of its own simulates it, and it is a row of the table",
       small_run + " --workers 1,2"},
      {"section", "options below a `[name]` line of a `.cfg` file, for cells of that name",
       "Lines above the first section hold for all",
       "explain experiments/labs/hierarchy/hierarchy.cfg"},
      {"tie",
       "results too near to name a winner: less than 0.5 % apart, or at most 5 % apart with "
       "overlapping intervals",
       "More iterations or seeds make intervals smaller", small_run + " --workers 1,2"},
      {"moved",
       "in `check`: a figure is not as `expected.csv` expects, or a cell or its row is missing",
       "The gate ends with exit code 1; a row with severity `warn` is WARNED and ends with 0",
       "check experiments/check/training"},
      {"message", "the bytes that one worker or server sends another at a time",
       "`fidelity = step` sends each message of a collective, `flow` several as one",
       explained + " --fidelity step"},
      {"exposed", "a worker stands still while its own bytes move: in tables, bars and timelines",
       "Communication that computation hides is not exposed", small_run + " --overlap off"},
      {"waiting", "a worker stands still while nothing of its own moves",
       "It waits for slower workers; in a queue before a full card its own bytes are on their way: "
       "exposed",
       slow_run},
      {"scaling efficiency",
       "throughput(n) / what the n workers would do alone in the long run, whatever the schedule; "
       "`scaling` in tables",
       "It is 1 where communication costs nothing, and more where workers share the optimizer's "
       "step",
       small_run + " --workers 1,2"},
      {"throughput",
       "as an option: the samples/s that one worker does alone. As a result: those of all workers "
       "together",
       "Samples count when their gradients have been applied", small_run},
      {"efficiency",
       "as an option: the share of the device's peak that training reaches. As a result: scaling "
       "efficiency",
       "An option is what you give, a result what a simulation finds",
       "run --platform two-hosts --model resnet20 --efficiency 0.4"},
      {"MFU",
       "model flop utilisation: the part of the devices' peak that forward and backward reach, "
       "without what `recompute` adds (with it: HFU). Of one worker alone it is the option "
       "`efficiency`",
       "The peak is that of platforms/devices.csv for the precision",
       "run --platform two-hosts --model resnet20 --efficiency 0.4"},
      {"memory",
       "what training keeps on a device at least: parameters, gradients, the optimizer's states, "
       "activations, and what schedule and compressor keep; `explain` adds it up",
       "What does not fit is no candidate among the cells of a sweep",
       "explain --platform dgx --model gpt-1.3b --precision bf16 --efficiency 0.4 --batch 4"},
      {"break-even",
       "the bandwidth at which compression stops (or begins) to pay, which `explain` prints; of "
       "two platforms, how many times as much an hour of the faster one's worker may cost before "
       "both cost the same per sample",
       "`bandwidth-factor` tries the first; a sweep over platforms and choices prints the second",
       explained + " --compressor topk --device v100-modelled"},
      {"activations",
       "what forward keeps for backward: a model's file says it, or `activation-bytes`; "
       "`recompute` keeps less",
       "Files of transformers do; without a value they are not counted",
       "explain --platform dgx --model gpt-1.3b --precision bf16 --efficiency 0.4 --batch 4 "
       "--recompute selective"},
      {"staleness",
       "how many gradients of single workers were applied after a gradient's parameters were read "
       "and before it was applied; in JSON also updates and iterations",
       "As an option it is a bound, in iterations", small_run + " --schedule ssp --staleness 2"},
      {"parameters", "the values of the model", "A tensor is an array of them",
       explained + " --bucket-bytes 0"},
      {"settings",
       "what one schedule, exchange, problem or compressor can be told, written as options",
       "`syncline list` says which each has", "list schedules"},
      {"DiLoCo",
       "training across slow lines by `local-sgd` whose averages an outer optimizer applies "
       "(Douillard et al. 2023): `outer-learning-rate = 0.7` and `outer-momentum = 0.9`",
       "The inner steps of the paper are AdamW's, here they are SGD's",
       "explain --platform internet-8x1 --model resnet50 --throughput 253 --schedule local-sgd "
       "--outer-learning-rate 0.7 --outer-momentum 0.9"},
  };
  return words;
}

const std::vector<GlossaryWord>& portions() {
  static const std::vector<GlossaryWord> words{
      {"tensor", "one array of parameters; a model is a list of them",
       "Each is a row of the model's CSV", explained + " --bucket-bytes 0"},
      {"bucket", "the gradients of one or more tensors, fused into one transfer, in backward order",
       "The option `bucket-bytes` says how large it may be",
       explained + " --bucket-bytes 26214400"},
      {"share", "an equal part of a buffer: one for each rank, server, step, pass or channel",
       "A ring of n cuts a bucket into n shares", explained + " --exchange ring"},
      {"shard",
       "what one server holds: its part of the model, and so of every bucket; with `fsdp`, what "
       "one worker holds",
       "With `server-placement = tensors` it is whole tensors", explained + " --schedule asp"},
      {"unit",
       "layers whose parameters `fsdp` gathers, and whose gradients it scatters, together: it has "
       "units for buckets",
       "By default each numbered block of layers is one", explained + " --schedule fsdp"},
      {"partition",
       "what goes through a pipeline at a time: of a push to servers at most `partition-bytes`, as "
       "in BytePS; of a tree at most `chunk-bytes` (NCCL says chunk)",
       "While one is added the next one moves",
       explained + " --exchange tree --chunk-bytes 500000"},
      {"piece",
       "one or more partitions that are sent as one message. With `fidelity = step` it is one "
       "partition; `flow` fuses several",
       "Fewer pieces are simulated sooner", explained + " --schedule asp --fidelity step"},
      {"range",
       "of a learned vector: the values that stand for a bucket, from a first one up to, not "
       "including, a last one",
       "It is as large a part of that vector as the bucket is of the model",
       explained + " --learn digits"},
      {"slice", "of a picture: a stretch of time on a track", "It is a row of the trace",
       small_run + " --trace=trace.json"},
  };
  return words;
}

}  // namespace syncline
