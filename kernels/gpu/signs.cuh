// What efsign.cu and onebit.cu share.
#pragma once

#include "kernels/arithmetic/signs.h"
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/device.h"

namespace syncline {

void encode_signs_on_device(std::size_t scales, bool feedback, const DeviceInput& input,
                            const DeviceOutput& output, void* workspace, void* stream);
void decode_signs_on_device(std::size_t scales, const std::byte* message, float* sum,
                            std::size_t elements, void* stream);
std::size_t sign_room(std::size_t scales, std::size_t elements);
std::size_t sign_workspace(std::size_t elements);

}  // namespace syncline
