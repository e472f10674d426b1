// The CUDA runtime, as tests and the calibrator see it.
#include <chrono>
#include <memory>

#include "kernels/gpu/device.cuh"

namespace syncline {

void check_cuda(int error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: ") + what + ": " +
                             cudaGetErrorString(static_cast<cudaError_t>(error)));
}

namespace {

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

unsigned persistent_blocks() {
  return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount)) * 2;
}

namespace {

void copy_bytes(void* to, const void* from, std::size_t bytes) {
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

std::size_t workspace_bytes(const DeviceCompressor& compressor, const Settings& settings,
                            std::size_t elements) {
  return compressor.workspace_bytes ? compressor.workspace_bytes(settings, elements) : 0;
}

// Bytes of a message whose size is known beforehand.
std::size_t message_bytes(const DeviceCompressor& compressor, const Settings& settings,
                          std::size_t elements, Precision precision) {
  return static_cast<std::size_t>(Registered<Compressor>::find(compressor.name)
                                      .wire_bytes(settings, elements, precision)
                                      .bytes);
}

std::size_t message_room(const DeviceCompressor& compressor, const Settings& settings,
                         std::size_t elements) {
  return compressor.message_room ? compressor.message_room(settings, elements)
                                 : message_bytes(compressor, settings, elements, Precision::fp32);
}

// All the memory of one tensor's encodings.
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

void put(const Memory& memory, const Gradient& gradient, const State& state) {
  const float sent[] = {state.sent.positive, state.sent.negative, 0};
  copy_bytes(memory.gradient.as<void>(), gradient.data(),
             value_bytes(memory.precision) * gradient.elements());
  copy_bytes(memory.residual.as<void>(), state.residual.data(), 4 * state.residual.size());
  copy_bytes(memory.sent.as<void>(), sent, sizeof sent);
  copy_bytes(memory.memory.as<void>(), state.memory.data(), state.memory.size());
}

void prepare(const DeviceCompressor& compressor, const Settings& settings, std::size_t elements,
             const Draw& draw, State& state) {
  fit(state.residual, elements);
  if (compressor.prepare)
    compressor.prepare(settings, elements, draw, state);
}

void refuse_halves(const DeviceCompressor& compressor, Precision precision) {
  if (precision == Precision::fp16 && !compressor.halves)
    throw std::invalid_argument(compressor.name +
                                " on a CUDA device: fp16 gradients: allowed is fp32");
}

void refuse_large(std::size_t elements) {
  if (elements >= 1ull << 31)  // the look-back's counts have 31 bits
    throw std::invalid_argument(std::to_string(elements) +
                                " elements on a CUDA device: allowed are up to 2147483647");
}

Message fetched(const DeviceCompressor& compressor, const Settings& settings, std::size_t elements,
                const Memory& memory) {
  std::uint64_t selected = 0;
  copy_bytes(&selected, memory.selected.as<void>(), sizeof selected);
  const std::vector<MessagePart> parts =
      compressor.parts ? compressor.parts(settings, elements, memory.precision, selected)
                       : std::vector<MessagePart>{
                             {0, message_bytes(compressor, settings, elements, memory.precision)}};
  Message message;
  for (const MessagePart& part : parts) {
    const std::size_t begin = message.size();
    message.resize(begin + part.bytes);
    copy_bytes(message.data() + begin, memory.message.as<std::byte>() + part.begin, part.bytes);
  }
  return message;
}

void encode(const DeviceCompressor& compressor, const Settings& settings, const Gradient& gradient,
            const Draw& draw, State& state, Message& message) {
  const std::size_t n = gradient.elements();
  refuse_halves(compressor, gradient.precision());
  refuse_large(n);
  message.clear();
  prepare(compressor, settings, n, draw, state);
  const Memory memory(compressor, settings, n, gradient.precision(), state.memory.size());
  put(memory, gradient, state);
  compressor.encode(settings, memory.input(n), draw, memory.output(), memory.workspace.as<void>(),
                    nullptr);
  check_cuda(cudaGetLastError(), compressor.name.c_str());
  check_cuda(cudaDeviceSynchronize(), compressor.name.c_str());
  message = fetched(compressor, settings, n, memory);
  float sent[3] = {};
  copy_bytes(sent, memory.sent.as<void>(), sizeof sent);
  copy_bytes(state.residual.data(), memory.residual.as<void>(), 4 * n);
  copy_bytes(state.memory.data(), memory.memory.as<void>(), state.memory.size());
  state.sent = {sent[0], sent[1]};
  if (sent[2] != 0)
    std::fill(state.residual.begin(), state.residual.end(), 0.0f);
}

void decode_add(const DeviceCompressor& compressor, const Settings& settings,
                const Message& message, Precision precision, const Draw& draw,
                std::span<float> sum) {
  refuse_halves(compressor, precision);
  const bool other = precision == Precision::fp16 && compressor.decode_add_halves;
  const auto& decode = other ? compressor.decode_add_halves : compressor.decode_add;
  const DeviceBytes bytes(message.data(), message.size()), values(sum.data(), sum.size_bytes()),
      workspace(workspace_bytes(compressor, settings, sum.size()));
  decode(settings, bytes.as<std::byte>(), message.size(), draw, values.as<float>(), sum.size(),
         workspace.as<void>(), nullptr);
  check_cuda(cudaGetLastError(), compressor.name.c_str());
  check_cuda(cudaDeviceSynchronize(), compressor.name.c_str());
  copy_bytes(sum.data(), values.as<void>(), sum.size_bytes());
}

// Four times what the second-level cache holds.
std::size_t eviction_bytes() {
  return 4 * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize));
}

