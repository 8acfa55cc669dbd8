// The CUDA runtime of the generated kernels: no torch header, nothing but the CUDA toolkit (or, with a plain C++
// compiler, the emulation in opgen_simt.h).
//
// A generated file describes each kernel as a struct of views and numbers with device functions; the kernels
// themselves, which decide how points map to threads, are here:
//   map     every point on its own; 16 bytes at a time where all tensors are flat
//   rows    a team of threads for each point, which folds along a row
//   columns folds across points that are neighbours in memory: opgen_columns.cuh
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
#include "opgen_arguments.cuh"
#include "opgen_fold.cuh"
#include "opgen_nests.cuh"
#include "opgen_ports.cuh"
#include "opgen_powers.cuh"
#include "opgen_rows.cuh"
#include "opgen_scatter.cuh"
#include "opgen_types.cuh"
#include "opgen_vectors.cuh"

namespace rt {

// Launch bounds name the least number of blocks, 1, as well: without it ptxas aims at an occupancy of its own choice
// and spills registers to reach it.

constexpr int64_t max_grid = 0x7fffffff;

inline int launched() { return static_cast<int>(cudaGetLastError()); }

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline unsigned grid_of(int64_t blocks) { return static_cast<unsigned>(blocks < max_grid ? blocks : max_grid); }

// The longest rows and folds, windows most of all, that a thread goes along alone.
constexpr int64_t alone = 16;

// --- Map
// --------------------------------------------------------------------------------------------------------------

constexpr int map_threads = 256;

// What its points are counted in.
template <typename Step>
using NumberOf = Number<Made<Step>::rank>;

// A thread for each point, or each vector of V points.
template <int V, typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_points(Step step, int64_t count) {
  const auto i = static_cast<NumberOf<Step>>(blockIdx.x) * map_threads + threadIdx.x;
  if (i >= static_cast<NumberOf<Step>>(count)) return;
  if constexpr (has_rows<Step>) {
    step.template point<V>(i);
  } else if constexpr (has_point<Step>) {
    step.point(i);
  } else {
    map_point(step, step.batch.place(i));
  }
}

// How many vectors a thread takes: where it stands is found once for them.
constexpr int flat_vectors = 2;

// Blocks for so many vectors of each thread, then one whose threads take the `rest` points behind them.
template <int V, typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_flat(Step step, uint32_t vectors, uint32_t rest) {
  const uint32_t first = blockIdx.x * (flat_vectors * map_threads) + threadIdx.x;
  if (first < vectors) {
    OPGEN_UNROLL
    for (int u = 0; u < flat_vectors; ++u) {
      if (u > 0 && first + u * map_threads >= vectors) break;
      map_lanes<V>(step, (static_cast<int64_t>(first) + u * map_threads) * V);
    }
  } else if (blockIdx.x == gridDim.x - 1 && threadIdx.x < rest) {
    map_lanes<1>(step, static_cast<int64_t>(vectors) * V + threadIdx.x);
  }
}

// Vectors of V neighbours along the last dim of the batch, wherever the tensors have its other dims.
template <int V, typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_places(Step step, Batch<Made<Step>::rank> batch) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * map_threads + threadIdx.x) * V;
  if (first < batch.count) map_lanes<V>(step, batch.place(first));
}

template <int V, typename Step>
int map_in_places(const OpgenCall& call, const Step& step, const Batch<Made<Step>::rank>& batch) {
  if (batch.count <= 0) return OPGEN_OK;
  auto kernel = map_places<V, Step>;
  OPGEN_LAUNCH(kernel, grid_of(ceil_div(batch.count / V, map_threads)), map_threads, 0, call.stream, step, batch);
  return launched();
}

template <int V, typename Step>
int map(const OpgenCall& call, const Step& step, int64_t count) {
  if (count <= 0) return OPGEN_OK;
  auto kernel = map_points<V, Step>;
  OPGEN_LAUNCH(kernel, grid_of(ceil_div(count / V, map_threads)), map_threads, 0, call.stream, step, count / V);
  return launched();
}

template <int V, typename Step>
int map_vectors(const OpgenCall& call, const Step& step, int64_t count) {
  if (count <= 0) return OPGEN_OK;
  const auto vectors = static_cast<uint32_t>(count / V), rest = static_cast<uint32_t>(count % V);
  auto kernel = map_flat<V, Step>;
  const int64_t blocks = ceil_div(vectors, flat_vectors * map_threads) + (rest > 0 ? 1 : 0);
  OPGEN_LAUNCH(kernel, grid_of(blocks), map_threads, 0, call.stream, step, vectors, rest);
  return launched();
}

