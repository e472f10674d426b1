// PowerSGD on a GPU: powersgd.cpp's sums in its order. A warp takes a row for P, a thread takes a
// column of 64 rows for Q, one warp makes P orthonormal.
#include "kernels/compressors/powersgd.h"
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

struct Matrix {
  float* u;
  std::size_t elements;
  Shape s;

  __device__ std::size_t row_length(std::size_t row) const {
    const std::size_t begin = row * s.columns;
    return begin >= elements ? 0 : elements - begin < s.columns ? elements - begin : s.columns;
  }
};

// P = u Q, and u = g + e on the way: the first chunk adds, the others read what its lane wrote.
template <class Value>
__global__ void rows_kernel(const Value* g, bool feedback, Matrix m, const float* q, float* p) {
  const unsigned lane = lane_of_warp();
  const std::size_t row = grid_warp();
  if (row >= m.s.rows)
    return;
  const std::size_t begin = row * m.s.columns, length = m.row_length(row), rank = m.s.rank;
  for (std::size_t first = 0; first < rank; first += chunk) {
    float partial[chunk] = {};
    for (std::size_t j = lane; j < length; j += 32) {
      float value = first > 0 || feedback ? m.u[begin + j] : 0.0f;
      if (first == 0) {
        value = feedback ? loaded(g, begin + j) + value : loaded(g, begin + j);
        m.u[begin + j] = value;
      }
      for (unsigned c = 0; c < chunk; ++c)
        if (first + c < rank)
          partial[c] += value * q[j * rank + first + c];
    }
    for (unsigned c = 0; c < chunk; ++c) {
      const double total = ordered_sum(partial[c]);
      if (lane == 0 && first + c < rank)
        p[row * rank + first + c] = canonical(static_cast<float>(total));
    }
  }
}

__device__ double warp_product(const double* columns, const Shape& s, std::size_t a,
                               std::size_t b) {
  double partial = 0;
  for (std::size_t i = threadIdx.x; i < s.rows; i += 32)
    partial += columns[i * s.rank + a] * columns[i * s.rank + b];
  return ordered_sum(partial);
}

// One warp. A lane only ever touches its own rows, so nothing has to be waited for.
__global__ void orthogonalise_kernel(const float* p, Shape s, double* columns, float* out) {
  for (std::size_t i = threadIdx.x; i < s.rows; i += 32)
    for (std::size_t c = 0; c < s.rank; ++c)
      columns[i * s.rank + c] = p[i * s.rank + c];
  for (std::size_t c = 0; c < s.rank; ++c) {
    const double before = warp_product(columns, s, c, c);
    for (std::size_t other = 0; other < c; ++other) {
      const double dot = warp_product(columns, s, c, other);
      for (std::size_t i = threadIdx.x; i < s.rows; i += 32)
        columns[i * s.rank + c] -= dot * columns[i * s.rank + other];
    }
    const double after = warp_product(columns, s, c, c);
    const double scale = column_scale(before, after, sqrt(after));
    for (std::size_t i = threadIdx.x; i < s.rows; i += 32) {
      columns[i * s.rank + c] *= scale;
      out[i * s.rank + c] = static_cast<float>(columns[i * s.rank + c]);
    }
  }
}

// A block adds what 64 rows give to Q = u^T P; blockIdx.y names them.
__global__ void columns_kernel(Matrix m, const float* p, float* partial) {
  const std::size_t j = grid_thread(), rank = m.s.rank;
  if (j >= m.s.columns)
    return;
  const std::size_t begin = blockIdx.y * block_rows;
  const std::size_t end = begin + block_rows < m.s.rows ? begin + block_rows : m.s.rows;
  for (std::size_t first = 0; first < rank; first += chunk) {
    float sum[chunk] = {};
    for (std::size_t i = begin; i < end && j < m.row_length(i); ++i)
      for (unsigned c = 0; c < chunk; ++c)
        if (first + c < rank)
          sum[c] += m.u[i * m.s.columns + j] * p[i * rank + first + c];
    for (unsigned c = 0; c < chunk; ++c)
      if (first + c < rank)
        partial[(blockIdx.y * m.s.columns + j) * rank + first + c] = sum[c];
  }
}

