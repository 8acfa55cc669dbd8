// The CUDA runtime of the generated kernels: no torch header, nothing but the CUDA toolkit (or, with a plain C++
// compiler, the emulation in opgen_simt.h).
//
// A generated file describes each kernel as a struct of views and numbers with device functions; the kernels
// themselves, which decide how points map to threads, are here:
//   map     every point on its own; 16 bytes at a time where all tensors are flat
//   rows    a team of threads for each point, which folds along a row
//   columns folds across points that are neighbours in memory, in two stages of fixed order
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define OPGEN_LAUNCH(kernel, grid, size, bytes, stream, ...) \
  kernel<<<grid, size, bytes, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__)
// Raw bytes, so that element types may have constructors.
#define OPGEN_SHARED(type, name, count)                                        \
  __shared__ __align__(16) unsigned char name##_bytes[sizeof(type) * (count)]; \
  type* name = reinterpret_cast<type*>(name##_bytes)
#endif

#include "opgen_abi.h"
#include "opgen_fold.cuh"
#include "opgen_rows.cuh"
#include "opgen_tensor.cuh"
#include "opgen_types.cuh"

namespace rt {

// Launch bounds name the least number of blocks, 1, as well: without it ptxas aims at an occupancy of its own choice
// and spills registers to reach it.

constexpr int64_t max_grid = 0x7fffffff;

inline int launched() { return static_cast<int>(cudaGetLastError()); }

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline unsigned grid_of(int64_t blocks) { return static_cast<unsigned>(blocks < max_grid ? blocks : max_grid); }

// --- Map
// --------------------------------------------------------------------------------------------------------------

constexpr int map_threads = 256;

template <typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_points(Step step, int64_t count) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * map_threads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * map_threads) step.point(i);
}

// A thread for each vector, then one for each of the `rest` points behind them.
template <int V, typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_flat(Step step, int64_t vectors, int rest) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * map_threads + threadIdx.x;
  if (i < vectors) {
    step.template flat<V>(i * V);
  } else if (i - vectors < rest) {
    step.template flat<1>(vectors * (V - 1) + i);
  }
}

template <typename Step>
int map(const OpgenCall& call, const Step& step, int64_t count) {
  if (count <= 0) return OPGEN_OK;
  OPGEN_LAUNCH(map_points<Step>, grid_of(ceil_div(count, map_threads)), map_threads, 0, call.stream, step, count);
  return launched();
}

template <int V, typename Step>
int map_vectors(const OpgenCall& call, const Step& step, int64_t count) {
  if (count <= 0) return OPGEN_OK;
  const int64_t vectors = count / V;
  const int rest = static_cast<int>(count % V);
  auto kernel = map_flat<V, Step>;
  const unsigned grid = grid_of(ceil_div(vectors + rest, map_threads));
  OPGEN_LAUNCH(kernel, grid, map_threads, 0, call.stream, step, vectors, rest);
  return launched();
}

// --- Rows
// -------------------------------------------------------------------------------------------------------------

template <typename Team, typename Step>
__global__ void __launch_bounds__(Block::most, 1) row_kernel(Step step, int64_t rows) {
  const int teams = Team::count();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * teams + Team::number();
  // A team goes round together, so its barriers are met by all of it.
  OPGEN_ROLLED
  for (int64_t row = first; row < rows; row += static_cast<int64_t>(gridDim.x) * teams) step.template row<Team>(row);
}

template <typename Team, typename Step>
int launch_rows(const OpgenCall& call, const Step& step, int64_t rows, int threads, int teams) {
  auto kernel = row_kernel<Team, Step>;
  OPGEN_LAUNCH(kernel, grid_of(ceil_div(rows, teams)), threads, 0, call.stream, step, rows);
  return launched();
}

// The least block whose threads have at most `part` points of a row each, or the greatest.
inline int threads_for(int64_t length, int64_t part) {
  int threads = 32;
  while (threads < Block::most && threads * part < length) threads *= 2;
  return threads;
}

// `length` is the number of inner points of the longest pass.
template <typename Step>
int rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length) {
  if (count <= 0) return OPGEN_OK;
  return launch_rows<Strided<Block>>(call, step, count, threads_for(length, 64), 1);
}

// The same for rows of vectors of V elements, no longer than this.
template <int V>
constexpr int64_t most_held = int64_t{Block::most} * Held<Block, 4, V>::part;

template <int V, typename Step>
int held_rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length) {
  if (count <= 0) return OPGEN_OK;
  if (length <= 16 * V) return launch_rows<Held<Lanes<8>, 2, V>>(call, step, count, 128, 128 / 8);
  using Team = Held<Block, 4, V>;
  return launch_rows<Team>(call, step, count, threads_for(length, Team::part), 1);
}

// --- Columns
// ----------------------------------------------------------------------------------------------------------

// Across threads of a block sharing a point: thread (x, y) folds for point x every y-th inner point.
template <int X, int Y, typename Folds>
OPGEN_DEVICE void join_columns(Folds* folds) {
  OPGEN_SHARED(Folds, cells, X * Y);
  const int me = static_cast<int>(threadIdx.x);
  cells[me] = *folds;
  OPGEN_UNROLL
  for (int half = Y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me / X < half) {
      folds->merge(cells[me + half * X]);
      cells[me] = *folds;
    }
  }
}