// --- Rows
// -------------------------------------------------------------------------------------------------------------

template <typename Team, typename Step>
__global__ void __launch_bounds__(Team::most, 1) row_kernel(Step step, int64_t rows) {
  using Rows = NumberOf<Step>;
  const int teams = Team::count();
  const Rows first = static_cast<Rows>(blockIdx.x) * teams + Team::number();
  // A team goes round together, so its barriers are met by all of it.
  OPGEN_ROLLED
  for (Rows row = first; row < static_cast<Rows>(rows); row += static_cast<Rows>(gridDim.x) * teams) {
    if constexpr (Step::launch.joins) {
      Apart apart;
      step.template row<Team>(row, &apart);
    } else {
      step.template row<Team>(row);
    }
  }
}

template <typename Team, typename Step>
int launch_rows(const OpgenCall& call, const Step& step, int64_t rows, const dim3& threads, int teams) {
  auto kernel = row_kernel<Team, Step>;
  OPGEN_LAUNCH(kernel, grid_of(ceil_div(rows, teams)), threads, 0, call.stream, step, rows);
  return launched();
}

// The least block whose threads have at most `part` points of a row each, or the greatest.
inline int threads_for(int64_t length, int64_t part, int most = Block::most) {
  int threads = 32;
  while (threads < most && threads * part < length) threads *= 2;
  return threads;
}

// How many rows a device has to have before each of them is left to one thread.
constexpr int64_t enough_rows = 1 << 15;

// `length` is the number of inner points of the longest pass.
template <typename Step>
int rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length) {
  if (count <= 0) return OPGEN_OK;
  const int threads = length <= alone ? 1 : threads_for(length, 64), teams = threads == 1 ? map_threads : 1;
  return launch_rows<Strided<Side>>(call, step, count, dim3(threads, teams), teams);
}

// The same for rows of several loops, in vectors of V elements.
template <int V, typename Step>
int passing_rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length) {
  if (count <= 0) return OPGEN_OK;
  using Team = Passing<Block, V>;
  return launch_rows<Team>(call, step, count, threads_for(length, Team::together * V), 1);
}

// The longest rows that threads hold, of vectors of V elements.
template <int V>
constexpr int64_t most_held = int64_t{Block::most} * Held<Block, 4, V, false>::part;

// Longer ones stay in more registers of more threads where what is computed is light.
using Long = BlockOf<512>;
template <int V>
constexpr int64_t most_held_long = int64_t{Long::most} * Held<Long, 8, V, true>::part;

// `shortest`: the number of inner points of the shortest pass.
template <typename Lanes, int K, int V, typename Step>
int held_rows_of(const OpgenCall& call, const Step& step, int64_t count, int64_t shortest, int threads, int teams) {
  using Team = Held<Lanes, K, V, false>;
  if (shortest == threads / teams * Team::part) {
    return launch_rows<Held<Lanes, K, V, true>>(call, step, count, threads, teams);
  }
  return launch_rows<Team>(call, step, count, threads, teams);
}

// The same for rows of vectors of V elements.
template <int V, typename Step>
int held_rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length, int64_t shortest) {
  if (count <= 0) return OPGEN_OK;
  if constexpr (Step::launch.light) {
    if (length > most_held<V> && length <= most_held_long<V>) {
      using Team = Held<Long, 8, V, true>;  // rows that are not whole take more instructions than memory takes time
      const int threads = threads_for(length, Team::part, Long::most);
      if (shortest == threads * Team::part) return launch_rows<Team>(call, step, count, threads, 1);
    }
  }
  if (length > most_held<V>) {
    const int threads = Step::launch.once ? Block::most / 2 : Block::most;  // more of a row for each that joins it
    return launch_rows<Passing<Block, V>>(call, step, count, threads, 1);
  }
  if (length <= 16 * V) return held_rows_of<Lanes<4>, 4, V>(call, step, count, shortest, 128, 128 / 4);
  return held_rows_of<Block, 4, V>(call, step, count, shortest, threads_for(length, 4 * V), 1);
}

}  // namespace rt
