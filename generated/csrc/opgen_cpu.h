// The CPU runtime of the generated kernels: no torch header, so that a kernel file compiles in a moment and once per
// instruction set. A kernel file describes what happens at a point; the loops, which hand out neighbouring points as
// contiguous runs that the compiler can vectorise, are here.
#pragma once

#include <algorithm>

#include "opgen_abi.h"
#include "opgen_cpu_types.h"
#include "opgen_near.h"
#include "opgen_step.h"

namespace rt {
inline namespace OPGEN_SPACE {

#if defined(OPGEN_SHORT_RUNS)   // where a run has many arrays, which are to stay in the nearest cache
constexpr int64_t block = 256;  // points per run
#else
constexpr int64_t block = 1024;
#endif
constexpr int max_dims = 16;      // dims of one nest of loops after merging
constexpr int64_t grain = 16384;  // elements worth a thread
constexpr int64_t shortest_piece = 16;

// Stands in the table of an operator that torch computes alone.
template <typename opmath_t>
int no_step(const OpgenCall&, OpgenHost&) {
  return OPGEN_OK;
}

OPGEN_NOINLINE inline int64_t batch_count(const OpgenCall& call) {
  int64_t count = 1;
  for (int64_t d = 0; d < call.batch_ndim; ++d) count *= call.batch[d];
  return count;
}

// An argument of a call; strides along its declared positions, and along the batch of the operator. Elements are of
// type T, or 16-bit floats that are computed with as T. What is stored to a tensor without memory is gone.
template <typename T>
struct Tensor {
  void* data;
  const OpgenTensor& source;
  int64_t batch_at;
  int64_t batch_rank;
  bool narrow;  // not as T in memory

  Tensor(const OpgenCall& call, int number, int64_t rank, int64_t batch_at = -1)
      : data(call.tensors[number]->data),
        source(*call.tensors[number]),
        batch_at(batch_at),
        batch_rank(batch_at < 0 ? 0 : source.ndim - (rank - 1)),
        narrow(data == nullptr ||
               (sizeof(T) != sizeof(uint16_t) && (source.dtype == OPGEN_FLOAT16 || source.dtype == OPGEN_BFLOAT16))) {}

  int64_t axis(int64_t position) const {
    return batch_at < 0 || position < batch_at ? position : position + batch_rank - 1;
  }
  int64_t stride(int64_t position) const { return source.strides[axis(position)]; }
  int64_t size(int64_t position) const { return source.sizes[axis(position)]; }
  // The stride along dim `d` of the batch of the call; 0 where this tensor broadcasts.
  OPGEN_NOINLINE int64_t batch_stride(const OpgenCall& call, int64_t d) const {
    const int64_t own = d - (call.batch_ndim - batch_rank);
    return batch_at < 0 || own < 0 || source.sizes[batch_at + own] == 1 ? 0 : source.strides[batch_at + own];
  }
};

// A tensor that holds its own places in the batch, and so needs no memory: where it is read is what it holds.
struct Places {
  int64_t batch_stride(const OpgenCall& call, int64_t d) const {
    int64_t stride = 1;
    for (int64_t k = d + 1; k < call.batch_ndim; ++k) stride *= call.batch[k];
    return stride;
  }
};

// A run of neighbouring points: `at` is where each access stands, in elements, `step` how far it moves per point. Both
// are moved a vector at a time and read one by one: of a vector across two lines, each would wait until all that was
// stored before has gone to the cache.
template <int Accesses>
struct Run {
  int64_t first;  // its points are counted from here
  int64_t size;
  alignas(64) int64_t at[Accesses];
  alignas(64) int64_t step[Accesses];
  int64_t* index;  // of each merged dim at the first point

  int64_t of(int access, int64_t i) const { return at[access] + i * step[access]; }
};

// Nested loops with the strides of every access of a kernel, neighbouring dims merged where all accesses allow.
template <int Accesses>
struct Loops {
  int rank = 0;
  int64_t count = 1;
  int64_t sizes[max_dims];
  int64_t steps[max_dims][Accesses];
  int64_t next[Accesses] = {};
  bool fixed[max_dims];
  int dim_of[max_dims];  // of the n-th loop whose index is used as a number
  int numbered = 0;
  int64_t piece = 0;   // no run crosses a multiple of this along the last dim
  int64_t period = 1;  // positions that are even in pieces move evenly between points this far apart

  OPGEN_NOINLINE void dim(int64_t size, const int64_t (&step)[Accesses], bool is_fixed = false) {
    count *= size;
    if (is_fixed) dim_of[numbered++] = rank;
    if (size == 1 && !is_fixed) return;
    bool merges = rank > 0 && !is_fixed && !fixed[rank - 1];
    for (int a = 0; a < Accesses && merges; ++a) merges = steps[rank - 1][a] == step[a] * size;
    if (!merges) {
      sizes[rank] = 1;
      fixed[rank++] = is_fixed;
    }
    sizes[rank - 1] *= size;
    for (int a = 0; a < Accesses; ++a) steps[rank - 1][a] = step[a];
  }
  // The same with steps that were set one by one.
  void step(int access, int64_t size) { next[access] = size; }
  void dim_of_steps(int64_t size, bool is_fixed = false) {
    dim(size, next, is_fixed);
    for (int a = 0; a < Accesses; ++a) next[a] = 0;
  }
  // Runs end where the last index is a multiple of `size`, unless they would become too short for that.
  void pieces(int64_t size) { (size < shortest_piece ? period : piece) = size; }
  template <typename... T>
  void batch(const OpgenCall& call, T... tensors) {
    for (int64_t d = 0; d < call.batch_ndim; ++d) dim(call.batch[d], {batch_stride(call, tensors, d)...});
  }
  template <typename Where>
  static int64_t batch_stride(const OpgenCall& call, const Where* tensor, int64_t d) {
    return tensor->batch_stride(call, d);
  }
  static int64_t batch_stride(const OpgenCall&, decltype(nullptr), int64_t) { return 0; }

  // Hands out the points [begin, end) as runs of at most Size points, on top of where the accesses already stand.
  template <int64_t Size, typename Body>
  OPGEN_INLINE void runs(int64_t begin, int64_t end, const int64_t* base, const Body& body) const {
    if (begin >= end) return;
    Run<Accesses> run;
    int64_t index[max_dims];
    run.index = index;
    const int last = rank - 1;
    int64_t start[Accesses];
    for (int a = 0; a < Accesses; ++a) start[a] = base == nullptr ? 0 : base[a];
    index[0] = 0;
    if (begin > 0 || rank > 1) seek(start, index, begin);
    for (int a = 0; a < Accesses; ++a) run.at[a] = start[a];
    for (int a = 0; a < Accesses; ++a) run.step[a] = rank == 0 ? 0 : steps[last][a];
    run.size = 1;
    for (int64_t i = begin; i < end; i += run.size) {
      run.first = i;
      if constexpr (Size > 1) {
        run.size = end - i < Size ? end - i : Size;
        if (rank > 0 && sizes[last] - index[last] < run.size) run.size = sizes[last] - index[last];
        if (piece > 0 && piece - index[last] % piece < run.size) run.size = piece - index[last] % piece;
      }
      body(run);
      if (rank == 0) continue;
      if (Size > 1 && base == nullptr && last > 0 && run.size == sizes[last]) {  // a row in one run
        for (int a = 0; a < Accesses; ++a) run.at[a] += steps[last - 1][a];
      } else {
        index[last] += run.size;
        for (int a = 0; a < Accesses; ++a) run.at[a] += run.size * steps[last][a];
        if (last <= 0 || index[last] != sizes[last]) continue;
        index[last] = 0;
        for (int a = 0; a < Accesses; ++a) run.at[a] += steps[last - 1][a] - sizes[last] * steps[last][a];
      }
      ++index[last - 1];
      if (last > 1 && index[last - 1] == sizes[last - 1]) moved(run, [&](int64_t* at) { carry(at, index); });
    }
  }
  // Where a run stands is in registers; what moves it far is a function of its own, which is given copies.
  template <typename Move>
  static OPGEN_INLINE void moved(Run<Accesses>& run, const Move& move) {
    int64_t at[Accesses];
    for (int a = 0; a < Accesses; ++a) at[a] = run.at[a];
    move(at);
    for (int a = 0; a < Accesses; ++a) run.at[a] = at[a];
  }
  // Apart from the loop over runs, which short rows are alone in.
  OPGEN_NOINLINE void seek(int64_t* at, int64_t* index, int64_t begin) const {
    for (int d = rank - 1; d >= 0; --d) {
      index[d] = begin == 0 ? 0 : begin % sizes[d];  // a division takes as long as a short row
      if (begin == 0) continue;
      begin /= sizes[d];
      for (int a = 0; a < Accesses; ++a) at[a] += index[d] * steps[d][a];
    }
  }
  OPGEN_NOINLINE void carry(int64_t* at, int64_t* index) const {
    for (int d = rank - 2; d > 0 && index[d] == sizes[d]; --d) {
      index[d] = 0;
      ++index[d - 1];
      for (int a = 0; a < Accesses; ++a) at[a] += steps[d - 1][a] - sizes[d] * steps[d][a];
    }
  }

  // How far an access moves with the innermost loop that moves it.
  OPGEN_NOINLINE int64_t innermost_step(int access) const {
    for (int d = rank - 1; d >= 0; --d) {
      if (steps[d][access] != 0) return steps[d][access];
    }
    return 0;
  }
  // Whether the n-th numbered loop stands still along a run.
  bool still(int number) const { return dim_of[number] != rank - 1; }
  // The index of the n-th numbered loop at point i of a run.
  int64_t index(const Run<Accesses>& run, int number, int64_t i) const {
    const int d = dim_of[number];
    return run.index[d] + (d == rank - 1 ? i : 0);
  }
};

// A body captures numbers by value, and runs as a copy that nobody else knows: what it stores can't change them, so
// that they stay in registers.
template <typename Body>
OPGEN_NOINLINE OPGEN_FLATTEN void range_of(int64_t begin, int64_t end, void* body) {
  const Body own = *static_cast<const Body*>(body);
  own(begin, end);
}
template <typename Part, typename Body>
OPGEN_NOINLINE OPGEN_FLATTEN void chunk_of(int64_t begin, int64_t end, const Body& body, Part& part) {
  const Body own = body;
  Part here;
  own(begin, end, here);
  part = here;
}

// Shares points out among threads; `work` is what one point costs in elements, `least` how many stay together.
template <typename Body>
void parallel(const OpgenHost& host, int64_t count, int64_t work, const Body& body, int64_t least = 1) {
  if (count <= 0) return;
  least = work >= grain ? least : std::max(least, grain / std::max(work, int64_t{1}));
  void* const given = const_cast<void*>(static_cast<const void*>(&body));
  if (count <= least) {
    range_of<Body>(0, count, given);
  } else {
    host.parallel(count, least, range_of<Body>, given);
  }
}

// The same where neighbours store to one line of a cache, which threads would take from each other.
template <typename Body>
void parallel_lines(const OpgenHost& host, int64_t count, int64_t work, const Body& body) {
  parallel(host, count, work, body, shortest_piece);
}

// Folds the points of a loop in chunks of fixed size, one after the other within a chunk, and the chunks in order.
template <typename Part, typename Body>
void chunked(const OpgenHost& host, int64_t count, Part& total, const Body& body) {
  const int64_t chunk = 4 * grain;
  const int64_t chunks = (count + chunk - 1) / chunk;
  if (chunks <= 1) return chunk_of(0, count, body, total);
  Part* parts = new Part[chunks];
  parallel(host, chunks, chunk, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c)
      chunk_of(c * chunk, c + 1 < chunks ? (c + 1) * chunk : count, body, parts[c]);
  });
  for (int64_t c = 0; c < chunks; ++c) total.merge(parts[c]);
  delete[] parts;
}

