// A platform file that our check accepts, given to SimGrid: loaded and simulated in a child
// process, as the program does. If SimGrid crashes or complains, our check was wrong.
#include <csignal>
#include <regex>
#include <stdexcept>

#include "sim/engine/simulation.h"
#include "sim/options/resolve.h"
#include "sim/platform/platform_file.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"
#include "tests/fuzz/law.h"
#include "tests/unit/checked_platform.h"

namespace syncline {
namespace {

constexpr long long most_hosts_simulated = 64;  // so that each takes milliseconds

std::string simulated(const Scenario& scenario) {
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    std::signal(number, SIG_DFL);  // libFuzzer's handlers would report it
  simulate(prepare(scenario, read_platform(scenario)));
  return "";
}

void read(Bytes bytes) {
  static const Scenario scenario = resolve({{"platform", {"two-hosts", "--platform"}},
                                            {"model", {"resnet20", "--model"}},
                                            {"throughput", {"100", "--throughput"}},
                                            {"iterations", {"1", "--iterations"}},
                                            {"warmup", {"0", "--warmup"}}});
  Scenario of_bytes = scenario;
  of_bytes.platform = file_of(bytes, "platform.xml");
  long long hosts = 0;
  const bool accepted = reads(bytes, [&] { hosts = check_platform(of_bytes.platform).hosts; });
  if (!accepted || hosts > most_hosts_simulated)
    return;
  run_children({[&] { return simulated(of_bytes); }}, 1, [&](std::size_t, const Outcome& outcome) {
    const std::string error = outcome.ok ? "" : error_of(of_bytes, outcome);
    if (error.find("SimGrid refuses it") != std::string::npos)
      throw std::logic_error(error);
    if (!outcome.ok)
      require_our_words(bytes, error);
    // Most of our messages say what is allowed; these are the others.
    static const std::regex ours(
        "allowed (are|is|with)|no route between them|role = host|0 worker hosts|name .* is taken");
    if (!outcome.ok && !std::regex_search(error, ours))
      throw std::logic_error("not in our words: " + error);
    return true;
  });
}

const Registered<Reader> entry{{.name = "simgrid", .read = read}};

}  // namespace
}  // namespace syncline
