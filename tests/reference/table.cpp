// The long form of the laws called Reference: `syncline-reference [--seeds N] [--kinds A,B]
// [--exchanges A,B] [--csv FILE] [--shipped]` prints how far both fidelities are from the
// reference, by exchange and kind of platform.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/setup/csv.h"
#include "sim/setup/files.h"
#include "tests/reference/cells.h"
#include "tests/reference/platforms.h"

namespace {

using namespace syncline::reference;

struct Asked {
  int seeds = 4;
  std::set<std::string> kinds, exchanges, sizes;  // empty: all
  std::string csv;
  bool drawn = true;
  bool shipped = true;
  int jobs = 2;
};

std::set<std::string> parts_of(const std::string& list) {
  std::set<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');)
    parts.insert(part);
  return parts;
}

Asked asked(int argc, char** argv) {
  Asked result;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc)
        throw std::invalid_argument(flag + " needs a value");
      return argv[i];
    };
    if (flag == "--seeds")
      result.seeds = std::stoi(value());
    else if (flag == "--kinds")
      result.kinds = parts_of(value());
    else if (flag == "--exchanges")
      result.exchanges = parts_of(value());
    else if (flag == "--sizes")
      result.sizes = parts_of(value());
    else if (flag == "--csv")
      result.csv = value();
    else if (flag == "--jobs")
      result.jobs = std::stoi(value());
    else if (flag == "--only") {
      const std::string which = value();
      result.drawn = which == "drawn";
      result.shipped = which == "shipped";
    } else {
      throw std::invalid_argument("unknown flag " + flag);
    }
  }
  return result;
}

bool wanted(const std::set<std::string>& names, const std::string& name) {
  return names.empty() || names.contains(name);
}

// An exchange with where its servers are and what compresses, and its options.
struct Way {
  std::string what;
  Words options;
};

std::vector<Way> ways_of(int servers) {
  std::vector<Way> ways;
  for (const char* dense :
       {"ring", "hierarchical", "halving-doubling", "tree", "allgather", "alltoall"})
    ways.push_back({dense, {{"exchange", dense}}});
  ways.push_back({"ps on nodes", {{"exchange", "ps"}, {"servers", "0"}}});
  ways.push_back({"ps on machines", {{"exchange", "ps"}, {"servers", std::to_string(servers)}}});
  ways.push_back(
      {"ps, aggregate off", {{"exchange", "ps"}, {"servers", "0"}, {"aggregate", "off"}}});
  for (const char* sparse : {"allgather", "alltoall", "hierarchical", "gtopk", "hitopk", "oktopk"})
    ways.push_back({std::string(sparse) + " topk",
                    {{"exchange", sparse},
                     {"compressor", "topk"},
                     {"density", "0.25"},
                     {"bucket-bytes", "all"}}});
  return ways;
}

// Costs that are small beside what moves.
std::string cost_table() {
  std::string text =
      "# device: made up for the reference\n# provenance: modelled\n"
      "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const char* operation : {"encode", "decode"})
    for (const auto& [elements, seconds] : {std::pair("1", "1e-12"), {"4294967296", "4.3e-3"}})
      text += std::string("topk,,") + operation + "," + elements + "," + seconds + ",0,0,0,none\n";
  return file_of(text, ".csv");
}