// Nothing is 2, and no compiler knows.
__global__ void __launch_bounds__(block_threads)
    read_kernel(const uint4* data, std::size_t count, unsigned* none) {
  unsigned seen = 0;
#pragma unroll 8
  for (std::size_t i = grid_thread(); i < count; i += grid_threads()) {
    const uint4 words = data[i];
    seen |= words.x | words.y | words.z | words.w;
  }
  if (seen == 2)
    *none = seen;
}

// Empties the second-level cache by reading: what is written is dirty, and charged to what comes
// next.
class Eviction {
 public:
  Eviction() : size_(eviction_bytes()), bytes_(size_) {
    check_cuda(cudaMemset(bytes_.as<void>(), 1, size_), "cudaMemset");
  }
  void run() const {
    launch(read_kernel, persistent_blocks(), block_threads, nullptr, bytes_.as<uint4>(),
           size_ / sizeof(uint4), bytes_.as<unsigned>());
  }

 private:
  std::size_t size_;
  DeviceBytes bytes_;
};

__global__ void spin_kernel(long long cycles) {
  const long long begun = clock64();
  while (clock64() - begun < cycles) {
  }
}

// Seconds of `work` on the default stream, once, with a cold cache. The device is busy until all of
// it is enqueued, as in training: the host takes 2 to 5 us for each of up to 44 launches.
double cold_seconds(const Eviction& eviction, const std::function<void()>& work) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  launch(spin_kernel, 1, 1, nullptr, 600000);
  eviction.run();
  cudaEventRecord(begin, nullptr);
  work();
  cudaEventRecord(end, nullptr);
  check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds * 1e-3;
}

// All that a sampler keeps on the device; the state it starts from too, which takes long to bring.
struct Bench {
  Bench(const DeviceCompressor& compressor, const Settings& settings,
        std::span<const float> gradient, const State& state)
      : elements(gradient.size()),
        memory_bytes(state.memory.size()),
        memory(compressor, settings, elements, Precision::fp32, memory_bytes),
        residual(state.residual.data(), 4 * elements),
        start_memory(state.memory.data(), memory_bytes),
        sum(4 * elements),
        sent{state.sent.positive, state.sent.negative, 0} {
    check_cuda(cudaMemset(sum.as<void>(), 0, 4 * elements), "cudaMemset");
    put(memory, gradient, state);
  }

  void reset() const {
    copy_bytes(memory.residual.as<void>(), residual.as<void>(), 4 * elements);
    copy_bytes(memory.memory.as<void>(), start_memory.as<void>(), memory_bytes);
    copy_bytes(memory.sent.as<void>(), sent, sizeof sent);
  }

  std::size_t elements, memory_bytes;
  Memory memory;
  DeviceBytes residual, start_memory, sum;
  Eviction eviction;
  float sent[3];
  std::unique_ptr<DeviceBytes> wire = {};
  std::size_t wire_bytes = 0;
};

std::function<double()> sampler(const DeviceCompressor& compressor, const Settings& settings,
                                std::span<const float> gradient, const State& state, bool decode) {
  refuse_large(gradient.size());
  const Draw draw{1, 20, 0};
  State start = state;
  prepare(compressor, settings, gradient.size(), draw, start);
  const auto bench = std::make_shared<Bench>(compressor, settings, gradient, start);
  const auto encode_once = [=] {
    compressor.encode(settings, bench->memory.input(bench->elements), draw, bench->memory.output(),
                      bench->memory.workspace.as<void>(), nullptr);
  };
  const auto decode_once = [=] {
    compressor.decode_add(settings, bench->wire->as<std::byte>(), bench->wire_bytes, draw,
                          bench->sum.as<float>(), bench->elements,
                          bench->memory.workspace.as<void>(), nullptr);
  };
  encode_once();
  const Message message = fetched(compressor, settings, bench->elements, bench->memory);
  bench->wire = std::make_unique<DeviceBytes>(message.data(), message.size());
  bench->wire_bytes = message.size();
  if (decode)
    decode_once();  // kernels are loaded at their first launch
  return [=] {
    bench->reset();
    const double seconds = decode ? cold_seconds(bench->eviction, decode_once)
                                  : cold_seconds(bench->eviction, encode_once);
    check_cuda(cudaGetLastError(), compressor.name.c_str());
    return seconds;
  };
}

std::function<double()> baseline_sampler(const DeviceBaseline& baseline,
                                         std::span<const float> gradient, std::size_t k) {
  const std::size_t bytes = gradient.size_bytes();
  const auto make = [](std::size_t size) { return std::make_shared<DeviceBytes>(size); };
  const auto values = make(bytes), residual = make(bytes), message = make(2 * bytes),
             selected = make(8), workspace = make(baseline.workspace_bytes(gradient.size()));
  const auto eviction = std::make_shared<Eviction>();
  copy_bytes(values->as<void>(), gradient.data(), bytes);
  const DeviceInput input{.gradient = values->as<float>(),
                          .residual = residual->as<float>(),
                          .elements = gradient.size()};
  const DeviceOutput output{message->as<std::byte>(), selected->as<std::uint64_t>()};
  // Copies of the pointers keep the memory; `input` and `output` only point there.
  const auto run = [=, kept = std::vector{values, residual, message, selected, workspace}] {
    check_cuda(cudaMemset(input.residual, 0, bytes), "cudaMemset");
    const double seconds = cold_seconds(
        *eviction, [&] { baseline.run(input, k, output, workspace->as<void>(), nullptr); });
    check_cuda(cudaGetLastError(), baseline.name.c_str());
    return seconds;
  };
  run();  // kernels are loaded at their first launch
  if (baseline.check)
    baseline.check(gradient, k, input, output);
  return run;
}

double copy_bandwidth() {
  const std::size_t bytes = 2 * eviction_bytes();
  const DeviceBytes from(bytes), to(bytes);
  const Eviction eviction;
  double best = 1e9;
  for (int sample = 0; sample < 10; ++sample)
    best = std::min(best, cold_seconds(eviction, [&] {
                      cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes,
                                      cudaMemcpyDeviceToDevice, nullptr);
                    }));
  return 2 * static_cast<double>(bytes) / best;
}

void work_for(double seconds) {
  const std::size_t bytes = eviction_bytes();
  const DeviceBytes from(bytes), to(bytes);
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() <
         seconds) {
    for (int copy = 0; copy < 8; ++copy)
      cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes, cudaMemcpyDeviceToDevice, nullptr);
    check_cuda(cudaDeviceSynchronize(), "warming up");
  }
}

double clock_MHz() {
  constexpr long long cycles = 2000000;  // a millisecond, beside which a launch is nothing
  const Eviction eviction;
  const auto spin = [&] { launch(spin_kernel, 1, 1, nullptr, cycles); };
  return static_cast<double>(cycles) / cold_seconds(eviction, spin) * 1e-6;
}

std::string absence() {
  int devices = 0;
  cudaGetLastError();  // what one call had too little memory for, the next one need not
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0)
    error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    return cudaGetErrorString(error);
  return devices > 0 ? "" : "no CUDA device";
}

std::vector<std::pair<std::string, std::string>> about() {
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"device", properties.name},
          {"driver", "CUDA " + std::to_string(driver)},
          {"toolkit", "CUDA " + std::to_string(runtime)}};
}

const Registered<DeviceRuntime> entry{{.name = "cuda",
                                       .absence = absence,
                                       .about = about,
                                       .copy_bandwidth = copy_bandwidth,
                                       .work_for = work_for,
                                       .clock_MHz = clock_MHz,
                                       .encode = encode,
                                       .decode_add = decode_add,
                                       .sampler = sampler,
                                       .baseline_sampler = baseline_sampler}};

}  // namespace
}  // namespace syncline
