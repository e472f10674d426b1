// The device memory that tests and the calibrator give to compressors, and the measurements there.
#pragma once

#include <memory>

#include "kernels/gpu/device.cuh"

namespace syncline {

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0)
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

class DeviceBytes {  // owns device memory
 public:
  explicit DeviceBytes(std::size_t bytes) {
    check_cuda(cudaMalloc(&data_, bytes > 0 ? bytes : 1), "cudaMalloc");
  }
  DeviceBytes(const void* from, std::size_t bytes) : DeviceBytes(bytes) {
    copy_bytes(data_, from, bytes);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

inline std::size_t workspace_bytes(const DeviceCompressor& compressor, const Settings& settings,
                                   std::size_t elements) {
  return compressor.workspace_bytes ? compressor.workspace_bytes(settings, elements) : 0;
}

// Bytes of a message whose size is known in advance.
inline std::size_t message_bytes(const DeviceCompressor& compressor, const Settings& settings,
                                 std::size_t elements, Precision precision) {
  return static_cast<std::size_t>(Registered<Compressor>::find(compressor.name)
                                      .wire_bytes(settings, elements, precision)
                                      .bytes);
}

inline std::size_t message_room(const DeviceCompressor& compressor, const Settings& settings,
                                std::size_t elements) {
  return compressor.message_room ? compressor.message_room(settings, elements)
                                 : message_bytes(compressor, settings, elements, Precision::fp32);
}

// The memory for encodings of one tensor.
struct Memory {
  Memory(const DeviceCompressor& compressor, const Settings& settings, std::size_t elements,
         Precision of_gradient, std::size_t memory_bytes)
      : precision(of_gradient),
        gradient(value_bytes(precision) * elements),
        residual(4 * elements),
        sent(12),
        message(message_room(compressor, settings, elements)),
        selected(8),
        memory(memory_bytes),
        workspace(workspace_bytes(compressor, settings, elements)) {}

  DeviceInput input(std::size_t elements) const {
    const bool halves = precision == Precision::fp16;
    return {.gradient = halves ? nullptr : gradient.as<float>(),
            .residual = residual.as<float>(),
            .sent = sent.as<float>(),
            .memory = memory.as<std::byte>(),
            .elements = elements,
            .halves = halves ? gradient.as<Half>() : nullptr};
  }
  DeviceOutput output() const { return {message.as<std::byte>(), selected.as<std::uint64_t>()}; }

  Precision precision;
  DeviceBytes gradient, residual, sent, message, selected, memory, workspace;
};

inline void put(const Memory& memory, const Gradient& gradient, const State& state) {
  const float sent[] = {state.sent.positive, state.sent.negative, 0};
  copy_bytes(memory.gradient.as<void>(), gradient.data(),
             value_bytes(memory.precision) * gradient.elements());
  copy_bytes(memory.residual.as<void>(), state.residual.data(), 4 * state.residual.size());
  copy_bytes(memory.sent.as<void>(), sent, sizeof sent);
  copy_bytes(memory.memory.as<void>(), state.memory.data(), state.memory.size());
}

inline void prepare(const DeviceCompressor& compressor, const Settings& settings,
                    std::size_t elements, const Draw& draw, State& state) {
  fit(state.residual, elements);
  if (compressor.prepare)
    compressor.prepare(settings, elements, draw, state);
}

inline void check(const DeviceCompressor& compressor, const Settings& settings,
                  Precision precision) {
  if (compressor.check)
    compressor.check(settings);
  if (precision == Precision::fp16 && !compressor.halves)
    throw std::invalid_argument(compressor.name +
                                " on a CUDA device: fp16 gradients: allowed is fp32");
}

inline void refuse_large(std::size_t elements) {
  if (elements >= 1ull << 31)  // the look-back's counts have 31 bits
    throw std::invalid_argument(std::to_string(elements) +
                                " elements on a CUDA device: at most 2147483647 are allowed");
}

// The pieces of the buffer that make the message.
inline std::vector<MessagePart> parts_of(const DeviceCompressor& compressor,
                                         const Settings& settings, std::size_t elements,
                                         const Memory& memory) {
  std::uint64_t selected = 0;
  copy_bytes(&selected, memory.selected.as<void>(), sizeof selected);
  if (compressor.parts)
    return compressor.parts(settings, elements, memory.precision, selected);
  return {{0, message_bytes(compressor, settings, elements, memory.precision)}};
}

inline std::size_t bytes_of(const std::vector<MessagePart>& parts) {
  std::size_t bytes = 0;
  for (const MessagePart& part : parts)
    bytes += part.bytes;
  return bytes;
}

// Copies them end to end, to the host or on the device.
inline void fetch(const std::vector<MessagePart>& parts, const Memory& memory, std::byte* to) {
  for (const MessagePart& part : parts) {
    copy_bytes(to, memory.message.as<std::byte>() + part.begin, part.bytes);
    to += part.bytes;
  }
}

// Messages in device memory, in groups that are decoded together.
class DeviceMail {
 public:
  // Allocates one more message.
  std::byte* take(std::size_t bytes) {
    rooms_.push_back(std::make_unique<DeviceBytes>(bytes));
    if (groups_.empty() || groups_.back().count == most_messages_at_once)
      groups_.emplace_back();
    DeviceMessages& group = groups_.back();
    group.bytes[group.count] = bytes;
    group.at[group.count++] = rooms_.back()->as<std::byte>();
    return rooms_.back()->as<std::byte>();
  }
  const std::vector<DeviceMessages>& groups() const { return groups_; }

 private:
  std::vector<std::unique_ptr<DeviceBytes>> rooms_;
  std::vector<DeviceMessages> groups_;
};

// Defined in bench.cu; see DeviceRuntime.
std::function<double()> sampler(const DeviceCompressor& compressor, const Settings& settings,
                                std::span<const float> gradient, const State& state,
                                std::size_t decoded_messages);
std::function<double()> baseline_sampler(const DeviceBaseline& baseline,
                                         std::span<const float> gradient, std::size_t k);
double copy_bandwidth();
void work_for(double seconds);
double clock_MHz();

}  // namespace syncline
