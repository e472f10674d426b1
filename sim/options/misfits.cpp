#include "sim/options/misfits.h"

#include <string>

namespace syncline {

void find_misfits_of_buckets(const Scenario& scenario, const GivenOptions& given,
                             std::vector<Conflict>& conflicts) {
  if (scenario.fusion.kind == Fusion::Kind::bytes)
    return;
  for (const char* key : {"bucket-closes", "first-bucket-bytes"})
    if (given.contains(key))
      conflicts.push_back({key, std::string(key) + " means nothing with bucket-bytes = " +
                                    scenario.written.at("bucket-bytes") +
                                    "; allowed with it is a number of bytes"});
}

void find_misfits_of_precision(const Scenario& scenario, std::vector<Conflict>& conflicts) {
  const std::string& wire = scenario.written.at("wire-precision");
  if (scenario.learns() &&
      (wire.empty() ? scenario.arithmetic == Arithmetic::bf16 : wire == "bf16"))
    conflicts.push_back({wire.empty() ? "precision" : "wire-precision",
                         "bf16 with learn: its gradients are sent in fp32 or fp16; allowed is "
                         "wire-precision = fp32 or fp16"});
}

}  // namespace syncline
