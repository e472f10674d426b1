#include "sim/import/foreign_files.h"

#include <algorithm>
#include <vector>

#include "sim/import/imported_model.h"

namespace syncline {
namespace {

constexpr std::string_view blank_characters = " \t\r\n";

// The name of the first XML element; empty: there is none.
std::string_view root_of(std::string_view xml) {
  for (;;) {
    xml.remove_prefix(std::min(xml.find_first_not_of(blank_characters), xml.size()));
    const std::string_view end = xml.starts_with("<!--") ? "-->"
                                 : xml.starts_with("<?") ? "?>"
                                 : xml.starts_with("<!") ? ">"
                                                         : "";
    if (end.empty())
      break;
    const std::size_t at = xml.find(end);
    if (at == std::string_view::npos)
      return {};
    xml.remove_prefix(at + end.size());
  }
  if (!xml.starts_with("<"))
    return {};
  return xml.substr(1, xml.find_first_of(" \t\r\n/>", 1) - 1);
}

struct ForeignKind {
  std::string_view root;  // of XML; empty: all `marks` must be in the text
  std::vector<std::string_view> marks;
  std::string_view what;
  std::string_view of = "";  // the option that reads such files
};

const std::vector<ForeignKind> of_xml{
    {"system",
     {},
     "NCCL's description of one machine (NCCL_TOPO_DUMP_FILE): cards and NVLinks, and no network "
     "between machines; use a platform in words, such as dgx:nodes=2:gpus=8:cards=8x400Gbps"},
    {"graphs", {}, "NCCL's rings and trees (NCCL_GRAPH_DUMP_FILE), which have no link rates"},
    {"topology", {}, "hwloc's description of a machine (lstopo), which has no link rates"},
    {"nvidia_smi_log", {}, "nvidia-smi's description of one machine, which has no network"},
    {"platform", {}, "a platform of SimGrid", "platform"}};

const std::vector<ForeignKind> of_json{
    {"", {"\"COMM_COLL_NODE\""}, "a Chakra trace", "model"},
    {"", {"\"COMP_NODE\""}, "a Chakra trace", "model"},
    {"",
     {"\"traceEvents\""},
     "a Kineto trace (torch.profiler): join it with the execution trace of the same run by "
     "chakra_trace_link and convert that by chakra_converter; or let models/from_torch.py "
     "--measure "
     "write a trace"},
    {"", {"\"ph\"", "\"ts\""}, "a trace of events for a browser, without their dependencies"},
    {"",
     {"\"nodes\"", "\"inputs\"", "\"outputs\""},
     "a PyTorch execution trace (nodes with inputs and outputs), which has no times: join it with "
     "the Kineto trace of the same run by chakra_trace_link, and convert it by chakra_converter"},
    {"",
     {"\"scheduling-policy\""},
     "a system file of ASTRA-sim (how it schedules collectives): use the options exchange, "
     "bucket-bytes and channels"},
    {"",
     {"\"all-reduce-implementation\""},
     "a system file of ASTRA-sim (how it schedules collectives): use the options exchange, "
     "bucket-bytes and channels"},
    {"",
     {"\"logical-dims\""},
     "a logical topology of ASTRA-sim: use a platform in words or in XML, such as "
     "dgx:nodes=2:gpus=4:cards=4x400Gbps"},
    {"",
     {"\"memory-type\""},
     "a memory file of ASTRA-sim: use the options memory-bandwidth and host-memory-bandwidth"},
    {"",
     {"\"num_hidden_layers\""},
     "a configuration of Hugging Face's transformers: models/from_torch.py makes a model of the "
     "network that it describes"}};

const std::vector<ForeignKind> of_text{
    {"",
     {"npus_count"},
     "a network of ASTRA-sim (topology, npus_count, bandwidth, latency): use a platform in words, "
     "such as dgx:nodes=1:gpus=4:cards=1x400Gbps:nvlink=50GBps:inside-latency=500ns, or in XML"},
    {"",
     {"npus-count"},
     "a network of ASTRA-sim (topology, npus-count): use a platform in words, such as "
     "dgx:nodes=1:gpus=4:cards=1x400Gbps:nvlink=50GBps:inside-latency=500ns, or in XML"},
    {"", {"# nThread"}, "output of nccl-tests: platforms/from_nccl_tests.py makes a link from it"},
    {"",
     {"# nccl-tests version"},
     "output of nccl-tests: platforms/from_nccl_tests.py makes a link from it"},
    {"", {"GPU0", "CPU Affinity"}, "output of nvidia-smi topo -m, which has no link rates"},
    {"", {"layer,parameters,forward_flop"}, "a model", "model"}};

const ForeignKind* found_in(const std::vector<ForeignKind>& kinds, std::string_view text) {
  const auto kind = std::ranges::find_if(kinds, [&](const ForeignKind& one) {
    return std::ranges::all_of(one.marks, [&](std::string_view mark) {
      return text.find(mark) != std::string_view::npos;
    });
  });
  return kind == kinds.end() ? nullptr : &*kind;
}

const ForeignKind* foreign_kind_of(std::string_view text) {
  static const ForeignKind compressed{"", {}, "compressed by gzip: decompress it first"};
  static const ForeignKind zip{"",
                               {},
                               "a zip archive, such as torch.save writes: models/from_torch.py "
                               "makes a model of the module with these parameters"};
  static const ForeignKind trace{"", {}, "a Chakra trace", "model"};
  static const ForeignKind workload{"", {}, "a workload text of ASTRA-sim", "model"};
  constexpr std::size_t most_looked_at = 1'000'000;
  if (text.starts_with("\x1f\x8b"))
    return &compressed;
  if (text.starts_with("PK\x03\x04"))
    return &zip;
  if (is_recorded_chakra(text))
    return &trace;
  if (is_astra_workload(text))
    return &workload;
  text =
      text.substr(std::min(text.find_first_not_of(blank_characters), text.size()), most_looked_at);
  if (text.starts_with("<")) {
    const auto kind = std::ranges::find(of_xml, root_of(text), &ForeignKind::root);
    return kind == of_xml.end() ? nullptr : &*kind;
  }
  if (text.starts_with("{") || text.starts_with("["))
    return found_in(of_json, text);
  constexpr std::size_t most_of_text = 4'000;
  return found_in(of_text, text.substr(0, most_of_text));
}

}  // namespace

std::string foreign_file(std::string_view text, std::string_view wanted) {
  const ForeignKind* kind = foreign_kind_of(text);
  if (kind == nullptr || kind->of == wanted)
    return {};
  std::string words = "this is " + std::string(kind->what);
  if (!kind->of.empty())
    words += ": the option " + std::string(kind->of) + " reads it";
  return words;
}

}  // namespace syncline
