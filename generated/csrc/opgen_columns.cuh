// Columns: folds across points that are neighbours in memory, or along one point, in two stages of fixed order.
#pragma once

#include "opgen_rt.cuh"

namespace rt {

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

// Whether a kernel has nothing to fold.
template <typename Step>
OPGEN_DEVICE auto is_idle(const Step& step, int) -> decltype(step.idle()) {
  return step.idle();
}
template <typename Step>
OPGEN_DEVICE bool is_idle(const Step&, int64_t) {
  return false;
}
template <int V, typename Whole>
OPGEN_DEVICE bool is_idle(const InVectors<V, Whole>& vectors, int) {
  return is_idle(vectors.step, 0);
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
  if (point < points && !is_idle(step, 0)) {
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

// Second stage: the chunks of a point in a fixed order, by Y threads; X points side by side.
template <int X, int Y, typename Step>
__global__ void __launch_bounds__(X* Y, 1)
    finish_columns(Step step, int64_t points, int64_t chunks, const typename Step::Folds* partial) {
  using Folds = typename Step::Folds;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * X;
  const int64_t point = first + threadIdx.x % X;
  Folds folds;
  if (point < points) {
    int count = 0;
    for (int64_t chunk = threadIdx.x / X; chunk < chunks; chunk += Y) {
      folds.merge(partial[chunk * points + point]);
      if (++count % block_adds == 0) folds.settle();
    }
  }
  folds.finish();
  const auto done = [&](int k, const Folds& joined) {
    if (first + k < points) step.finish(first + k, joined);
  };
  if constexpr (X == 1) {
    join_columns<Y>(&folds, done);
  } else {
    join_columns<X, Y, 1>(&folds, done);
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
template <int X, int Y, int V>
int64_t chunk_count(const OpgenCall& call, int64_t points, int64_t length) {
  constexpr int64_t least = 16, blocks = 8;
  const int64_t wanted = ceil_div(blocks * processors(call), ceil_div(points, X * V));
  const int64_t possible = ceil_div(length, Y * least);
  return wanted < possible ? (wanted < 1 ? 1 : wanted) : (possible < 1 ? 1 : possible);
}

// Whether a block can share so many accumulators.
template <typename Folds>
constexpr bool fit(int count) {
  return sizeof(Folds) * count <= 48 * 1024;
}

// With more than a block can share it has fewer threads, or these have no vectors.
template <int X, int Y, int V, typename Step>
int launch_folds(const OpgenCall& call, const Step& step, int64_t points, int64_t length, int64_t chunks) {
  using Folds = typename Step::Folds;
  if constexpr (!fit<Folds>(X * Y * V) && Y > 1) {
    return launch_folds<X, Y / 2, V>(call, step, points, length, chunks);
  } else if constexpr (!fit<Folds>(X * Y * V) && V > 1) {
    return launch_folds<X, 8, 1>(call, step, points, length, chunks);
  } else {
    auto* partial = static_cast<Folds*>(call.workspace);
    auto kernel = fold_columns<X, Y, V, Step>;
    const int64_t blocks = ceil_div(points, X * V) * chunks;
    OPGEN_LAUNCH(kernel, grid_of(blocks), X * Y, 0, call.stream, step, points, length, chunks, partial);
    return launched();
  }
}
template <int X, int Y, typename Step>
int launch_finish(const OpgenCall& call, const Step& step, int64_t points, int64_t chunks) {
  using Folds = typename Step::Folds;
  if constexpr (!fit<Folds>(X * Y) && Y > 1) {
    return launch_finish<X, Y / 2>(call, step, points, chunks);
  } else {
    const auto* partial = static_cast<const Folds*>(call.workspace);
    auto kernel = finish_columns<X, Y, Step>;
    OPGEN_LAUNCH(kernel, grid_of(ceil_div(points, X)), X * Y, 0, call.stream, step, points, chunks, partial);
    return launched();
  }
}

// What finishes points: made for batches of all kinds, since there is little to do.
template <typename Step>
struct Finishing;
template <template <typename, int> class Part, typename T, int batch_rank>
struct Finishing<Part<T, batch_rank>> {
  using Step = Part<T, max_batch>;
};
template <int V, typename Whole>
struct Finishing<InVectors<V, Whole>> : Finishing<Whole> {};

template <int X, int Y, int V, typename Step>
int launch_columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  int64_t chunks = chunk_count<X, Y, V>(call, points, length);
  const auto size = static_cast<int64_t>(sizeof(typename Step::Folds));
  const int64_t room = call.workspace == nullptr ? 0 : call.workspace_bytes / size;
  if (chunks * points > room) chunks = room / points > 1 ? room / points : 1;
  const int status = launch_folds<X, Y, V>(call, step, points, length, chunks);
  if (chunks == 1 || status != OPGEN_OK) return status;
  using Finish = typename Finishing<Step>::Step;
  return launch_finish<(X > 1 ? 8 : 1), (X > 1 ? 32 : map_threads)>(call, made<Finish>(call), points, chunks);
}

// The threads of a block: side by side where neighbouring points are neighbours in memory (Across), all on one point
// where its inner points are. Those of vectors of points are few: each has much to join.
template <bool Across>
constexpr int column_width = Across ? 32 : 1;
template <bool Across, int V>
constexpr int column_depth = !Across ? 256
                             : V > 1 ? 4
                                     : 8;

// Vectors of V points for each thread.
template <bool Across, int V, typename Step>
int columns(const OpgenCall& call, const Step& step, int64_t points, int64_t length) {
  if (points <= 0) return OPGEN_OK;
  constexpr int side = 128;
  if constexpr (Across && V == 1 && sizeof(typename Step::Folds) * side <= 48 * 1024) {
    if (length <= alone) return launch_columns<side, 1, 1>(call, step, points, length);
  }
  return launch_columns<column_width<Across>, column_depth<Across, V>, V>(call, step, points, length);
}

// Bytes of workspace that `columns` can use for accumulators of `bytes` each; with less it makes fewer chunks.
template <bool Across, int V>
int64_t columns_workspace(const OpgenCall& call, int64_t points, int64_t length, int64_t bytes) {
  if (points <= 0) return 0;
  const int64_t chunks = chunk_count<column_width<Across>, column_depth<Across, V>, V>(call, points, length);
  return chunks == 1 ? 0 : chunks * points * bytes;
}

}  // namespace rt