__global__ void sum_kernel(const float* partial, std::size_t blocks, std::size_t size, float* q) {
  const std::size_t i = grid_thread();
  if (i >= size)
    return;
  double total = 0;
  for (std::size_t b = 0; b < blocks; ++b)
    total += partial[b * size + i];
  q[i] = canonical(static_cast<float>(total));
}

// u -= P Q^T, as encoders take off what was sent, or u += P Q^T.
__global__ void product_kernel(Matrix m, const float* p, const float* q, bool take_off) {
  const std::size_t i = grid_thread();
  if (i >= m.elements)
    return;
  const std::size_t row = i / m.s.columns, column = i % m.s.columns;
  const float sent = low_rank(p + row * m.s.rank, q + column * m.s.rank, m.s.rank);
  if (!take_off)
    m.u[i] += sent;
  else
    m.u[i] = isfinite(sent) ? m.u[i] - sent : 0.0f;
}

// One block. A diverged step must not end all later ones: those begin anew.
__global__ void remember_kernel(const float* q, std::size_t size, Draw draw, float* matrix) {
  bool finite = true;
  for (std::size_t i = threadIdx.x; i < size; i += blockDim.x)
    finite = finite && isfinite(q[i]);
  finite = __syncthreads_and(finite) != 0;
  for (std::size_t i = threadIdx.x; i < size; i += blockDim.x)
    matrix[i] = finite ? q[i] : first_entry(draw, i);
}

struct Room {
  double* columns;
  float *p, *partial;
};

std::size_t blocks_in(const Shape& s) {
  return (s.rows + block_rows - 1) / block_rows;
}

Room room_of(const Shape& s, void* workspace) {
  double* columns = static_cast<double*>(workspace);
  float* p = reinterpret_cast<float*>(columns + s.rows * s.rank);
  return {columns, p, p + s.rows * s.rank};
}

Shape shape_of(const Settings& settings, std::size_t elements) {
  return syncline::shape_of(elements, static_cast<std::size_t>(settings.number("rank")));
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const Shape s = shape_of(settings, input.elements);
  if (input.elements == 0)
    return;
  const Matrix m{input.residual, input.elements, s};
  const Room room = room_of(s, workspace);
  const std::size_t size = s.columns * s.rank;
  float* matrix = reinterpret_cast<float*>(input.memory);
  float* p = reinterpret_cast<float*>(output.message);
  float* q = p + s.rows * s.rank;
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(rows_kernel<Value>, blocks_of_warps(s.rows), 128, stream, g, with_feedback(settings), m,
           matrix, p);
  });
  launch(orthogonalise_kernel, 1, 32, stream, p, s, room.columns, room.p);
  const dim3 grid(blocks_of(s.columns), static_cast<unsigned>(blocks_in(s)));
  launch(columns_kernel, grid, 256, stream, m, room.p, room.partial);
  launch_each(size, sum_kernel, stream, room.partial, blocks_in(s), size, q);
  launch_each(m.elements, product_kernel, stream, m, room.p, q, true);
  launch(remember_kernel, 1, 1024, stream, q, size, draw, matrix);
}

void decode_add(const Settings& settings, const std::byte* message, std::size_t, const Draw&,
                float* sum, std::size_t elements, void* workspace, void* stream) {
  const Shape s = shape_of(settings, elements);
  if (elements == 0)
    return;
  const Room room = room_of(s, workspace);
  const float* p = reinterpret_cast<const float*>(message);
  launch(orthogonalise_kernel, 1, 32, stream, p, s, room.columns, room.p);
  launch_each(elements, product_kernel, stream, {sum, elements, s}, room.p, p + s.rows * s.rank,
              false);
}

void prepare(const Settings& settings, std::size_t elements, const Draw& draw, State& state) {
  matrix_of(state, shape_of(settings, elements), draw);
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const Shape s = shape_of(settings, elements);
  return 12 * s.rows * s.rank + 4 * blocks_in(s) * s.columns * s.rank;
}

const Registered<DeviceCompressor> entry{{.name = "powersgd",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .prepare = prepare,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline
