#include "sim/engine/self_test.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/io/memory_file.h"
#include "sim/engine/run.h"
#include "sim/platform/platform.h"

namespace syncline {
namespace {

constexpr double latency_s = 0.1;  // of each link: long enough for a TCP window to show
constexpr double bandwidth_Bps = 1e8;
constexpr const char* platform =
    "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>"
    "<platform version='4.1'><zone id='self-test' routing='Full'>"
    "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><host id='far' speed='1Gf'/>"
    "<link id='ab' bandwidth='100MBps' latency='100ms'/>"
    "<link id='detour' bandwidth='1GBps' latency='100ms'/>"
    "<route src='a' dst='b'><link_ctn id='ab'/></route>"
    "<route src='a' dst='far'><link_ctn id='ab'/><link_ctn id='detour'/></route>"
    "</zone></platform>";

struct KnownTransfer {
  const char* what;
  double sent_s;
  int to;  // 1: b; 2: far, over two links
  std::uint64_t bytes;
  double carried_bytes;  // by the link that it shares, until its own bytes have passed
  double simulated_s = 0;

  double known_s() const { return to * latency_s + carried_bytes / bandwidth_Bps; }
};

// Hosts that send each other nothing but the transfers of this test.
Setup hosts_alone(const Network& network, const std::string& platform_path) {
  Setup setup;
  setup.scenario.platform = platform_path;
  setup.scenario.network = &network;
  setup.scenario.schedule = &Registered<Schedule>::find("bsp");
  Cluster& cluster = setup.traffic.cluster;
  cluster.topology.nodes = {{0}, {1}, {2}};
  cluster.topology.node_of = {0, 1, 2};
  cluster.rank_names = cluster.rank_hosts = {"a", "b", "far"};
  cluster.platform = load_platform(setup.scenario, {});
  cluster.workers = cluster.platform->hosts;
  return setup;
}

}  // namespace

std::string self_test(const Network& network) {
  const MemoryFile file(platform);
  const Setup setup = hosts_alone(network, file.path());

  std::vector<KnownTransfer> transfers{
      {"400 kB over 100 MB/s and 100 ms", 0, 1, 400'000, 4e5},
      {"400 kB beside 200 kB over 100 MB/s and 100 ms", 1, 1, 400'000, 6e5},
      {"200 kB beside 400 kB over 100 MB/s and 100 ms", 1, 1, 200'000, 4e5},
      {"400 kB over 100 MB/s and 100 ms beside as many over 200 ms", 2, 1, 400'000, 8e5},
      {"400 kB over 100 MB/s and 200 ms beside as many over 100 ms", 2, 2, 400'000, 8e5},
  };
  Run run(setup);
  run.active_actors = 1;
  run.start("sender", 0, [&] {
    for (KnownTransfer& transfer : transfers) {
      sg::this_actor::sleep_until(transfer.sent_s);
      run.wire.deliver({0, transfer.to, transfer.bytes}, [&transfer](const SentMessage& message) {
        transfer.simulated_s = sg::Engine::get_clock() - message.sent_s;
      });
    }
    run.actor_ended(0);
  });
  sg::Engine::get_instance()->run();
  if (!run.error.empty())
    throw std::runtime_error(run.error);
  for (const KnownTransfer& transfer : transfers)
    if (!(std::abs(transfer.simulated_s - transfer.known_s()) < 1e-9))
      return fmt::format(
          "this SimGrid ({}) answers {:.9g} s where {:.9g} s is right: {}; versions 3.32, 3.35 and "
          "4.1 are known to be right",
          simgrid_version(), transfer.simulated_s, transfer.known_s(), transfer.what);
  return "";
}

}  // namespace syncline
