#include "tests/reference/scenarios.h"

#include "sim/catalogue/files.h"

namespace syncline::reference {
namespace {

struct Choice {
  std::string what;
  Words options;
};

std::vector<Choice> choices(int servers) {
  std::vector<Choice> all;
  for (const char* dense :
       {"ring", "hierarchical", "halving-doubling", "tree", "allgather", "alltoall"})
    all.push_back({dense, {{"exchange", dense}}});
  const Words ps = {{"exchange", "ps"}, {"servers", "0"}};
  const auto changed = [&](const std::string& option, const std::string& value) {
    Words words = ps;
    words[option] = value;
    return words;
  };
  all.push_back({"ps on nodes", ps});
  all.push_back({"ps on machines", changed("servers", std::to_string(servers))});
  all.push_back({"ps, aggregate off", changed("aggregate", "off")});
  for (const char* sparse : {"allgather", "alltoall", "hierarchical", "hierarchical-compressed",
                             "gtopk", "hitopk", "oktopk"})
    all.push_back({std::string(sparse) + " topk",
                   {{"exchange", sparse}, {"compressor", "topk"}, {"density", "0.25"}}});
  Words local = ps;
  local["schedule"] = "local-sgd";
  local["local-steps"] = "2";
  all.push_back({"local-sgd, ps", local});
  local["exchange"] = "ring";
  local.erase("servers");
  all.push_back({"local-sgd, ring", local});
  const Words shards = {{"schedule", "fsdp"}, {"units", "100000"}};
  all.push_back({"fsdp", shards});
  Words whole = shards;
  whole.insert({{"zero", "2"}, {"shard", "node"}, {"accumulation", "2"}});
  all.push_back({"fsdp, zero 2, in nodes", whole});
  for (const auto& [what, where] : {std::pair("on nodes", 0), {"on machines", servers}}) {
    Words answered = {{"schedule", "asp"}, {"servers", std::to_string(where)}};
    all.push_back({std::string("asp ") + what, answered});
    answered["schedule"] = "ssp";
    answered["staleness"] = "1";
    all.push_back({std::string("ssp ") + what, answered});
    answered["cache"] = "off";
    all.push_back({std::string("ssp, no cache, ") + what, answered});
  }
  return all;
}

// Workers that do not wait for each other start at different times, and need some iterations to
// settle.
std::string iterations_of(const Choice& choice) {
  const bool averages = !choice.options.contains("schedule") ||
                        choice.options.at("schedule") == "local-sgd" ||
                        choice.options.at("schedule") == "fsdp";
  return averages ? "2" : "8";
}

// Costs that are small compared with transfers.
std::string cost_table() {
  std::string text =
      "# device: made up for the reference\n# provenance: modelled\n"
      "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const auto& [operation, last_s] :
       {std::pair("encode", "4.3e-3"), {"decode", "4.3e-3"}, {"decode-further", "1.1e-3"}})
    for (const auto& [elements, seconds] : {std::pair("1", "1e-12"), {"4294967296", last_s}})
      text += std::string("topk,,") + operation + "," + elements + "," + seconds + ",0,0,0,none\n";
  return file_of(text, ".csv");
}

struct Size {
  std::string name;
  std::string model;
  std::string throughput;
  std::string bucket_bytes = "all";
};

}  // namespace