// One of two values, by a condition that is the same at all lanes: a choice between branches would keep a loop scalar.
template <typename T>
OPGEN_INLINE T blend(bool condition, T x, T y) {
  using Wide = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
  using Bits = std::conditional_t<sizeof(T) == sizeof(uint16_t), uint16_t, Wide>;  // of what is moved alone
  static_assert(sizeof(T) == sizeof(Bits));
  const auto mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
  Bits a, b;
  memcpy(&a, &x, sizeof(a));
  memcpy(&b, &y, sizeof(b));
  a = static_cast<Bits>((a & mask) | (b & ~mask));
  memcpy(&x, &a, sizeof(x));
  return x;
}

// Where everything stands when there is no outer loop.
struct Origin {
  int64_t at[64];
};
constexpr Origin origin = {};

// Calls body(i) for a run of points.
template <typename Body>
OPGEN_INLINE void each(int64_t size, const Body& body) {
#pragma GCC ivdep
  for (int64_t i = 0; i < size; ++i) body(i);
}

// The same for a row that may be short, where nothing is read that is stored: a last vector that would not be full
// takes points of the one before it again.
template <int Lanes, typename Body>
OPGEN_INLINE void each_of_row(int64_t size, const Body& body) {
  if (size < Lanes) {
    if constexpr (Lanes > 8) return each_of_row<Lanes / 2>(size, body);
    return each(size, body);
  }
  for (int64_t i = 0; i < size; i += Lanes) {
    const int64_t first = size - i < Lanes ? size - Lanes : i;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t lane = 0; lane < Lanes; ++lane) body(first + lane);
  }
}

