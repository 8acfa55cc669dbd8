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
#include "opgen_arguments.cuh"
#include "opgen_fold.cuh"
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

// What a kernel is made for.
template <typename Step>
struct Made {
  static constexpr int rank = 2;
};
template <template <typename, int> class Part, typename T, int batch_rank>
struct Made<Part<T, batch_rank>> {
  static constexpr int rank = batch_rank;
};

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
  } else {
    step.point(i);
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
      step.template flat<V>((static_cast<int64_t>(first) + u * map_threads) * V);
    }
  } else if (blockIdx.x == gridDim.x - 1 && threadIdx.x < rest) {
    step.template flat<1>(static_cast<int64_t>(vectors) * V + threadIdx.x);
  }
}

// Vectors of V neighbours along the last dim of the batch, wherever the tensors have its other dims.
template <int V, typename Step>
__global__ void __launch_bounds__(map_threads, 1) map_places(Step step, Batch<Made<Step>::rank> batch) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * map_threads + threadIdx.x) * V;
  if (first < batch.count) step.template flat<V>(batch.place(first));
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
    step.template row<Team>(row);
  }
}

template <typename Team, typename Step>
int launch_rows(const OpgenCall& call, const Step& step, int64_t rows, int threads, int teams) {
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

// `length` is the number of inner points of the longest pass.
template <typename Step>
int rows(const OpgenCall& call, const Step& step, int64_t count, int64_t length) {
  if (count <= 0) return OPGEN_OK;
  if (length <= alone) return launch_rows<Strided<Lanes<1>>>(call, step, count, map_threads, map_threads);
  return launch_rows<Strided<Block>>(call, step, count, threads_for(length, 64), 1);
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
  if (length > most_held<V>) return launch_rows<Passing<Block, V>>(call, step, count, Block::most, 1);
  if (length <= 16 * V) return held_rows_of<Lanes<4>, 4, V>(call, step, count, shortest, 128, 128 / 4);
  return held_rows_of<Block, 4, V>(call, step, count, shortest, threads_for(length, 4 * V), 1);
}

// --- Columns
// ----------------------------------------------------------------------------------------------------------

// All threads of a block have folded for one point.
template <int Y, typename Folds, typename F>
OPGEN_DEVICE void join_columns(Folds* folds, const F& done) {
  OPGEN_SHARED(Folds, cells, Y);
  const int me = static_cast<int>(threadIdx.x);
  cells[me] = *folds;
  OPGEN_UNROLL
  for (int half = Y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) {
      folds->merge(cells[me + half]);
      cells[me] = *folds;
    }
  }
  if (me == 0) done(0, *folds);
}

// Thread (x, y) has folded for the V points behind x: each of these is left to a thread.
template <int X, int Y, int V, typename Folds, typename F>
OPGEN_DEVICE void join_columns(Folds* folds, const F& done) {
  OPGEN_SHARED(Folds, cells, X * Y * V);
  const int me = static_cast<int>(threadIdx.x);
  OPGEN_UNROLL
  for (int v = 0; v < V; ++v) cells[(me / X * V + v) * X + me % X] = folds[v];
  __syncthreads();
  OPGEN_UNROLL
  for (int k = 0; k < X * V; k += X * Y) {
    if (k + me >= X * V) continue;
    Folds joined = cells[k + me];
    OPGEN_UNROLL
    for (int y = 1; y < Y; ++y) joined.merge(cells[y * V * X + k + me]);
    done((k + me) % X * V + (k + me) / X, joined);
  }
}

// A fold of elements as one of vectors of V, then of what is left.
template <int V, typename Whole>
struct InVectors {
  using Folds = typename Whole::Folds;
  static constexpr auto fields = Whole::fields;
  static constexpr int64_t most = block_adds / V;
  Whole step;
  int64_t vectors;

  OPGEN_DEVICE void fold(int64_t, int64_t inner, Folds* folds) const {
    if (inner < vectors) {
      step.template flat<V>(inner * V, folds);
    } else {
      step.template flat<1>(vectors * (V - 1) + inner, folds);
    }
  }
  OPGEN_DEVICE void finish(int64_t point, const Folds& folds) const { step.finish(point, folds); }
};

// How many inner points a thread may fold before it settles.
template <typename Step>
constexpr int64_t most_points = block_adds;
template <int V, typename Whole>
constexpr int64_t most_points<InVectors<V, Whole>> = InVectors<V, Whole>::most;

// What a kernel folds for V neighbouring points at an inner point.
template <int V, typename Step>
OPGEN_DEVICE void fold_at(const Step& step, int64_t point, int64_t inner, typename Step::Folds* folds) {
  if constexpr (has_rows<Step>) {
    step.template fold<V>(point, inner, folds);
  } else {
    step.fold(point, inner, folds);
  }
}

