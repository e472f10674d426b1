// PowerSGD on a GPU: the sums of powersgd.cpp in the same order. For P a warp takes a row; for Q a
// thread takes one column of 64 rows; to make P orthonormal, a warp takes a column of P. Rows begin
// at any address, and in the order of sums neighbours are in different lanes, so elements are read
// by 4 bytes, a batch at a time: no division, and as many bytes in flight as with loads of 16.
#include "kernels/compressors/powersgd_columns.cuh"

namespace syncline {
namespace {

constexpr unsigned strip_threads = 256;

// The last rows may be shorter or empty.
struct Matrix {
  float* u;
  Shape s;
  std::size_t whole, rest;  // number of whole rows, and elements of the row after them

  __device__ std::size_t row_length(std::size_t row) const {
    return row < whole ? s.columns : row == whole ? rest : 0;
  }
  // The end of a column within a block of 64 rows.
  __device__ std::size_t end_of(std::size_t column, std::size_t begin) const {
    const std::size_t length = whole + (column < rest ? 1 : 0);
    return begin + block_rows < length ? begin + block_rows : length;
  }
};

// `width` neighbours in a row of a factor, read by one load; `width` divides the rank. Elements
// past the rank are 0.
template <unsigned width>
struct alignas(4 * width) Neighbours {
  float at[width];
};
template <unsigned width, unsigned count>
__device__ void load_factors(const float* row, unsigned first, unsigned rank,
                             float (&factors)[count]) {
#pragma unroll
  for (unsigned c = 0; c < count; c += width) {
    Neighbours<width> some{};
    if (first + c < rank)
      some = *reinterpret_cast<const Neighbours<width>*>(row + first + c);
#pragma unroll
    for (unsigned w = 0; w < width; ++w)
      factors[c + w] = some.at[w];
  }
}

// Chooses the version of a kernel that can read factors of this rank.
template <class Kernel>
Kernel* by_width(std::size_t rank, Kernel* fours, Kernel* twos, Kernel* ones) {
  return rank % 4 == 0 ? fours : rank % 2 == 0 ? twos : ones;
}

// Loads the first `left` of elements that lie `step` apart.
template <unsigned count, class Left>
__device__ void load_column(const float* from, std::size_t step, Left left,
                            float (&values)[count]) {
#pragma unroll
  for (unsigned r = 0; r < count; ++r)
    if (r < left)
      values[r] = from[r * step];
}

// A step's start, and the product that was sent of the step before, as Factors (low_rank.h).
struct FactorsAt {
  float *sent_q, *sent_p, *start;
};

// What is left of a batch of u, of which a row of P Q^T was sent, from column j on.
template <unsigned width, class Left>
__device__ void take_off_sent(const FactorsAt& own, std::size_t row, unsigned rank, std::size_t j,
                              Left left, float (&u)[batch]) {
  float sent[batch] = {};
  for (unsigned first = 0; first < rank; first += chunk) {
    float p[chunk];
    load_factors<width>(own.sent_p + row * rank, first, rank, p);
#pragma unroll
    for (unsigned r = 0; r < batch; ++r)
      if (r < left) {
        float q[chunk];
        load_factors<width>(own.sent_q + (j + r * 32) * rank, first, rank, q);
#pragma unroll
        for (unsigned c = 0; c < chunk; ++c)  // adds 0 past the rank
          sent[r] += p[c] * q[c];
      }
  }
#pragma unroll
  for (unsigned r = 0; r < batch; ++r)
    u[r] = unsent(u[r], sent[r]);
}

// P = u Q, and u = g + e: the first chunk of columns adds and stores u, later chunks read what
// their lane stored.
template <class Value, unsigned width>
__global__ void __launch_bounds__(256)
    rows_kernel(const Value* g, bool feedback, Matrix m, FactorsAt own, float* p, int* diverged) {
  const unsigned lane = lane_of_warp(), rank = static_cast<unsigned>(m.s.rank);
  const std::size_t row = grid_warp();
  if (grid_thread() == 0)
    *diverged = 0;
  if (row >= m.s.rows)
    return;
  const std::size_t begin = row * m.s.columns, length = m.row_length(row);
  for (unsigned first = 0; first < rank; first += chunk) {
    float partial[chunk] = {};
    for_each_batch<batch, 32>(lane, length, [&](std::size_t j, auto left) {
      float* const u = m.u + begin + j;
      float values[batch], rest[batch] = {};
      if (first > 0) {
        load_column(u, 32, left, values);
      } else {
        load_rows<32>(g + begin + j, 0, 32 * left, values);
        if (feedback) {
          load_column(u, 32, left, rest);
          take_off_sent<width>(own, row, rank, j, left, rest);
        }
#pragma unroll
        for (unsigned r = 0; r < batch; ++r)
          if (r < left)
            u[r * 32] = values[r] = feedback ? values[r] + rest[r] : values[r];
      }
#pragma unroll
      for (unsigned r = 0; r < batch; ++r)
        if (r < left) {
          float factors[chunk];
          load_factors<width>(own.start + (j + r * 32) * rank, first, rank, factors);
#pragma unroll
          for (unsigned c = 0; c < chunk; ++c)
            partial[c] += values[r] * factors[c];
        }
    });
#pragma unroll
    for (unsigned c = 0; c < chunk; ++c)
      if (first + c < rank) {
        const double total = ordered_sum(partial[c]);
        if (lane == 0)
          p[row * rank + first + c] = canonical(static_cast<float>(total));
      }
  }
}

// The rows of P for a block of rows of u, in shared memory; zeros past the rank.
struct Strip {
  float rows[block_rows][most_rank];

