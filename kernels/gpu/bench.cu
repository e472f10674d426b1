// Times encodings, decodings and baselines on a device.
#include <chrono>

#include "kernels/gpu/memory.cuh"

namespace syncline {
namespace {

// Four times the size of the L2 cache.
std::size_t eviction_bytes() {
  return 4 * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize));
}

// `seen` is never 2, but the compiler cannot know that and has to keep the loads.
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

// Empties the L2 cache by reading: written data would be dirty, and the next kernel would pay for
// writing them back.
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

// Seconds of one run of `work` on the default stream, with a cold cache. A kernel keeps the device
// busy until all of it is enqueued, as in training: the host takes 2 to 5 us for each of up to 44
// launches.
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

// What a sampler keeps on the device, including the state that each run starts from, which would
// take long to copy there.
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
  DeviceMail mail = {};
};

// The gradient rotated so that it begins at element `begin`.
void put_begun_at(std::size_t begin, const DeviceBytes& gradient, const Bench& bench) {
  float* const to = bench.memory.gradient.as<float>();
  copy_bytes(to, gradient.as<float>() + begin, 4 * (bench.elements - begin));
  copy_bytes(to + (bench.elements - begin), gradient.as<float>(), 4 * begin);
}

}  // namespace

std::function<double()> sampler(const DeviceCompressor& compressor, const Settings& settings,
                                std::span<const float> gradient, const State& state,
                                std::size_t decoded_messages) {
  check(compressor, settings, Precision::fp32);
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
    for (const DeviceMessages& group : bench->mail.groups())
      compressor.decode_add(settings, group, draw, bench->sum.as<float>(), bench->elements,
                            bench->memory.workspace.as<void>(), nullptr);
  };
  const bool decode = decoded_messages > 0;
  encode_once();  // kernels are loaded at their first launch
  const DeviceBytes whole(gradient.data(), gradient.size_bytes());
  for (std::size_t m = 0; m < decoded_messages; ++m) {
    put_begun_at(m * gradient.size() / decoded_messages, whole, *bench);
    bench->reset();
    encode_once();
    const std::vector<MessagePart> parts =
        parts_of(compressor, settings, bench->elements, bench->memory);
    fetch(parts, bench->memory, bench->mail.take(bytes_of(parts)));
  }
  if (decode)
    decode_once();
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
  // The captured pointers keep the memory alive; `input` and `output` only point into it.
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
  constexpr long long cycles = 2000000;  // a millisecond, so that the launch does not matter
  const Eviction eviction;
  const auto spin = [&] { launch(spin_kernel, 1, 1, nullptr, cycles); };
  return static_cast<double>(cycles) / cold_seconds(eviction, spin) * 1e-6;
}

}  // namespace syncline
