// An all-reduce alone, as nccl-tests time one: what of the options describes it, and its setup.
#pragma once

#include <cstdint>
#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// Throws std::invalid_argument unless the option describes the cluster, its network or an exchange.
// `where`: its place, such as "--model".
void require_meaning_for_all_reduce(const std::string& option, const std::string& where);

// Rounded up to floats, of which simulated messages are.
std::uint64_t whole_values(std::uint64_t bytes);

// One iteration of one bucket, rounded up to floats, practically without computation. Throws
// std::runtime_error if there is one worker.
Setup prepare_all_reduce(const Scenario& scenario, const PlatformFile& platform,
                         std::uint64_t bytes);

// As nccl-tests define it for an all-reduce: 2 (n - 1) / n of the bytes over the time.
double bus_bandwidth_Bps(int workers, double bytes, double seconds);

// Why a log of so many GPUs is not of these workers; empty: it may be.
std::string other_ranks(const std::string& log, int gpus, int workers);

}  // namespace syncline