  __device__ void load(const float* p, const Shape& s) {
    constexpr unsigned part = strip_threads / block_rows;  // threads per row
    const unsigned row = threadIdx.x / part;
    const std::size_t i = blockIdx.y * block_rows + row;
    for (unsigned first = 0; first < s.rank; first += chunk)
      for (unsigned c = first + threadIdx.x % part; c < first + chunk; c += part)
        rows[row][c] = c < s.rank && i < s.rows ? p[i * s.rank + c] : 0.0f;
    __syncthreads();
  }
};

// A block adds the contribution of 64 rows to Q = u^T P; blockIdx.y is their number.
__global__ void __launch_bounds__(strip_threads)
    columns_kernel(Matrix m, const float* p, float* partial) {
  __shared__ Strip strip;
  strip.load(p, m.s);
  const std::size_t j = grid_thread(), columns = m.s.columns, rank = m.s.rank;
  if (j >= columns)
    return;
  const std::size_t begin = blockIdx.y * block_rows;
  for (unsigned first = 0; first < rank; first += chunk) {
    float sum[chunk] = {};
    for_each_batch<batch, 1>(begin, m.end_of(j, begin), [&](std::size_t i, auto left) {
      float values[batch];
      load_column(m.u + i * columns + j, columns, left, values);
#pragma unroll
      for (unsigned r = 0; r < batch; ++r)
        if (r < left)
#pragma unroll
          for (unsigned c = 0; c < chunk; ++c)
            sum[c] += values[r] * strip.rows[i - begin + r][first + c];
    });
#pragma unroll
    for (unsigned c = 0; c < chunk; ++c)
      if (first + c < rank)
        partial[(blockIdx.y * columns + j) * rank + first + c] = sum[c];
  }
}

__global__ void sum_kernel(const float* partial, std::size_t blocks, std::size_t size, float* q,
                           float* sent_q, int* diverged) {
  const std::size_t i = grid_thread();
  if (i >= size)
    return;
  double total = 0;
  for_each_batch<deep_batch, 1>(0, blocks, [&](std::size_t b, auto left) {
    float values[deep_batch];
    load_column(partial + b * size + i, size, left, values);
#pragma unroll
    for (unsigned r = 0; r < deep_batch; ++r)
      if (r < left)
        total += values[r];
  });
  const float sum = canonical(static_cast<float>(total));
  q[i] = sent_q[i] = sum;
  if (!isfinite(sum))
    *diverged = 1;
}

// u += P Q^T: a block takes 64 rows, a thread a column of them.
__global__ void __launch_bounds__(strip_threads)
    product_kernel(Matrix m, const float* p, const float* q) {
  __shared__ Strip strip;
  strip.load(p, m.s);
  const std::size_t j = grid_thread(), columns = m.s.columns;
  const unsigned rank = static_cast<unsigned>(m.s.rank);
  if (j >= columns)
    return;
  const std::size_t begin = blockIdx.y * block_rows;
  for_each_batch<batch, 1>(begin, m.end_of(j, begin), [&](std::size_t i, auto left) {
    float* const u = m.u + i * columns + j;
    float values[batch], sent[batch] = {};
    load_column(u, columns, left, values);
    for (unsigned first = 0; first < rank; first += chunk) {
      float factors[chunk];
      load_factors<1>(q + j * rank, first, rank, factors);
#pragma unroll
      for (unsigned r = 0; r < batch; ++r)
        if (r < left)
#pragma unroll
          for (unsigned c = 0; c < chunk; ++c)  // adds 0 past the rank
            sent[r] += strip.rows[i - begin + r][first + c] * factors[c];
    }
#pragma unroll
    for (unsigned r = 0; r < batch; ++r)
      if (r < left)
        u[r * columns] = values[r] + sent[r];
  });
}

// After a diverged step Q starts afresh, so that later steps are not spoilt.
__global__ void remember_kernel(const float* q, std::size_t size, Draw draw, const int* diverged,
                                float* start) {
  if (const std::size_t i = grid_thread(); i < size)
    start[i] = *diverged != 0 ? first_entry(draw, i) : q[i];
}

struct Room {
  double* columns;
  float *p, *partial;
  int* diverged;
};

Room room_of(const Shape& s, void* workspace) {
  double* columns = static_cast<double*>(workspace);
  float* p = reinterpret_cast<float*>(columns + s.rows * s.rank);
  float* partial = p + s.rows * s.rank;
  return {columns, p, partial, reinterpret_cast<int*>(partial + s.blocks() * s.columns * s.rank)};
}

Matrix matrix_in(float* u, std::size_t elements, const Shape& s) {
  return {u, s, elements / s.columns, elements % s.columns};
}

// One block per 256 columns and 64 rows.
dim3 blocks_of_columns(const Shape& s) {
  return {blocks_of(s.columns), static_cast<unsigned>(s.blocks())};
}

void orthogonalise(const float* p, const Shape& s, const Room& room, float* out, void* stream) {
  const unsigned columns = static_cast<unsigned>(std::min<std::size_t>(s.rank, column_warps));
  launch(orthogonalise_kernel, 1, 32 * columns, stream, p, s, room.columns, out);
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const Shape s = shape_of(settings, input.elements);
  if (input.elements == 0)
    return;
  const Matrix m = matrix_in(input.residual, input.elements, s);
  const Room room = room_of(s, workspace);
  const std::size_t size = s.columns * s.rank;
  float* const memory = reinterpret_cast<float*>(input.memory);
  const FactorsAt own{memory, memory + size, memory + size + s.rows * s.rank};
  float* p = reinterpret_cast<float*>(output.message);
  float* q = p + s.rows * s.rank;
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch(by_width(s.rank, rows_kernel<Value, 4>, rows_kernel<Value, 2>, rows_kernel<Value, 1>),
           static_cast<unsigned>((s.rows + 7) / 8), 256, stream, g, with_feedback(settings), m, own,
           p, room.diverged);
  });
  orthogonalise(p, s, room, own.sent_p, stream);
  launch(columns_kernel, blocks_of_columns(s), strip_threads, stream, m, own.sent_p, room.partial);
  launch_each(size, sum_kernel, stream, room.partial, s.blocks(), size, q, own.sent_q,
              room.diverged);
  launch_each(size, remember_kernel, stream, q, size, draw, room.diverged, own.start);
}

void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void* workspace, void* stream) {
  const Shape s = shape_of(settings, elements);
  if (elements == 0)
    return;
  const Room room = room_of(s, workspace);
  for_each_message(messages, [&](const std::byte* message, std::size_t) {
    const float* p = reinterpret_cast<const float*>(message);
    orthogonalise(p, s, room, room.p, stream);
    launch(product_kernel, blocks_of_columns(s), strip_threads, stream, matrix_in(sum, elements, s),
           room.p, p + s.rows * s.rank);
  });
}

void prepare(const Settings& settings, std::size_t elements, const Draw& draw, State& state) {
  const Shape s = shape_of(settings, elements);
  factors_of(state, s, draw);
  state.sent_rank = s.rank;  // zeros at first
}

std::size_t workspace_bytes(const Settings& settings, std::size_t elements) {
  const Shape s = shape_of(settings, elements);
  return 12 * s.rows * s.rank + 4 * s.blocks() * s.columns * s.rank + sizeof(int);
}

const Registered<DeviceCompressor> entry{{.name = "powersgd",
                                          .halves = true,
                                          .workspace_bytes = workspace_bytes,
                                          .prepare = prepare,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline
