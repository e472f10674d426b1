// `syncline help WORD`, from the registries.
#include "sim/commands/help.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/cost_table.h"
#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/frameworks.h"
#include "sim/catalogue/network.h"
#include "sim/commands/commands.h"
#include "sim/options/options.h"
#include "sim/options/user_input.h"
#include "sim/plan.h"
#include "sim/platform/platform_families.h"
#include "sim/problem.h"
#include "sim/report/figures.h"
#include "sim/report/glossary.h"
#include "sim/schedule.h"
#include "sim/setup/model.h"

namespace syncline {
namespace {

using Meanings = std::map<std::string, std::vector<Meaning>>;

// Other words for known ones.
const std::map<std::string, std::string> same_words{{"analytic", "fidelity"},
                                                    {"checkpointing", "recompute"},
                                                    {"demo", "dct-topk"},
                                                    {"dgs", "asp"},
                                                    {"doublesqueeze", "alltoall"},
                                                    {"dual-way", "asp"},
                                                    {"devices", "device"},
                                                    {"flow", "fidelity"},
                                                    {"gpu", "worker"},
                                                    {"hsdp", "shard"},
                                                    {"hybrid", "shard"},
                                                    {"messages", "message"},
                                                    {"nccl", "exchange"},
                                                    {"site", "sites"},
                                                    {"sparseloco", "chunk-topk"},
                                                    {"step", "fidelity"}};

// "one per node" -> "One per node."
std::string as_sentence(std::string text) {
  if (!text.empty())
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.empty() || text.back() == '.' ? text : text + ".";
}

const std::string measured_model = "resnet50";  // 253 samples/s in models/throughput.csv
const std::string with_topk = " --compressor topk --device v100-modelled";

// A whole command: adds a platform, a model and a measured device's throughput unless `given` has
// them.
std::string example_of(const std::string& given) {
  std::string command = "syncline explain";
  const auto has = [&](const std::string& option) {
    return (" " + given).find(" " + option + " ") != std::string::npos;
  };
  if (!has("--platform"))
    command += " --platform pcie-8x4-10gbe";
  if (!has("--model"))
    command += " --model " + measured_model;
  if (!has("--throughput") && !has("--efficiency"))
    command += " --throughput 253";
  return command + " " + given;
}

std::string choosing(const Schedule& schedule) {
  return "--schedule " + schedule.name + (schedule.sparsifiers_only ? with_topk : "");
}

std::string choosing(const Exchange& exchange) {
  return "--exchange " + exchange.name +
         (exchange.carries == Exchange::Carries::sparse ? with_topk : "");
}

std::string choosing(const Compressor& compressor) {
  return "--compressor " + compressor.name + " --device v100-modelled";
}

std::string choosing(const Problem& problem) {
  return "--learn " + problem.name;
}

template <class T>
void add_registered(Meanings& all, const std::string& article) {
  for (const auto& [name, entry] : Registered<T>::all()) {
    all[name].push_back({article + " " + T::kind,
                         {as_sentence(entry.sentence), as_sentence(entry.help.more)},
                         example_of(choosing(entry)),
                         entry.help.paper});
    for (const OwnOption& parameter : entry.options) {
      std::vector<Meaning>& meanings = all[parameter.name];
      const std::string sentence = as_sentence(parameter.sentence);
      const auto same = std::ranges::find_if(meanings, [&](const Meaning& meaning) {
        return meaning.sentences.front() == sentence && meaning.kind.starts_with("an option of");
      });
      if (same != meanings.end())
        same->kind += ", " + name;
      else
        meanings.push_back(
            {"an option of " + std::string(T::kind) + " " + name,
             {sentence,
              "Allowed are " + allowed_values(parameter) +
                  (parameter.fallback.empty() ? "; it has to be given."
                                              : "; without it " + parameter.fallback + " counts.")},
             example_of(choosing(entry) + " --" + parameter.name + " " +
                        (parameter.fallback.empty() ? "1" : parameter.fallback))});
    }
  }
}

void add_options(Meanings& all) {
  const std::map<std::string, OwnOption> own = own_options();
  for (const Option& option : scenario_options()) {
    if (own.contains(option.name) && option.more.empty())
      continue;  // registered things explain their own options
    std::vector<std::string> sentences{as_sentence(option.sentence), as_sentence(option.more)};
    if (!option.allowed.empty())
      sentences.push_back(
          "Allowed are " + option.allowed +
          (option.fallback.empty() ? "." : "; without it " + option.fallback + " counts."));
    all[option.name].push_back(
        {"an option", std::move(sentences), example_of("--" + option.name + " " + option.example)});
  }
}

void add_commands(Meanings& all) {
  for (const Command& command : commands()) {
    all[command.name].push_back({"a command",
                                 {as_sentence(command.sentence), as_sentence(command.more)},
                                 "syncline " + command.name + " " + command.example});
    for (const CommandFlag& flag : command.flags)
      all[flag.name].push_back(
          {"an option of the command " + command.name,
           {as_sentence(flag.sentence), as_sentence(flag.more)},
           "syncline " + command.name + " " + command.example + " " + flag.example});
  }
}

void add_figures(Meanings& all) {
  const auto add = [&](const Figure& figure, const std::string& word, const std::string& kind) {
    all[word].push_back(
        {kind,
         {as_sentence(figure.sentence), as_sentence(figure.more)},
         std::string("syncline run --platform two-hosts --model resnet20 --throughput 920") +
             (figure.has(Figure::if_learned) ? " --learn digits --until accuracy:0.8" : "")});
  };
  for (const Figure& figure : figure_rows()) {
    add(figure, figure.name, "a figure of results");
    for (const std::string& title : figure.traits.titles)
      add(figure, title, "in tables and reports (" + figure.name + " in JSON)");
  }
}

void add_models(Meanings& all) {
  for (const std::string& name : names_in("models", ".csv")) {
    const std::string path = data_root() + "/models/" + name + ".csv";
    const Model model = read_model(path);
    const Csv csv = read_csv(path);
    const std::string* source = csv.about("source");
    all[name].push_back(
        {"a model",
         {fmt::format(
              "It has {:.2f} million parameters in {} tensors and {:.2f} GFLOP forward per {}.",
              static_cast<double>(model.parameters()) / 1e6, model.layers.size(),
              model.forward_flop() / 1e9, model.sample),
          as_sentence("Source: " + (source == nullptr ? "its file" : *source))},
         example_of("--model " + name +
                    (model.attention_flop() > 0
                         ? " --platform dgx --precision bf16 --efficiency 0.4 --batch 1"
                     : name == measured_model ? ""
                                              : " --efficiency 0.4"))});
  }
}

void add_platforms(Meanings& all) {
  for (const std::string& name : names_in("platforms", ".xml"))
    all[name].push_back(
        {"a platform",
         {as_sentence(platform_sentence(name)),
          "The comment at the top of platforms/" + name + ".xml says where each rate comes from."},
         example_of("--platform " + name)});
}

void add_platform_words(Meanings& all) {
  for (const PlatformFamily& family : platform_families())
    all[family.name].push_back(
        {"a family of platforms in words",
         {as_sentence(family.sentence), "Words behind it say what differs, such as " + family.name +
                                            ":nodes=20; `syncline platform " + family.name +
                                            "` prints it with the source of each number."},
         example_of("--platform " + family.name)});
  for (const PlatformWord& word : platform_word_rows()) {
    std::vector<std::string> defaults;
    for (const PlatformFamily& family : platform_families())
      if (const auto value = family.values.find(word.name); value != family.values.end())
        defaults.push_back(family.name + " " + value->second.text);
    all[word.name].push_back(
        {"a word of platforms",
         {as_sentence(word.sentence),
          defaults.empty() ? "Families say nothing of it."
                           : fmt::format("Families say: {}.", fmt::join(defaults, ", "))},
         example_of(fmt::format("--platform dgx:{}{}{}={}", word.needs,
                                word.needs.empty() ? "" : ":", word.name, word.example))});
  }
}

void add_devices(Meanings& all) {
  for (const std::string& name : names_in("kernels/profiles", ".csv")) {
    const CostTable table = read_cost_table(data_root() + "/kernels/profiles/" + name + ".csv");
    all[name].push_back(
        {"a cost table",
         {"Seconds of compressing on " + table.about("device") + ", " + table.about("provenance") +
              ".",
          "Given as device, it prices the messages that a compressor makes and reads."},
         example_of("--compressor topk --device " + name)});
  }
  for (const Device& device : known_devices())
    all[device.name].push_back(
        {"a device",
         {"Its peaks are " + described(device) + ".",
          "A host's property device names it, or the option device; with efficiency its peak "
          "counts, and what training keeps has to fit into its memory."},
         "syncline list devices"});
  std::map<std::string, std::vector<std::string>> measured;  // models, by device
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  for (const Csv::Row& row : csv.rows)
    measured[row.fields[csv.column("device")]].push_back(row.fields[csv.column("model")] + " " +
                                                         row.fields[csv.column("precision")]);
  for (const auto& [device, models] : measured)
    all[device].push_back(
        {"a device",
         {fmt::format("Its measured throughput is in models/throughput.csv for {}.",
                      fmt::join(models, ", ")),
          "A host's property device names it, or the option device."},
         "syncline list throughputs"});
}

void add_frameworks(Meanings& all) {
  const Csv csv = read_csv(data_root() + "/platforms/frameworks.csv");
  for (const Csv::Row& row : csv.rows) {
    const std::string& name = row.fields[csv.column("framework")];
    if (std::vector<Meaning>& meanings = all[name]; meanings.empty())
      meanings.push_back({"a framework",
                          {"Its defaults are those of " + framework_called(name).described() + ".",
                           "The option framework takes it, also with a version; what you give "
                           "counts first."},
                          example_of("--framework " + name)});
  }
}

void add_networks(Meanings& all) {
  for (const Network& network : networks())
    all[network.name].push_back(
        {"a network model",
         {as_sentence(network.sentence), as_sentence(network.more)},
         example_of("--network " + network.name + (network.by_size ? " --fidelity step" : "")),
         network.paper});
}

void add_glossary(Meanings& all) {
  for (const std::vector<GlossaryWord>* words : {&glossary(), &portions()})
    for (const GlossaryWord& word : *words)
      all[word.word].push_back({"a word",
                                {as_sentence(word.meaning), as_sentence(word.more)},
                                "syncline " + word.example});
}

std::string with_default(const std::string& sentence, const std::string& fallback) {
  return sentence + (fallback.empty() ? "" : " [" + fallback + "]");
}

// The meaning of an option, and its default. If several things have a parameter of this name with
// different meanings, a line for each meaning.
std::vector<std::string> option_lines(const Option& option) {
  std::map<std::string, std::vector<std::string>> owners;  // by meaning
  const auto add = [&](const auto& entries) {
    for (const auto& [name, entry] : entries)
      for (const OwnOption& parameter : entry.options)
        if (parameter.name == option.name)
          owners[with_default(parameter.sentence, parameter.fallback)].push_back(name);
  };
  add(Registered<Schedule>::all());
  add(Registered<Exchange>::all());
  add(Registered<Compressor>::all());
  add(Registered<Problem>::all());
  if (owners.size() < 2)
    return {with_default(option.sentence, option.fallback)};
  std::vector<std::string> all;
  for (const auto& [meaning, names] : owners)
    all.push_back(fmt::format("{}: {}", fmt::join(names, ", "), meaning));
  return all;
}

}  // namespace

void print_help() {
  std::puts(
      "syncline: how well will my training job scale on a cluster I do not own yet?\n\n"
      "  syncline run --model resnet50 --platform pcie-8x4-10gbe --schedule bsp --workers 1,8,32\n"
      "  syncline run experiments/quickstart.cfg --jobs 2 --out results\n\n"
      "Commands");
  for (const Command& command : commands())
    std::printf("  %-10s %-21s %s\n", command.name.c_str(), command.arguments.c_str(),
                command.sentence.c_str());
  std::puts(
      "\nOptions, also as `key = value` lines of a FILE.cfg (a flag wins over the file). A value "
      "may\n"
      "be a list, a,b,c: the run is then a sweep over all combinations. \\, is a comma in a "
      "value.\n"
      "Lines below a [name] of FILE.cfg are of cells with this name, and win over those above "
      "all.");
  for (const Option& option : scenario_options()) {
    std::string flag = "--" + option.name;
    for (const std::string& meaning : option_lines(option)) {
      std::printf("  %-20s %s\n", flag.c_str(), meaning.c_str());
      flag.clear();
    }
  }
  for (const Command& command : commands())
    if (!command.flags.empty()) {
      std::printf("\nOptions of %s\n", command.name.c_str());
      for (const CommandFlag& flag : command.flags) {
        const std::string option = "--" + flag.name + " " + flag.value;
        std::printf("  %-20s %s\n", option.c_str(), flag.sentence.c_str());
      }
    }
  std::puts("\nsyncline help WORD says more of each of these words, and of others.");
}

const Meanings& meanings() {
  static const Meanings all = [] {
    Meanings words = meanings_of_network_kinds();
    add_glossary(words);
    add_commands(words);
    add_options(words);
    add_registered<Schedule>(words, "a");
    add_registered<Exchange>(words, "an");
    add_registered<Compressor>(words, "a");
    add_registered<Problem>(words, "a");
    add_networks(words);
    add_models(words);
    add_platforms(words);
    add_platform_words(words);
    add_devices(words);
    add_frameworks(words);
    add_figures(words);
    return words;
  }();
  return all;
}

int help_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_help();
    return 0;
  }
  if (arguments.size() > 1)
    throw std::invalid_argument("help takes one word, not " + brief(listed(arguments)));
  std::string word = arguments.front();
  word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
  auto found = meanings().find(word);
  if (const auto same = same_words.find(lower(word));
      found == meanings().end() && same != same_words.end())
    found = meanings().find(same->second);
  if (found == meanings().end())  // in capitals or not: diloco, Worker
    found = std::ranges::find_if(
        meanings(), [&](const auto& known) { return lower(known.first) == lower(word); });
  if (found == meanings().end()) {
    std::vector<std::string> words;
    for (const auto& [known, meaning] : meanings())
      words.push_back(known);
    throw std::invalid_argument("unknown word '" + brief(word) + "': nearest are " +
                                listed(nearest(word, words, 3)) +
                                " (see --help and `syncline list`)");
  }
  for (const Meaning& meaning : found->second) {
    std::printf("%s%s, %s\n", &meaning == &found->second.front() ? "" : "\n", found->first.c_str(),
                meaning.kind.c_str());
    for (const std::string& sentence : meaning.sentences)
      std::printf("  %s\n", sentence.c_str());
    if (!meaning.paper.empty())
      std::printf("  From: %s\n", meaning.paper.c_str());
    std::printf("  Example: %s\n", meaning.example.c_str());
  }
  return 0;
}

}  // namespace syncline