// The same where points may meet in one place.
template <typename Body>
OPGEN_INLINE void each_in_order(int64_t size, const Body& body) {
  for (int64_t i = 0; i < size; ++i) body(i);
}

// Calls body(i, lane) for a vector of points at i, whose lanes begin at `first`. (Unrolled before it is vectorised, the
// loop would stay scalar where a fold chooses.)
template <int Lanes, typename Body>
OPGEN_INLINE void lanes_at(int64_t i, int first, const Body& body) {
#pragma GCC ivdep
#pragma GCC unroll 1
  for (int lane = 0; lane < Lanes; ++lane) body(i + lane, first + lane);
}
// Calls body(i, lane) for a run of points, lane by lane: each lane folds into a place of its own, and vectors into two
// such places by turns, so that they do not wait for each other.
template <int Lanes, typename scalar_t, typename Body>
OPGEN_INLINE void lanes(int64_t size, const Body& body) {
  int64_t i = 0;
  for (; i + 2 * Lanes <= size; i += 2 * Lanes) {
    if constexpr (is_stored<scalar_t>) {  // of these, vectors have two for each of the others
      lanes_at<2 * Lanes>(i, 0, body);
    } else {
      lanes_at<Lanes>(i, 0, body);
      lanes_at<Lanes>(i + Lanes, Lanes, body);
    }
  }
  if (i + Lanes <= size) {
    lanes_at<Lanes>(i, 0, body);
    i += Lanes;
  }
  int lane = 0;
  if constexpr (Lanes > 8) {  // of a row of few points this is most of what there is
    if (i + Lanes / 2 <= size) {
      lanes_at<Lanes / 2>(i, 0, body);
      i += Lanes / 2;
      lane = Lanes / 2;
    }
    if (i + Lanes / 4 <= size) {
      lanes_at<Lanes / 4>(i, lane, body);
      i += Lanes / 4;
      lane += Lanes / 4;
    }
  }
  constexpr int few = Lanes > 8 ? Lanes / 4 : Lanes;
  const int64_t left = (size - i) & (few - 1);  // all of them: a compiler sees how few there are, and makes no vectors
  for (int64_t k = 0; k < left; ++k) body(i + k, lane + static_cast<int>(k));
}

inline int status(const OpgenHost& host) { return host.bad.tensor < 0 ? int{OPGEN_OK} : int{OPGEN_BAD_INDEX}; }

}  // namespace OPGEN_SPACE
}  // namespace rt

#include "opgen_cpu_add.h"
#include "opgen_cpu_ahead.h"
#include "opgen_cpu_comb.h"
#include "opgen_cpu_fold.h"
#include "opgen_cpu_line.h"
#include "opgen_cpu_memory.h"
#include "opgen_cpu_place.h"
#include "opgen_cpu_rest.h"
#include "opgen_cpu_rows.h"
#include "opgen_cpu_tile.h"
#include "opgen_cpu_windows.h"