void add_drawn(const Asked& asked, std::vector<Cell>& cells) {
  const std::string table = cost_table();
  struct Size {
    const char* name;
    std::string model;
    const char* throughput;
  };
  // Few seconds of computation, so that errors are those of the exchange; in the last as many as
  // communication hides well.
  const std::vector<Size> sizes = {
      {"1 KB", model_file({256}), "1e6"},
      {"1 MB", model_file({250'000}), "1e6"},
      {"100 MB", model_file({25'000'000}), "1e6"},
      {"100 MB in 6", model_file({400'000, 9'000'000, 100'000, 6'000'000, 7'500'000, 2'000'000}),
       "10"}};
  for (const std::string& kind : kinds_of_platforms()) {
    if (!wanted(asked.kinds, kind))
      continue;
    for (int seed = 0; seed < asked.seeds; ++seed) {
      const Drawn drawn = drawn_platform(kind, static_cast<std::uint64_t>(seed));
      const std::string platform = file_of(drawn.xml, ".xml");
      for (const Way& way : ways_of(drawn.servers))
        for (const Size& size : sizes) {
          const bool sparse = way.options.contains("compressor");
          const bool many = std::string(size.name) == "100 MB in 6";
          if (!wanted(asked.exchanges, way.what) || !wanted(asked.sizes, size.name) ||
              (many && sparse))
            continue;
          Words options = {{"platform", platform},
                           {"model", size.model},
                           {"batch", "1"},
                           {"throughput", size.throughput},
                           {"iterations", "2"},
                           {"warmup", "0"},
                           {"bucket-bytes", many ? "16000000" : "all"}};
          if (sparse)
            options["device"] = table;
          options.insert(way.options.begin(), way.options.end());
          cells.push_back({way.what, kind, drawn.name, size.name, options});
        }
    }
  }
}

// The fastest and the slowest models that have a speed on the platform's device, at default
// options.
void add_shipped(const Asked& asked, std::vector<Cell>& cells) {
  struct Shipped {
    const char* name;
    std::vector<const char*> models;
    const char* throughput;  // where there is no measured one
  };
  const std::vector<Shipped> platforms = {{"fat-tree-1024", {"vgg19", "resnet50"}, "1500"},
                                          {"gbe-32x1", {"resnet20", "inception-v4"}, ""},
                                          {"hetero-v100-a100", {"resnet50", "vgg16"}, "400"},
                                          {"k80-1x16", {"alexnet", "resnet152"}, ""},
                                          {"pcie-8x2-10gbe", {"resnet50", "vgg16"}, "250"},
                                          {"pcie-8x4-100gib", {"resnet50", "vgg16"}, "250"},
                                          {"pcie-8x4-10gbe", {"resnet50", "bert-large"}, ""},
                                          {"two-hosts", {"resnet50", "vgg16"}, "250"},
                                          {"v100-16x4-40gbe", {"resnet50", "vgg16"}, "400"},
                                          {"v100-16x8-25gbe", {"resnet50", "vgg16"}, "400"},
                                          {"v100-4x8-100gib", {"resnet50", "vgg16"}, "400"}};
  for (const Shipped& shipped : platforms) {
    if (!wanted(asked.kinds, "shipped"))
      continue;
    for (const char* model : shipped.models)
      for (const Way& way : ways_of(0)) {
        if (way.what == "ps on machines" || way.options.contains("compressor") ||
            !wanted(asked.exchanges, way.what))
          continue;
        Words options = {
            {"platform", syncline::data_root() + "/platforms/" + shipped.name + ".xml"},
            {"model", syncline::data_root() + "/models/" + model + ".csv"},
            {"iterations", "2"},
            {"warmup", "0"}};
        if (std::string(shipped.name) != "two-hosts" && std::string(shipped.name) != "k80-1x16")
          options["workers"] = "16";
        if (*shipped.throughput != '\0')
          options["throughput"] = shipped.throughput;
        options.insert(way.options.begin(), way.options.end());
        cells.push_back({way.what, "shipped", shipped.name, model, options});
      }
  }
}

struct Errors {
  std::vector<double> errors;
  double worst = 0;
  std::string worst_cell;

  void add(double error, const Cell& cell) {
    errors.push_back(std::abs(error));
    if (std::abs(error) > std::abs(worst) || worst_cell.empty()) {
      worst = error;
      worst_cell = cell.platform + ", " + cell.size;
    }
  }
  double median() {
    std::ranges::sort(errors);
    return errors.empty() ? 0 : errors[errors.size() / 2];
  }
};

void print(const std::vector<Cell>& cells, const std::vector<Outcome>& outcomes) {
  std::map<std::pair<std::string, std::string>, std::pair<Errors, Errors>> rows;
  int refused = 0;
  int failed = 0;
  int right_in_steps = 0;
  int right_in_flows = 0;
  int above_ten = 0;
  int compared = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    refused += outcome.refused ? 1 : 0;
    if (!outcome.error.empty()) {
      std::printf("failed: %s, %s, %s: %s\n", cells[i].what.c_str(), cells[i].platform.c_str(),
                  cells[i].size.c_str(), outcome.error.c_str());
      ++failed;
    }
    if (outcome.refused || !outcome.error.empty())
      continue;
    ++compared;
    auto& [step, flow] = rows[{cells[i].what, cells[i].kind}];
    step.add(outcome.step_error(), cells[i]);
    flow.add(outcome.flow_error(), cells[i]);
    right_in_steps += std::abs(outcome.step_error()) <= 0.005 ? 1 : 0;
    right_in_flows += std::abs(outcome.flow_error()) <= 0.03 ? 1 : 0;
    above_ten += std::abs(outcome.flow_error()) > 0.1 ? 1 : 0;
  }
  std::printf("%-18s %-16s %5s  %9s %9s  %9s %9s  worst in steps; in flows\n", "exchange",
              "platform", "cells", "step med", "worst", "flow med", "worst");
  for (auto& [key, errors] : rows) {
    auto& [step, flow] = errors;
    std::printf("%-18s %-16s %5zu  %8.2f%% %8.2f%%  %8.2f%% %8.2f%%  %s; %s\n", key.first.c_str(),
                key.second.c_str(), step.errors.size(), 100 * step.median(), 100 * step.worst,
                100 * flow.median(), 100 * flow.worst, step.worst_cell.c_str(),
                flow.worst_cell.c_str());
  }
  std::printf(
      "%d cells compared, %d refused (nodes of several sizes), %d failed; step within 0.5 %%: "
      "%d; flow within 3 %%: %d, beyond 10 %%: %d\n",
      compared, refused, failed, right_in_steps, right_in_flows, above_ten);
}

void write_csv(const std::string& path, const std::vector<Cell>& cells,
               const std::vector<Outcome>& outcomes) {
  std::ofstream csv(path);
  csv.precision(9);
  csv << "exchange,kind,platform,size,reference_s,step_s,flow_s,step_error,flow_error,remark\n";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const Outcome& outcome = outcomes[i];
    csv << '"' << cell.what << "\"," << cell.kind << ',' << cell.platform << ',' << cell.size
        << ',';
    if (outcome.refused || !outcome.error.empty())
      csv << ",,,,," << (outcome.refused ? "refused" : "failed") << '\n';
    else
      csv << outcome.reference_s << ',' << outcome.step_s << ',' << outcome.flow_s << ','
          << outcome.step_error() << ',' << outcome.flow_error() << ",\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Asked what = asked(argc, argv);
    std::vector<Cell> cells;
    if (what.drawn)
      add_drawn(what, cells);
    if (what.shipped)
      add_shipped(what, cells);
    const std::vector<Outcome> outcomes = outcomes_of(cells, what.jobs);
    print(cells, outcomes);
    if (!what.csv.empty())
      write_csv(what.csv, cells, outcomes);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
