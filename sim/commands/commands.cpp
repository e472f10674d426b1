// The commands and their own options, for main and for help. The options of scenarios are in
// sim/options/.
#include "sim/commands/commands.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "sim/options/options.h"
#include "sim/study/ordered_lists.h"
#include "sim/sweep/slurm.h"

namespace syncline {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {.name = "check",
       .arguments = "DIR",
       .sentence = "whether figures are as expected: a gate for CI",
       .more = "It simulates the scenarios in DIR again and says what moved, and by which part",
       .example = "gate",
       .flags =
           {{"against", "REF|FOLDER",
             "also say what moved since a commit, or against a folder's expected.csv or results",
             "It has one line for each cause, and what --bless has replaced since then",
             "--against origin/main"},
            {"github", "", "also print ::error lines, which GitHub shows in a pull request",
             "One for each cause, at the file that changed; validate takes it too", "--github"},
            {"junit", "FILE", "also write JUnit XML; validate takes it too",
             "GitHub, GitLab and Jenkins read it", "--junit report.xml"},
            {"md", "FILE", "also write Markdown for a pull request; validate takes it too",
             "It has what moved, and why", "--md summary.md"},
            {"history", "FILE", "also append commit, cell, figure and value to this CSV file",
             "The command report draws it; a second run at a commit replaces its rows",
             "--history history.csv"},
            {"bless", "", "expect the present figures from now on; needs --because",
             "It rewrites expected.csv and keeps the reason",
             "--bless --because 'a new network model'"},
            {"because", "TEXT", "why figures that moved are right, for --bless",
             "The reason is kept in expected.csv", "--bless --because 'a new network model'"}},
       .also = {"json", "jobs", "limit-memory", "limit-seconds"},
       .run = check_command},
      {.name = "collective",
       .arguments = "[options]",
       .sentence = "time and bus bandwidth of an all-reduce by size",
       .more =
           "A table as all_reduce_perf of nccl-tests prints it, with a block for each exchange, "
           "by closed form or, with fidelity = step or flow, simulated",
       .example = "--platform dgx:nodes=2 --exchange ring,tree",
       .flags = {{"sizes", "LIST", "bytes, such as 8,1M,16M; 8,...,1G is every doubling [8,...,1G]",
                  "K, M and G are 1024 and its powers, as in nccl-tests; kB, MiB and the like are "
                  "allowed too",
                  "--sizes 1M,...,1G"},
                 {"measured", "LOG", "also compare with this output of all_reduce_perf",
                  "Its in-place times are compared, row by row; what mpirun or srun put before "
                  "each line is skipped",
                  "--measured all_reduce_perf.log"},
                 {"svg", "FILE", "also draw bus bandwidth by size", "Measured ones are dots",
                  "--svg busbw.svg"},
                 {"csv", "FILE", "also write a row for each size and exchange",
                  "Times are in seconds, bandwidths in bytes/s", "--csv busbw.csv"}},
       .also = {"json", "jobs", "limit-memory", "limit-seconds"},
       .run = collective_command},
      {.name = "explain",
       .arguments = "[FILE.cfg] [options]",
       .sentence = "what would be simulated, and bounds",
       .more = "Prints the cluster, the buckets, lower bounds in seconds, for a compressor the "
               "break-even bandwidths, and what simulating takes",
       .example = "experiments/quickstart.cfg --workers 32 --schedule bsp --exchange ring",
       .flags =
           {{"measured", "X",
             "what was measured: samples/s of all workers, seconds of an iteration as 153ms, or a "
             "log of all_reduce_perf; prints what would explain the difference",
             "Each cause by itself, by arithmetic, the likeliest first, and what to look at; "
             "--html "
             "also makes a page of it",
             "--measured 1309"}},
       .also = {"json", "html"},
       .run = explain_command},
      {.name = "help",
       .arguments = "[WORD]",
       .sentence = "what an option, a schedule, a figure, ... is",
       .more = "Each answer ends with an example that works",
       .example = "ssp",
       .run = help_command},
      {.name = "list",
       .arguments = "[KIND]",
       .sentence = "what there is to choose from",
       .more = "Kinds are schedules, exchanges, compressors, problems, models, platforms, "
               "networks, throughputs, devices and cost-tables",
       .example = "schedules",
       .also = {"json"},
       .run = list_command},
      {.name = "platform",
       .arguments = "WORDS",
       .sentence = "print a platform in words as XML to edit",
       .more = "The file gives the same figures as its words do, which --platform takes too",
       .example = "dgx:nodes=20:cards=8x200Gbps",
       .flags = {{"out", "FILE", "write it into this file instead",
                  "A file that is there is not replaced: it may be edited", "--out ours.xml"}},
       .run = platform_command},
      {.name = "report",
       .arguments = "DIR|FILE.csv",
       .sentence = "what --out has, as a page, figures, a summary",
       .more =
           "It reads the results of one sweep or of several in one folder, or the file of check "
           "--history, and simulates nothing",
       .example = "results",
       .flags = {{"html", "FILE", "the page, with charts, for any browser, offline",
                  "Each chart has its table, and everything is in the one file",
                  "--html page.html"},
                 {"svg", "DIR", "the figures, for a paper", "Each is a file of vector graphics",
                  "--svg figures"},
                 {"md", "FILE", "the ranking and a table, for a pull request",
                  "It is Markdown, as GitHub shows it; run takes it too", "--md summary.md"},
                 {"csv", "FILE", "the figures of all cells as one table",
                  "It has the columns of results.csv", "--csv figures.csv"}},
       .also = {"json"},
       .run = report_command},
      {.name = "run",
       .arguments = "[FILE.cfg] [options]",
       .sentence = "simulate; lists in values make a sweep",
       .more = "One scenario prints a report, a sweep a table with a row for each cell",
       .example = "experiments/quickstart.cfg --workers 4 --schedule bsp --exchange ring",
       .flags = {{"out", "DIR", "also write a JSON file per cell and results.csv",
                  "A cell that learns also leaves its curve as CSV, and what it compressed; other "
                  "files there are left alone",
                  "--out results"},
                 {"trace", "",
                  "also write each cell's trace as CSV and JSON, into --out; =FILE.json: of a "
                  "single cell",
                  "The CSV has a row for each thing that a worker, a server or a node did; "
                  "ui.perfetto.dev opens the JSON",
                  "--out results --trace", true},
                 {"goal", "FILE", "one iteration of a single cell as GOAL (LogGOPSim)",
                  "Other simulators can be run on the same case", "--goal iteration.goal"},
                 {"chakra", "PATH",
                  "one iteration of a single cell as Chakra JSON, PATH.RANK.json for each worker",
                  "The files of averaged gradients can be read again as a model",
                  "--chakra iteration"},
                 {"resume", "", "keep the cells that --out has already",
                  "Results of another build or of other files are simulated again",
                  "--out results --resume"},
                 {"html", "FILE", "also write a page with charts, for any browser, offline",
                  "The commands validate and explain --measured take it, too", "--html page.html"},
                 {"slurm", "TASKS", "submit the cells that --out lacks as a job array of Slurm",
                  "The same command again submits what is missing, and at last prints the table",
                  "--out results --slurm 8"},
                 {"share", "I/N", "simulate only the I-th of N shares of the cells, into --out",
                  "It is what a task of Slurm's array does, for other schedulers",
                  "--out results --resume --share 3/8"},
                 {"json", "", "one JSON document on stdout instead of tables, of every command",
                  "Numbers in it are numbers, for programs that read them", "--json"},
                 {"jobs", "N", "processes at a time [all cores]",
                  "Each cell of a sweep is a process of its own", "--jobs 2"},
                 {"limit-memory", "BYTES", "of all processes together [half of the machine's]",
                  "A cell that takes more, by an estimate, is refused before it is built",
                  "--limit-memory 4e9"},
                 {"limit-seconds", "S",
                  "of each cell [3600]; a cell that takes more, by an estimate, is refused",
                  "They are seconds of one core, not simulated ones; repeats = auto makes fewer "
                  "runs if five take more",
                  "--limit-seconds 600"},
                 {"limit-trace", "BYTES", "of each cell's --trace [1e9]",
                  "A longer trace, by an estimate, is refused before the cell is simulated",
                  "--out results --trace --limit-trace 5e9"}},
       .also = {"md"},
       .run = run_command},
      {.name = "validate",
       .arguments = "DIR...",
       .sentence = "compare with measurements",
       .more = "It simulates the rows of measured.csv in each folder and prints the error of each",
       .example = "experiments/validation/mstopk-25gbe",
       .flags =
           {{"max-error", "E", "exit with 1 if the worst row's error is above this fraction",
             "An error is simulated over measured throughput, less 1", "--max-error 0.2"},
            {"max-median", "E",
             "exit with 1 if the median error of a folder's rows, or of all, is above this",
             "The worst row shows what can happen, the median what is usual", "--max-median 0.1"},
            {"baseline", "FILE",
             "exit with 1 if a row or a median is further off than in this JSON of validate",
             "An earlier output of validate --json is such a file", "--baseline before.json"},
            {"worse-by", "X", "how much further off than in --baseline counts as before [0.01]",
             "It is a fraction, as errors are", "--baseline before.json --worse-by 0.02"},
            {"nominal", "", "simulate without fitted numbers: nominal.cfg replaces options of rows",
             "Folders without nominal.cfg are left out, and named", "--nominal"},
            {"typical", "",
             "likewise, with what reality = typical knows: typical.cfg replaces more",
             "Folders without typical.cfg are as with --nominal", "--typical"},
            {"min-tau", "T", "exit with 1 if the ranking agrees less than this",
             "It is Kendall's tau, 1 if simulation ranks as measurement does", "--min-tau 0.7"}},
       .also = {"github", "junit", "md", "json", "html", "jobs", "limit-memory", "limit-seconds"},
       .run = validate_command},
  };
  return all;
}

