// Describes the GPU version of a compressor without CUDA types, so that tests and the calibrator
// can find it by name. <name>.cu registers it; in a build without CUDA the registry is empty.
//
// A chain of kernels is enqueued on one stream and never waits for the host: thresholds, counts and
// scales stay on the device, and the host reads the message's length once, at the end.
#pragma once

#include <string>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

// Device pointers in these structs are multiples of 16, as cudaMalloc returns them.
struct DeviceInput {
  const float* gradient = nullptr;
  float* residual = nullptr;
  float* sent = nullptr;        // State::sent: positive, negative, 1 if the residual is void
  std::byte* memory = nullptr;  // State::memory
  std::size_t elements = 0;
  const Half* halves = nullptr;  // the gradient if it is fp16; then `gradient` is null
};

struct DeviceOutput {
  std::byte* message = nullptr;  // room for message_room bytes
  // The number of elements sent, or of code bytes written, where only the device knows it.
  std::uint64_t* selected = nullptr;
};

// Messages that one kernel adds, one after the other; passed as a kernel parameter.
struct DeviceMessages {
  const std::byte* at[most_messages_at_once] = {};
  std::size_t bytes[most_messages_at_once] = {};  // in the wire format
  unsigned count = 0;
};

struct MessagePart {
  std::size_t begin = 0, bytes = 0;
};

struct DeviceCompressor {
  static constexpr const char* kind = "compressor with a CUDA version";
  std::string name = {};
  bool halves = false;  // also accepts fp16 gradients; others are never given any
  // Throws std::invalid_argument, with what is allowed, for settings that only the CPU versions
  // have. Empty: it has all.
  std::function<void(const Settings&)> check = {};
  // Bytes of the buffer that a message is written into. Empty: `wire_bytes`, which is then exact.
  std::function<std::size_t(const Settings&, std::size_t elements)> message_room = {};
  // The pieces of that buffer that make the message, in wire order. Empty: its first `wire_bytes`.
  std::function<std::vector<MessagePart>(const Settings&, std::size_t elements, Precision,
                                         std::uint64_t selected)>
      parts = {};
  // Bytes of extra device memory to work in. Empty: none.
  std::function<std::size_t(const Settings&, std::size_t elements)> workspace_bytes = {};
  // Initialises State::memory for the device. Empty: it has none.
  std::function<void(const Settings&, std::size_t elements, const Draw&, State&)> prepare = {};
  // Enqueues everything on the stream (a cudaStream_t). The bits of message and residual equal the
  // CPU's.
  std::function<void(const Settings&, const DeviceInput&, const Draw&, const DeviceOutput&,
                     void* workspace, void* stream)>
      encode = {};
  // Adds messages, which must be valid, into sum, with the bits of one after the other.
  std::function<void(const Settings&, const DeviceMessages&, const Draw&, float* sum,
                     std::size_t elements, void* workspace, void* stream)>
      decode_add = {};
  // Adds messages of fp16 gradients. Empty: they have the format of fp32.
  decltype(decode_add) decode_add_halves = {};
};

// Things measured beside the compressors, on the same data: what a user would run without this
// project (baseline-*: libraries), and single passes of this project (pass-*). Their bits are not
// tested. `k` is the number of elements to send. `run` gets all its memory in its workspace, so
// that no timing includes an allocation.
struct DeviceBaseline {
  static constexpr const char* kind = "CUDA baseline";
  std::string name = {};
  double bytes_per_element = 0;  // needed by the task, as for the compressor it rivals
  std::function<std::size_t(std::size_t elements)> workspace_bytes = {};
  std::function<void(const DeviceInput&, std::size_t k, const DeviceOutput&, void* workspace,
                     void* stream)>
      run = {};
  // Throws if the result of `run` for this gradient, with no residual before, is wrong. Empty: no
  // check.
  std::function<void(std::span<const float> gradient, std::size_t k, const DeviceInput&,
                     const DeviceOutput&)>
      check = {};
};

// The part of the CUDA runtime that tests and the calibrator need. device.cu registers it as
// "cuda".
struct DeviceRuntime {
  static constexpr const char* kind = "device runtime";
  std::string name = {};
  // Empty if a device is there and works; otherwise why none can be used, also after a failed
  // kernel.
  std::function<std::string()> absence = {};
  std::function<std::vector<std::pair<std::string, std::string>>()> about = {};  // header lines
  std::function<double()> copy_bandwidth = {};        // bytes read and written per second
  std::function<void(double seconds)> work_for = {};  // copies, to raise the clocks
  std::function<double()> clock_MHz = {};             // current clock of a multiprocessor
  // One encoding, copied to the device and back: message in wire format, residual in `state`.
  // Throws std::invalid_argument for fp16, or settings, that the compressor does not support.
  std::function<void(const DeviceCompressor&, const Settings&, const Gradient&, const Draw&, State&,
                     Message&)>
      encode = {};
  std::function<void(const DeviceCompressor&, const Settings&, const Messages&, Precision,
                     const Draw&, std::span<float> sum)>
      decode_add = {};
  // Returns a function that measures seconds per call, with a flushed cache: of one encoding from
  // this state, or of decoding `decoded_messages` messages at once. Each of these is of the
  // gradient rotated by another amount, so that each has other places.
  std::function<std::function<double()>(const DeviceCompressor&, const Settings&,
                                        std::span<const float> gradient, const State&,
                                        std::size_t decoded_messages)>
      sampler = {};
  std::function<std::function<double()>(const DeviceBaseline&, std::span<const float> gradient,
                                        std::size_t k)>
      baseline_sampler = {};
};

}  // namespace syncline
