// What a GPU version of a compressor is, without CUDA in sight, so that tests and the calibrator
// can ask for it by name. <name>.cu registers it; in a build without CUDA the registry is empty.
//
// A chain is enqueued on one stream and never waits for the host: thresholds, counts and scales
// stay on the device, and the host reads the message's length once, at the end.
#pragma once

#include <string>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

struct DeviceInput {  // device pointers
  const float* gradient = nullptr;
  float* residual = nullptr;
  float* sent =
      nullptr;  // sign methods: what a set and a cleared bit took off, and 1 to forget all
  std::size_t elements = 0;
};

struct DeviceOutput {            // device pointers
  std::byte* message = nullptr;  // room for message_room bytes
  // Sparse messages: indices from the start, values from room / 2, and how many there are.
  std::uint64_t* selected = nullptr;
};

struct DeviceCompressor {
  static constexpr const char* kind = "compressor with a CUDA version";
  std::string name = {};
  bool sparse = false;
  std::function<std::size_t(const Settings&, std::size_t elements)> message_room = {};
  std::function<std::size_t(const Settings&, std::size_t elements)> workspace_bytes = {};
  // Enqueues everything on the stream (a cudaStream_t). Bits of message and residual are the CPU's.
  std::function<void(const Settings&, const DeviceInput&, const Draw&, const DeviceOutput&,
                     void* workspace, void* stream)>
      encode = {};
  // Adds a message, `bytes` long in the wire format and known to be good, into sum.
  std::function<void(const Settings&, const std::byte* message, std::size_t bytes, float* sum,
                     std::size_t elements, void* stream)>
      decode_add = {};
};

// The CUDA runtime, as far as tests and the calibrator need it. Registered as "cuda" by device.cu.
struct DeviceRuntime {
  static constexpr const char* kind = "device runtime";
  std::string name = {};
  std::function<std::string()> absence = {};  // empty: a device is there; else why none can be used
  std::function<std::vector<std::pair<std::string, std::string>>()> about = {};  // header lines
  std::function<double()> copy_bandwidth = {};  // bytes read and written per second
  // One encoding, copied to the device and back: message in the wire format, residual in `state`.
  std::function<void(const DeviceCompressor&, const Settings&, std::span<const float> gradient,
                     const Draw&, State&, Message&)>
      encode = {};
  std::function<void(const DeviceCompressor&, const Settings&, const Message&,
                     std::span<float> sum)>
      decode_add = {};
  // Seconds of `samples` encodings (or decodings of the message) with a flushed cache before each.
  std::function<std::vector<double>(const DeviceCompressor&, const Settings&,
                                    std::span<const float> gradient, const State&, int samples,
                                    bool decode)>
      time = {};
};

}  // namespace syncline
