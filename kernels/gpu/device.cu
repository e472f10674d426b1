// The CUDA runtime for tests and the calibrator.
#include "kernels/gpu/memory.cuh"

namespace syncline {

void check_cuda(int error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: ") + what + ": " +
                             cudaGetErrorString(static_cast<cudaError_t>(error)));
}

unsigned persistent_blocks() {
  return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount)) * 2;
}

namespace {

void encode(const DeviceCompressor& compressor, const Settings& settings, const Gradient& gradient,
            const Draw& draw, State& state, Message& message) {
  const std::size_t n = gradient.elements();
  check(compressor, settings, gradient.precision());
  refuse_large(n);
  message.clear();
  prepare(compressor, settings, n, draw, state);
  const Memory memory(compressor, settings, n, gradient.precision(), state.memory.size());
  put(memory, gradient, state);
  compressor.encode(settings, memory.input(n), draw, memory.output(), memory.workspace.as<void>(),
                    nullptr);
  check_cuda(cudaGetLastError(), compressor.name.c_str());
  check_cuda(cudaDeviceSynchronize(), compressor.name.c_str());
  const std::vector<MessagePart> parts = parts_of(compressor, settings, n, memory);
  message.resize(bytes_of(parts));
  fetch(parts, memory, message.data());
  float sent[3] = {};
  copy_bytes(sent, memory.sent.as<void>(), sizeof sent);
  copy_bytes(state.residual.data(), memory.residual.as<void>(), 4 * n);
  copy_bytes(state.memory.data(), memory.memory.as<void>(), state.memory.size());
  state.sent = {sent[0], sent[1]};
  if (sent[2] != 0)
    std::fill(state.residual.begin(), state.residual.end(), 0.0f);
}

void decode_add(const DeviceCompressor& compressor, const Settings& settings,
                const Messages& messages, Precision precision, const Draw& draw,
                std::span<float> sum) {
  check(compressor, settings, precision);
  const bool other = precision == Precision::fp16 && compressor.decode_add_halves;
  const auto& decode = other ? compressor.decode_add_halves : compressor.decode_add;
  DeviceMail mail;
  for (const MessageBytes message : messages)
    copy_bytes(mail.take(message.size()), message.data(), message.size());
  const DeviceBytes values(sum.data(), sum.size_bytes()),
      workspace(workspace_bytes(compressor, settings, sum.size()));
  for (const DeviceMessages& group : mail.groups())
    decode(settings, group, draw, values.as<float>(), sum.size(), workspace.as<void>(), nullptr);
  check_cuda(cudaGetLastError(), compressor.name.c_str());
  check_cuda(cudaDeviceSynchronize(), compressor.name.c_str());
  copy_bytes(sum.data(), values.as<void>(), sum.size_bytes());
}

std::string absence() {
  int devices = 0;
  cudaGetLastError();  // clear the error: the next call may have enough memory
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