std::vector<Cell> drawn_cells(const Drawn& drawn) {
  static const std::string table = cost_table();
  static const std::vector<Size> sizes = {
      {"1 KB", model_file({256}), "1e6"},
      {"1 MB", model_file({250'000}), "1e6"},
      {"100 MB", model_file({25'000'000}), "1e6"},
      {"100 MB in 6", model_file({400'000, 9'000'000, 100'000, 6'000'000, 7'500'000, 2'000'000}),
       "10", "16000000"}};
  const std::string platform = file_of(drawn.xml, ".xml");
  std::vector<Cell> cells;
  for (const Choice& choice : choices(drawn.servers))
    for (const Size& size : sizes) {
      const bool sparse = choice.options.contains("compressor");
      if (sparse && size.bucket_bytes != "all")
        continue;
      Words options = choice.options;
      options["iterations"] = iterations_of(choice);
      options.insert({{"platform", platform},
                      {"model", size.model},
                      {"batch", "1"},
                      {"throughput", size.throughput},
                      {"warmup", "0"}});
      if (!options.contains("units"))
        options.emplace("bucket-bytes", size.bucket_bytes);
      if (sparse)
        options["device"] = table;
      cells.push_back({choice.what, drawn.kind, drawn.name, size.name, options});
    }
  return cells;
}

// The fastest and slowest models that have a measured speed on the platform's device, or else a
// given one.
std::vector<Cell> shipped_cells() {
  struct Shipped {
    std::string name;
    std::vector<std::string> models;
    std::string throughput;  // if none was measured
    int workers = 16;
  };
  static const std::vector<Shipped> platforms = {{"fat-tree-1024", {"vgg19", "resnet50"}, "1500"},
                                                 {"gbe-32x1", {"resnet20", "inception-v4"}, ""},
                                                 {"hetero-v100-a100", {"resnet50", "vgg16"}, "400"},
                                                 {"k80-1x16", {"alexnet", "resnet152"}, ""},
                                                 {"pcie-8x2-10gbe", {"resnet50", "vgg16"}, "250"},
                                                 {"pcie-8x4-100gib", {"resnet50", "vgg16"}, "250"},
                                                 {"pcie-8x4-10gbe", {"resnet50", "bert-large"}, ""},
                                                 {"two-hosts", {"resnet50", "vgg16"}, "250", 2},
                                                 {"v100-16x4-40gbe", {"resnet50", "vgg16"}, "400"},
                                                 {"v100-16x8-25gbe", {"resnet50", "vgg16"}, "400"},
                                                 {"v100-4x8-100gib", {"resnet50", "vgg16"}, "400"}};
  std::vector<Cell> cells;
  for (const Shipped& shipped : platforms)
    for (const std::string& model : shipped.models)
      for (const Choice& choice : choices(0)) {
        if (choice.what.ends_with("on machines") || choice.options.contains("compressor"))
          continue;
        Words options = choice.options;
        options.insert({{"platform", data_root() + "/platforms/" + shipped.name + ".xml"},
                        {"model", data_root() + "/models/" + model + ".csv"},
                        {"workers", std::to_string(shipped.workers)},
                        {"warmup", "0"}});
        options["iterations"] = iterations_of(choice);
        if (!shipped.throughput.empty())
          options["throughput"] = shipped.throughput;
        cells.push_back({choice.what, "shipped", shipped.name, model, options});
      }
  return cells;
}

std::vector<Cell> long_rings() {
  constexpr int n = 64;
  std::vector<Cell> cells;
  for (const char* kind : {"alike cards", "unequal cards", "two sites", "four on a bus"}) {
    const std::string_view is = kind;
    const bool on_bus = is == "four on a bus";
    PlatformTree tree;
    const int between = tree.link(1e15, 0.02);
    int card = 0;
    for (int i = 0; i < n; ++i) {
      const double part = is == "unequal cards" ? 0.3 + 0.7 * (i * 37 % n) / n : 1;
      if (!on_bus || i % 4 == 0)
        card = tree.link(1.25e9 * part, 1e-5);
      std::vector<int> up = {card};
      if (on_bus)
        up.insert(up.begin(), tree.link(6e9, 2e-6));
      if (is == "two sites" && i >= n / 2)
        up.push_back(between);
      tree.host("worker", on_bus ? i / 4 : i, std::move(up));
    }
    const std::string platform = file_of(tree.xml(), ".xml");
    for (const auto& [size, parameters] : std::vector<std::pair<std::string, std::uint64_t>>{
             {"1 KB", 256}, {"1 MB", 250'000}, {"100 MB", 25'000'000}, {"1 GB", 250'000'000}})
      cells.push_back({"ring",
                       "64 workers",
                       kind,
                       size,
                       {{"exchange", "ring"},
                        {"platform", platform},
                        {"model", model_file({parameters})},
                        {"batch", "1"},
                        {"throughput", "1e6"},
                        {"bucket-bytes", "all"},
                        {"iterations", "2"},
                        {"warmup", "0"}}});
  }
  return cells;
}

}  // namespace syncline::reference
