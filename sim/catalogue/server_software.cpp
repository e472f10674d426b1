#include "sim/catalogue/server_software.h"

#include <cmath>
#include <vector>

#include "kernels/io/text.h"
#include "kernels/philox.h"
#include "kernels/registry.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

constexpr const char* option = "server-overhead";

// 1 + the squared coefficient of variation of E^(1/k), where E is exponential; its mean is gamma(1
// + 1/k).
double second_moment(double k) {
  return std::exp(std::lgamma(1 + 2 / k) - 2 * std::lgamma(1 + 1 / k));
}

// 0 stands for `none`.
const OwnOption overhead{.name = option, .minimum = 1e-12, .maximum = 1};

}  // namespace

double service_shape(double coefficient) {
  if (coefficient == 0)
    return 0;
  double low = 0.5;
  double high = 1e3;  // a larger k means less variation
  while (high - low > 1e-9 * high) {
    const double k = (low + high) / 2;
    (second_moment(k) > 1 + coefficient * coefficient ? low : high) = k;
  }
  return low;
}

double service_factor(double shape, std::uint64_t seed, int server, int worker, int iteration) {
  if (shape == 0)
    return 1;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(worker),
              static_cast<std::uint32_t>(server), 1},
             static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  const double exponential = -std::log((words[0] + 0.5) * 0x1p-32);
  return std::pow(exponential, 1 / shape) / std::tgamma(1 + 1 / shape);
}

ServerSoftware server_software(const std::string& text) {
  if (text == "none")
    return {};
  if (number_in<double>(text))
    return {.overhead_s = checked_number(overhead, text),
            .source = std::string("option ") + option};
  const Csv csv = read_csv(data_root() + "/platforms/server-software.csv");
  const std::size_t software = csv.column("software");
  const std::size_t overhead_s = csv.column("overhead_s");
  const std::size_t jitter = csv.column("jitter");
  const std::size_t source = csv.column("source");
  std::vector<std::string> measured;
  bool is_known = false;
  ServerSoftware found;
  csv.for_each_row([&](const Csv::Row& row) {
    const std::vector<std::string>& fields = row.fields;
    const bool is_this = fields[software] == text;
    is_known = is_known || is_this;
    if (fields[overhead_s].empty())
      return;
    measured.push_back(fields[software]);
    if (is_this)
      found = {.overhead_s = checked_number(overhead, fields[overhead_s]),
               .jitter = checked_number({.name = "jitter", .maximum = 2}, fields[jitter]),
               .source = text + ": " + fields[source]};
  });
  if (found.overhead_s == 0)
    refuse("{} = {}: {}; allowed are none, the seconds of one core, {}", option, brief(text),
           is_known ? "its time per tensor has not been measured" : "there is no such software",
           listed(measured));
  return found;
}

}  // namespace syncline