namespace {

// Refuses flags of other commands, such as --svg of `report`, without listing the names of all
// options.
void refuse_others_flags(const Command& own, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--"))
      continue;
    const std::string name = argument.substr(2, argument.find('=') - 2);
    std::vector<std::string> with_it;
    bool is_own = is_among(name, own.also);
    for (const Command& one : commands())
      if (std::ranges::find(one.flags, name, &CommandFlag::name) != one.flags.end()) {
        is_own = is_own || one.name == own.name;
        with_it.push_back(one.name);
      } else if (is_among(name, one.also)) {
        with_it.push_back(one.name);
      }
    if (!is_own && !with_it.empty() && find_option(name) == nullptr)
      throw std::invalid_argument(fmt::format("--{} is an option of {}, not of {}", name,
                                              fmt::join(with_it, ", "), own.name));
  }
}

}  // namespace

CommandLine command_line(const std::string& command, const std::vector<std::string>& arguments) {
  const Command& own = *std::ranges::find(commands(), command, &Command::name);
  std::vector<Flag> flags;
  for (const Command& one : commands())
    for (const CommandFlag& flag : one.flags)
      if (&one == &own || is_among(flag.name, own.also))
        found_or_added(flags, flag.name, &Flag::name) = {flag.name, !flag.value.empty(),
                                                         flag.value_is_optional};
  refuse_others_flags(own, arguments);
  CommandLine line = parse_command_line(arguments, flags);
  line.written = "syncline " + command;
  for (const std::string& argument : arguments)
    line.written.append(" ").append(in_shell(argument));
  return line;
}

}  // namespace syncline
