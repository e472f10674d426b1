// Top-k of cosine transforms on a GPU. A block takes a chunk, keeps u = g + e in registers and
// transforms it in shared memory, next to the basis; it lists what is sent and subtracts it from u,
// so the tensor is read and written once.
#include "kernels/compressors/dct-topk.h"
#include "kernels/gpu/chunks.cuh"

namespace syncline {
namespace {

// What all chunks send, in the workspace.
struct CoefficientList {
  std::uint32_t* places = nullptr;
  std::uint32_t* bits = nullptr;
};

// A chunk of `side` rows: a thread has column t % side of every row_step-th row, from row t / side
// on. Rows of the square are padded to multiples of 16 bytes; rows of the basis, of which each lane
// reads another one, are padded so that they start in different banks.
template <unsigned side>
struct Square {
  static constexpr unsigned elements = side * side;
  static constexpr unsigned row_step = chunk_threads / side;
  static constexpr unsigned rows = elements > chunk_threads ? elements / chunk_threads : 1;
  static constexpr unsigned stride = side + 4, basis_stride = side + 1;
};

// False for threads without an element of a small chunk.
template <unsigned side>
__device__ bool has_element() {
  return threadIdx.x < Square<side>::elements;
}

template <unsigned side>
__device__ void make_basis(const Cosines& cosines, float* basis) {
  __shared__ float waves[4 * side];
  if (threadIdx.x < 4 * side)
    waves[threadIdx.x] = cosines.at[threadIdx.x];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < side * side; i += chunk_threads)
    basis[i / side * Square<side>::basis_stride + i % side] =
        basis_of(waves, side, i / side, i % side);
}

// Writes this thread's elements to shared memory with rows and columns exchanged.
template <unsigned side>
__device__ void transpose(const float (&values)[chunk_rows], float* square) {
  __syncthreads();
#pragma unroll
  for (unsigned row = 0; row < Square<side>::rows; ++row)
    if (has_element<side>())
      square[threadIdx.x % side * Square<side>::stride + threadIdx.x / side +
             row * Square<side>::row_step] = values[row];
  __syncthreads();
}

// Multiplies each row of the square by basis vector t % side: loads four terms at a time, adds one
// by one.
template <unsigned side>
__device__ void times_basis(const float* square, const float* basis, float (&sums)[chunk_rows]) {
  using Of = Square<side>;
#pragma unroll
  for (unsigned row = 0; row < Of::rows; ++row)
    sums[row] = 0;
  if (!has_element<side>())
    return;
  const float* const vector = basis + threadIdx.x % side * Of::basis_stride;
  const float* const first = square + threadIdx.x / side * Of::stride;
#pragma unroll 1
  for (unsigned i = 0; i < side; i += 4) {
    const float a = vector[i], b = vector[i + 1], c = vector[i + 2], d = vector[i + 3];
#pragma unroll
    for (unsigned row = 0; row < Of::rows; ++row) {
      const float4 four = four_of(first, row * Of::row_step * Of::stride + i);
      sums[row] = sums[row] + four.x * a + four.y * b + four.z * c + four.w * d;
    }
  }
}

struct Coefficient {
  std::uint32_t place;
  float value;
};

// Transforms back `count` coefficients, which ascend in place: along rows first, which leaves most
// rows empty, then down the columns.
template <unsigned side, class CoefficientOf>
__device__ void transform_back(unsigned count, const CoefficientOf& coefficient, const float* basis,
                               float* square, float (&sums)[chunk_rows]) {
  using Of = Square<side>;
  __shared__ Coefficient listed[chunk_threads];
  __shared__ unsigned first_of[side];  // each row's first coefficient in the list, if it has any
  __shared__ bool used[side];
  const unsigned column = threadIdx.x % side, first = threadIdx.x / side;
  for (unsigned i = threadIdx.x; i < side * Of::stride; i += chunk_threads)
    square[i] = 0;
  if (threadIdx.x < side)
    used[threadIdx.x] = false;
  for (unsigned begin = 0; begin < count; begin += chunk_threads) {
    const unsigned left = count - begin < chunk_threads ? count - begin : chunk_threads;
    if (threadIdx.x < left)
      listed[threadIdx.x] = coefficient(begin + threadIdx.x);
    if (threadIdx.x < side)
      first_of[threadIdx.x] = chunk_threads;
    __syncthreads();
    if (threadIdx.x < left) {
      const unsigned row = listed[threadIdx.x].place / side;
      if (threadIdx.x == 0 || listed[threadIdx.x - 1].place / side != row) {
        first_of[row] = threadIdx.x;
        used[row] = true;
      }
    }
    __syncthreads();
    for (unsigned row = first; row < side; row += Of::row_step) {
      float sum = square[row * Of::stride + column];
      for (unsigned j = first_of[row]; j < left && listed[j].place / side == row; ++j)
        sum = sum + listed[j].value * basis[listed[j].place % side * Of::basis_stride + column];
      square[row * Of::stride + column] = sum;
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned row = 0; row < Of::rows; ++row)
    sums[row] = 0;
  for (unsigned down = 0; down < side && has_element<side>(); ++down)
    if (used[down]) {
      const float along = square[down * Of::stride + column];
#pragma unroll
      for (unsigned row = 0; row < Of::rows; ++row)
        sums[row] = sums[row] + basis[down * Of::basis_stride + first + row * Of::row_step] * along;
    }
}

template <class Value>
__device__ float as_received(float value) {
  return as_sent(value, std::is_same_v<Value, Half> ? Precision::fp16 : Precision::fp32);
}

// Without feedback u is null.
template <unsigned side, class Value>
__global__ void __launch_bounds__(chunk_threads, 2)
    transform_kernel(const Value* g, float* u, CoefficientMessage chunks, Cosines cosines,
                     float decay, CoefficientList list) {
  alignas(16) __shared__ float square[side * Square<side>::stride];
  __shared__ float basis[side * Square<side>::basis_stride];
  const std::size_t c = blockIdx.x, begin = c * chunks.chunk, first = c * chunks.per_chunk;
  const unsigned count = static_cast<unsigned>(chunks.elements_of(c));
  const unsigned k = static_cast<unsigned>(chunks.sent_of(c));
  const bool transformed = chunks.is_transformed(c) && k > 0;
  float values[chunk_rows], others[chunk_rows];
  load_chunk(g, u, begin, count, values);
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row)
    others[row] = values[row];
  if (transformed) {
    make_basis<side>(cosines, basis);
    transpose<side>(others, square);
    times_basis<side>(square, basis, others);
    transpose<side>(others, square);
    times_basis<side>(square, basis, others);
  }
  if (k > 0)
    select_chunk(others, count, k, list.places + first, list.bits + first);
  if (u == nullptr)
    return;
  if (transformed)
    transform_back<side>(
        k,
        [&](unsigned j) {
          return Coefficient{list.places[first + j],
                             as_received<Value>(__uint_as_float(list.bits[first + j]))};
        },
        basis, square, others);
#pragma unroll
  for (unsigned row = 0; row < chunk_rows; ++row) {
    const unsigned i = row * chunk_threads + threadIdx.x;
    if (i < count)
      u[begin + i] = kept_of(values[row], transformed ? others[row] : 0, decay);
  }
  if (transformed)
    return;
  __syncthreads();
  for (unsigned j = threadIdx.x; j < k; j += chunk_threads) {
    const float value = __uint_as_float(list.bits[first + j]);
    u[begin + list.places[first + j]] = kept_of(value, as_received<Value>(value), decay);
  }
}

// Each thread writes eight values and their places, which fill whole bytes.
template <class Value>
__global__ void write_kernel(CoefficientMessage chunks, CoefficientList list, std::byte* message) {
  const std::size_t begin = grid_thread() * 8, sent = chunks.sent();
  if (begin >= sent)
    return;
  const std::size_t count = sent - begin < 8 ? sent - begin : 8;
  for (std::size_t j = begin; j < begin + count; ++j) {
    const float value = __uint_as_float(list.bits[j]);
    if constexpr (std::is_same_v<Value, Half>)
      reinterpret_cast<Half*>(message)[j] = to_half(value);
    else
      reinterpret_cast<float*>(message)[j] = canonical(value);
  }
  put_numbers(count, chunks.index_bits,
              message + chunks.indices_begin() + begin / 8 * chunks.index_bits,
              [&](std::size_t j) { return list.places[begin + j]; });
}

template <unsigned side, class Value>
__global__ void __launch_bounds__(chunk_threads, 2)
    add_kernel(CoefficientMessage chunks, Cosines cosines, const Value* message, float* sum) {
  alignas(16) __shared__ float square[side * Square<side>::stride];
  __shared__ float basis[side * Square<side>::basis_stride];
  const std::size_t c = blockIdx.x, begin = c * chunks.chunk, first = c * chunks.per_chunk;
  const unsigned k = static_cast<unsigned>(chunks.sent_of(c));
  const std::byte* const indices =
      reinterpret_cast<const std::byte*>(message) + chunks.indices_begin();
  const auto coefficient = [&](unsigned j) {
    return Coefficient{get_number(indices, first + j, chunks.index_bits),
                       loaded(message, first + j)};
  };
  if (!chunks.is_transformed(c)) {
    for (unsigned j = threadIdx.x; j < k; j += chunk_threads) {
      const Coefficient sent = coefficient(j);
      sum[begin + sent.place] += sent.value;
    }
    return;
  }
  float values[chunk_rows] = {};
  make_basis<side>(cosines, basis);
  transform_back<side>(k, coefficient, basis, square, values);
#pragma unroll
  for (unsigned row = 0; row < Square<side>::rows; ++row)
    if (has_element<side>())
      sum[begin + row * chunk_threads + threadIdx.x] += values[row];
}

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const CoefficientMessage chunks = coefficient_message(
      settings, input.elements, input.halves != nullptr ? Precision::fp16 : Precision::fp32);
  if (chunks.count() == 0)
    return;
  CoefficientList list{static_cast<std::uint32_t*>(workspace)};
  list.bits = list.places + chunks.sent();
  with_gradient(input, [&]<class Value>(const Value* g) {
    with_side(chunks, [&]<unsigned side>() {
      launch(transform_kernel<side, Value>, static_cast<unsigned>(chunks.count()), chunk_threads,
             stream, g, with_feedback(settings) ? input.residual : nullptr, chunks,
             cosines_of(side), decay_of(settings), list);
    });
    launch_each((chunks.sent() + 7) / 8, write_kernel<Value>, stream, chunks, list, output.message);
  });
}

template <class Value>
void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  const CoefficientMessage chunks = coefficient_message(
      settings, elements, std::is_same_v<Value, Half> ? Precision::fp16 : Precision::fp32);
  if (chunks.sent() > 0)
    with_side(chunks, [&]<unsigned side>() {
      for_each_message(messages, [&](const std::byte* message, std::size_t) {
        launch(add_kernel<side, Value>, static_cast<unsigned>(chunks.count()), chunk_threads,
               stream, chunks, cosines_of(side), reinterpret_cast<const Value*>(message), sum);
      });
    });
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  return 2 * chunks_of(settings, elements).sent() * sizeof(std::uint32_t);
}

const Registered<DeviceCompressor> entry{{.name = "dct-topk",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add<float>,
                                          .decode_add_halves = decode_add<Half>}};

}  // namespace
}  // namespace syncline