// First stage. A block folds one chunk of the inner points for X outer points; with one chunk it finishes them.
template <int X, int Y, typename Step>
__global__ void __launch_bounds__(X* Y, 1)
    fold_columns(Step step, int64_t points, int64_t length, int64_t chunks, typename Step::Folds* partial) {
  const int64_t tiles = (points + X - 1) / X;
  const int64_t tile = blockIdx.x % tiles;
  const int64_t chunk = blockIdx.x / tiles;
  const int64_t point = tile * X + threadIdx.x % X;
  const int64_t step_length = (length + chunks - 1) / chunks;
  const int64_t begin = chunk * step_length;
  const int64_t end = begin + step_length < length ? begin + step_length : length;
  typename Step::Folds folds;
  if (point < points) {
    int64_t i = begin + threadIdx.x / X;
    for (int64_t stop = begin; i < end; folds.settle()) {
      stop = stop + block_adds * Y < end ? stop + block_adds * Y : end;
      for (; i < stop; i += Y) step.fold(point, i, &folds);
    }
  }
  folds.finish();
  join_columns<X, Y>(&folds);
  if (threadIdx.x < X && point < points) {
    if (chunks == 1) {
      step.finish(point, folds);
    } else {
      partial[chunk * points + point] = folds;
    }
  }
}

// Second stage: the chunks of a point, in order.
template <typename Step>
__global__ void __launch_bounds__(map_threads, 1)
    finish_columns(Step step, int64_t points, int64_t chunks, const typename Step::Folds* partial) {
  const int64_t point = static_cast<int64_t>(blockIdx.x) * map_threads + threadIdx.x;
  if (point < points) {
    typename Step::Folds folds;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      folds.merge(partial[chunk * points + point]);
      if (chunk % block_adds == block_adds - 1) folds.settle();
    }
    folds.finish();
    step.finish(point, folds);
  }
}

inline int64_t processors(const OpgenCall& call) {
  if (call.processors > 0) return call.processors;
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  if (cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return 1;
  return count > 0 ? count : 1;
}

// How many chunks: enough blocks to fill the device, and at least `least` inner points for each thread.
template <int X, int Y>
int64_t chunk_count(const OpgenCall& call, int64_t points, int64_t length) {
  constexpr int64_t least = 16;
  const int64_t wanted = ceil_div(8 * processors(call), ceil_div(points, X));
  const int64_t possible = ceil_div(length, Y * least);
  return wanted < possible ? (wanted < 1 ? 1 : wanted) : (possible < 1 ? 1 : possible);
}

template <int X, int Y, typename Step>
int launch_columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  using Folds = typename Step::Folds;
  if constexpr (Y > 1 && sizeof(Folds) * X * Y > 48 * 1024) {  // what a block may share
    return launch_columns<X, Y / 2>(call, step, points, length);
  }
  int64_t chunks = chunk_count<X, Y>(call, points, length);
  const int64_t room = call.workspace == nullptr ? 0 : call.workspace_bytes / static_cast<int64_t>(sizeof(Folds));
  if (chunks * points > room) chunks = room / points > 1 ? room / points : 1;
  auto* partial = static_cast<Folds*>(call.workspace);
  auto kernel = fold_columns<X, Y, Step>;
  const int64_t blocks = ceil_div(points, X) * chunks;
  OPGEN_LAUNCH(kernel, grid_of(blocks), X * Y, 0, call.stream, step, points, length, chunks, partial);
  if (chunks == 1) return launched();
  const int status = launched();
  if (status != OPGEN_OK) return status;
  const unsigned grid = grid_of(ceil_div(points, map_threads));
  const Folds* done = partial;
  OPGEN_LAUNCH(finish_columns<Step>, grid, map_threads, 0, call.stream, step, points, chunks, done);
  return launched();
}

// The threads of a block: side by side where neighbouring points are neighbours in memory (Across), all on one point
// where its inner points are.
template <bool Across>
constexpr int column_width = Across ? 32 : 1;
template <bool Across>
constexpr int column_depth = Across ? 8 : 256;

template <bool Across, typename Step>
int columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  if (points <= 0) return OPGEN_OK;
  return launch_columns<column_width<Across>, column_depth<Across>>(call, step, points, length);
}

// Bytes of workspace that `columns` can use for accumulators of `bytes` each; with less it makes fewer chunks.
template <bool Across>
int64_t columns_workspace(const OpgenCall& call, int64_t points, int64_t length, int64_t bytes) {
  if (points <= 0) return 0;
  const int64_t chunks = chunk_count<column_width<Across>, column_depth<Across>>(call, points, length);
  return chunks == 1 ? 0 : chunks * points * bytes;
}

// --- Scatter
// ----------------------------------------------------------------------------------------------------------

// Replaces a cell by a function of what it holds, again and again until nobody came between.
template <typename T, typename F>
OPGEN_DEVICE void update(T* cell, F combined) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  auto* word = reinterpret_cast<Word*>(cell);
  Word seen;
  memcpy(&seen, cell, sizeof(T));
  for (;;) {
    T value;
    memcpy(&value, &seen, sizeof(T));
    value = combined(value);
    Word next;
    memcpy(&next, &value, sizeof(T));
    const Word before = atomicCAS(word, seen, next);
    if (before == seen) return;
    seen = before;
  }
}

OPGEN_DEVICE void atomic_sum(float* cell, float x) { atomicAdd(cell, x); }
OPGEN_DEVICE void atomic_sum(double* cell, double x) { atomicAdd(cell, x); }
OPGEN_DEVICE void atomic_sum(int64_t* cell, int64_t x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(cell), static_cast<unsigned long long>(x));
}
template <typename T>
OPGEN_DEVICE void atomic_prod(T* cell, T x) {
  update(cell, [x](T seen) { return seen * x; });
}
template <typename T>
OPGEN_DEVICE void atomic_max(T* cell, T x) {
  update(cell, [x](T seen) { return max(seen, x); });
}
template <typename T>
OPGEN_DEVICE void atomic_min(T* cell, T x) {
  update(cell, [x](T seen) { return min(seen, x); });
}

}  // namespace rt