// First stage. A block folds one chunk of the inner points for X times V outer points; with one chunk it finishes them.
template <int X, int Y, int V, typename Step>
__global__ void __launch_bounds__(X* Y, 1) fold_columns(Step step, NumberOf<Step> points, NumberOf<Step> length,
                                                        NumberOf<Step> chunks, typename Step::Folds* partial) {
  using N = NumberOf<Step>;
  constexpr auto most = static_cast<N>(most_points<Step> * Y);
  const N tiles = (points + X * V - 1) / (X * V);
  const N tile = blockIdx.x % tiles;
  const N chunk = blockIdx.x / tiles;
  const N point = (tile * X + threadIdx.x % X) * V;
  const N step_length = (length + chunks - 1) / chunks;
  const N begin = chunk * step_length;
  const N end = begin + step_length < length ? begin + step_length : length;
  typename Step::Folds folds[V];
  if (point < points) {
    N i = begin + threadIdx.x / X;
    for (N stop = begin; i < end;) {
      stop = stop + most < end ? stop + most : end;
      for (; i < stop; i += Y) fold_at<V>(step, point, i, folds);
      if (i >= end) break;
      OPGEN_UNROLL
      for (int v = 0; v < V; ++v) folds[v].settle();
    }
  }
  if (V == 1 || step_length > most) {  // else nothing was settled
    OPGEN_UNROLL
    for (int v = 0; v < V; ++v) folds[v].finish();
  }
  const auto done = [&](int k, const typename Step::Folds& joined) {
    const N own = tile * (X * V) + k;
    if (own >= points) return;
    if (chunks == 1) {
      step.finish(own, joined);
    } else {
      partial[static_cast<int64_t>(chunk) * points + own] = joined;
    }
  };
  if constexpr (X == 1) {
    join_columns<Y>(folds, done);
  } else {
    join_columns<X, Y, V>(folds, done);
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

// The same where chunks are many: a block for each point. What it shares fits into 48 KiB.
template <typename Folds>
OPGEN_BOTH constexpr int finishing_threads(int threads = map_threads) {
  return sizeof(Folds) * threads <= 48 * 1024 ? threads : finishing_threads<Folds>(threads / 2);
}
template <typename Step>
__global__ void __launch_bounds__(map_threads, 1)
    finish_columns_together(Step step, int64_t chunks, int64_t points, const typename Step::Folds* partial) {
  using Folds = typename Step::Folds;
  constexpr int threads = finishing_threads<Folds>();
  const int64_t point = blockIdx.x;
  Folds folds;
  int count = 0;
  for (int64_t chunk = threadIdx.x; chunk < chunks; chunk += threads) {
    folds.merge(partial[chunk * points + point]);
    if (++count % block_adds == 0) folds.settle();
  }
  folds.finish();
  join_columns<threads>(&folds, [&](int, const Folds& joined) { step.finish(point, joined); });
}

inline int64_t processors(const OpgenCall& call) {
  if (call.processors > 0) return call.processors;
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  if (cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return 1;
  return count > 0 ? count : 1;
}

// How many chunks: enough blocks to fill the device, and at least `least` inner points for each thread. A thread that
// has vectors of points asks for as much with fewer blocks.
template <int X, int Y, int V>
int64_t chunk_count(const OpgenCall& call, int64_t points, int64_t length) {
  constexpr int64_t least = 16, blocks = V > 1 ? 2 : 8;
  const int64_t wanted = ceil_div(blocks * processors(call), ceil_div(points, X * V));
  const int64_t possible = ceil_div(length, Y * least);
  return wanted < possible ? (wanted < 1 ? 1 : wanted) : (possible < 1 ? 1 : possible);
}

// A block shares what fits into 48 KiB: with many folds it has fewer threads, or these have no vectors.
template <int X, int Y, int V, typename Step>
int launch_columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  using Folds = typename Step::Folds;
  constexpr bool fits = sizeof(Folds) * X * Y * V <= 48 * 1024;
  if constexpr (!fits && Y > 1) {
    return launch_columns<X, Y / 2, V>(call, step, points, length);
  } else if constexpr (!fits && V > 1) {
    return launch_columns<X, 8, 1>(call, step, points, length);
  } else {
    int64_t chunks = chunk_count<X, Y, V>(call, points, length);
    const int64_t room = call.workspace == nullptr ? 0 : call.workspace_bytes / static_cast<int64_t>(sizeof(Folds));
    if (chunks * points > room) chunks = room / points > 1 ? room / points : 1;
    auto* partial = static_cast<Folds*>(call.workspace);
    auto kernel = fold_columns<X, Y, V, Step>;
    const int64_t blocks = ceil_div(points, X * V) * chunks;
    OPGEN_LAUNCH(kernel, grid_of(blocks), X * Y, 0, call.stream, step, points, length, chunks, partial);
    if (chunks == 1) return launched();
    const int status = launched();
    if (status != OPGEN_OK) return status;
    const Folds* done = partial;
    if (chunks > block_adds && points <= max_grid) {
      constexpr int threads = finishing_threads<Folds>();
      const auto each = static_cast<unsigned>(points);
      OPGEN_LAUNCH(finish_columns_together<Step>, each, threads, 0, call.stream, step, chunks, points, done);
      return launched();
    }
    const unsigned grid = grid_of(ceil_div(points, map_threads));
    OPGEN_LAUNCH(finish_columns<Step>, grid, map_threads, 0, call.stream, step, points, chunks, done);
    return launched();
  }
}

// The threads of a block: side by side where neighbouring points are neighbours in memory (Across), all on one point
// where its inner points are.
template <bool Across>
constexpr int column_width = Across ? 32 : 1;
template <bool Across>
constexpr int column_depth = Across ? 8 : 256;

// Vectors of V points for each thread.
template <bool Across, int V, typename Step>
int columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  if (points <= 0) return OPGEN_OK;
  constexpr int side = 128;
  if constexpr (Across && V == 1 && sizeof(typename Step::Folds) * side <= 48 * 1024) {
    if (length <= alone) return launch_columns<side, 1, 1>(call, step, points, length);
  }
  return launch_columns<column_width<Across>, column_depth<Across>, V>(call, step, points, length);
}

// Bytes of workspace that `columns` can use for accumulators of `bytes` each; with less it makes fewer chunks.
template <bool Across, int V>
int64_t columns_workspace(const OpgenCall& call, int64_t points, int64_t length, int64_t bytes) {
  if (points <= 0) return 0;
  const int64_t chunks = chunk_count<column_width<Across>, column_depth<Across>, V>(call, points, length);
  return chunks == 1 ? 0 : chunks * points * bytes;
}

}  // namespace rt
