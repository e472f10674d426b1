// A GPU version of a compressor is described here without CUDA in sight, so that tests and the
// calibrator can ask for it by name. <name>.cu registers it; in a build without CUDA the registry
// is empty.
//
// A chain is enqueued on one stream and never waits for the host: thresholds, counts and scales
// stay on the device, and the host reads the message's length once, at the end.
#pragma once

#include <string>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

// Device pointers here are multiples of 16, as cudaMalloc's are.
struct DeviceInput {
  const float* gradient = nullptr;
  float* residual = nullptr;
  float* sent = nullptr;        // State::sent: positive, negative, and 1 to forget the residual
  std::byte* memory = nullptr;  // State::memory
  std::size_t elements = 0;
  const Half* halves = nullptr;  // the gradient where it is one of fp16; `gradient` is null then
};

struct DeviceOutput {
  std::byte* message = nullptr;  // room for message_room bytes
  // It counts the elements that were sent, or the bytes of codes that were written, where only the
  // device knows.
  std::uint64_t* selected = nullptr;
};

// Messages that one kernel adds, one after the other: a parameter of it.
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
  bool halves = false;  // also takes fp16 gradients; those that do not are never given any
  // Bytes that a message is written into. Empty: as many as `wire_bytes` says, which is exact then.
  std::function<std::size_t(const Settings&, std::size_t elements)> message_room = {};
  // These pieces of that room make the message, in their order on the wire. Empty: the first
  // `wire_bytes` do.
  std::function<std::vector<MessagePart>(const Settings&, std::size_t elements, Precision,
                                         std::uint64_t selected)>
      parts = {};
  // It works in so many bytes beside these. Empty: in none.
  std::function<std::size_t(const Settings&, std::size_t elements)> workspace_bytes = {};
  // Makes State::memory ready for the device. Empty: there is none.
  std::function<void(const Settings&, std::size_t elements, const Draw&, State&)> prepare = {};
  // Enqueues everything on the stream (a cudaStream_t). Bits of message and residual are the CPU's.
  std::function<void(const Settings&, const DeviceInput&, const Draw&, const DeviceOutput&,
                     void* workspace, void* stream)>
      encode = {};
  // Adds messages that are known to be good into sum, with the bits of one after the other.
  std::function<void(const Settings&, const DeviceMessages&, const Draw&, float* sum,
                     std::size_t elements, void* workspace, void* stream)>
      decode_add = {};
  // Adds messages of fp16 gradients. Empty: they look like those of fp32.
  decltype(decode_add) decode_add_halves = {};
};

// Some things are measured beside the compressors, on the same data: what a user would run without
// us (baseline-*: libraries; published-*: the published codes' chains of one kernel per operation),
// and single passes of ours (pass-*). They are only measured, so nothing holds them to bits. `k` is
// how many elements to send, or the rank. `run` has all the memory that it needs in its workspace:
// no timing has an allocation in it.
struct DeviceBaseline {
  static constexpr const char* kind = "CUDA baseline";
  std::string name = {};
  double bytes_per_element = 0;  // that the task needs, as for the compressor it is compared with
  std::function<std::size_t(std::size_t elements)> workspace_bytes = {};
  std::function<void(const DeviceInput&, std::size_t k, const DeviceOutput&, void* workspace,
                     void* stream)>
      run = {};
  // Throws where what `run` left of this gradient, without a residual before, is wrong. Empty: any
  // answer will do.
  std::function<void(std::span<const float> gradient, std::size_t k, const DeviceInput&,
                     const DeviceOutput&)>
      check = {};
};

// The CUDA runtime, as far as tests and the calibrator need it. Registered as "cuda" by device.cu.
struct DeviceRuntime {
  static constexpr const char* kind = "device runtime";
  std::string name = {};
  // Empty: a device is there and works; else why none can be used, also after a kernel has failed.
  std::function<std::string()> absence = {};
  std::function<std::vector<std::pair<std::string, std::string>>()> about = {};  // header lines
  std::function<double()> copy_bandwidth = {};        // bytes read and written per second
  std::function<void(double seconds)> work_for = {};  // copies, so that clocks rise
  std::function<double()> clock_MHz = {};             // of a multiprocessor, now
  // One encoding, copied to the device and back: message in the wire format, residual in `state`.
  // Throws std::invalid_argument on fp16 where the compressor does not take it.
  std::function<void(const DeviceCompressor&, const Settings&, const Gradient&, const Draw&, State&,
                     Message&)>
      encode = {};
  std::function<void(const DeviceCompressor&, const Settings&, const Messages&, Precision,
                     const Draw&, std::span<float> sum)>
      decode_add = {};
  // Each call: the seconds of one encoding from this state, with a flushed cache before it; or of
  // decoding so many messages at once, each of the gradient begun at another element, so that each
  // has places of its own.
  std::function<std::function<double()>(const DeviceCompressor&, const Settings&,
                                        std::span<const float> gradient, const State&,
                                        std::size_t decoded_messages)>
      sampler = {};
  std::function<std::function<double()>(const DeviceBaseline&, std::span<const float> gradient,
                                        std::size_t k)>
      baseline_sampler = {};
};

}  // namespace syncline
