// What loops come to in a while, asked for ahead. No processor guesses where the next row stands that is named by a
// position read from data, nor goes on from run to run where these are far apart: each would be waited for.
#pragma once

#include "opgen_cpu_memory.h"

namespace rt {
inline namespace OPGEN_SPACE {

constexpr int64_t under_way = 8192;  // bytes that are asked for at a time

// How many runs of so many bytes are under way.
OPGEN_INLINE int64_t runs_ahead(int64_t bytes) {
  constexpr int64_t most = 32;
  if (bytes < under_way / most) return most;
  return bytes < under_way ? under_way >> (63 - __builtin_clzll(static_cast<uint64_t>(bytes))) : 1;
}
template <typename T>
OPGEN_INLINE void ask(const Tensor<T>& tensor, int64_t at, int64_t size) {
  constexpr int64_t line = 64;  // bytes of a cache line
  const int64_t element = bytes_of(tensor), bytes = size * element < under_way ? size * element : under_way;
  const char* run = static_cast<const char*>(tensor.data) + at * element;
  for (int64_t b = 0; b < bytes; b += line) __builtin_prefetch(run + b);
}

// What a row goes on to behind a run, where it is computed with for so long that no processor goes on by itself.
template <typename T>
OPGEN_INLINE void ask_next(const Tensor<T>& tensor, int64_t at, int64_t along, int64_t size) {
  constexpr int64_t next = 4096;  // bytes
  if (along == 1 && tensor.data != nullptr) ask(tensor, at + next / bytes_of(tensor), size);
}

// What a map stores behind a run, where its runs look for a while where they stand. Numbers of 16 bits are half as many
// lines, which come in time.
template <typename T>
OPGEN_INLINE void ask_to_store(const Tensor<T>& tensor, int64_t at, int64_t along, int64_t size) {
  if (!is_stored<T> && !tensor.narrow) ask_next(tensor, at, along, size);
}

// Rows that positions name.
struct Ahead {
  const int64_t* positions;
  int64_t step = 0;  // from one to the next that the loops come to
  int64_t last = 0;  // of them in memory

  // `loops` move along an access to the positions, the innermost first.
  template <typename... L>
  Ahead(const Tensor<int64_t>& tensor, int access, const L&... loops)
      : positions(static_cast<const int64_t*>(tensor.data)) {
    ((step = step != 0 ? step : loops.innermost_step(access)), ...);
    for (int64_t d = 0; d < tensor.source.ndim; ++d) last += (tensor.source.sizes[d] - 1) * tensor.source.strides[d];
  }
  // Asks for what stands at a run of points of a row, as now at `at`, in the row that is named some rows after `now`.
  template <typename T>
  OPGEN_INLINE void row(const Tensor<T>& tensor, int64_t axis, int64_t at, int64_t along, int64_t size,
                        int64_t now) const {
    const int64_t then = now + runs_ahead(size * bytes_of(tensor)) * step;
    if (along != 1 || step == 0 || then < 0 || then > last) return;
    const int64_t place = positions[then];
    if (within(place, tensor.size(axis))) ask(tensor, at + place * tensor.stride(axis), size);
  }
};

// Runs of columns, of which a loop comes to the same ones in the next row, and then to those beside them.
struct Apart {
  int64_t step;  // from row to row; 0 where all of them are near
  int64_t rows;

  template <typename T, typename L>
  Apart(const Tensor<T>& tensor, int access, const L& loop) : step(loop.innermost_step(access)), rows(loop.count) {
    constexpr int64_t near = int64_t{1} << 20;  // bytes that a core keeps at hand
    if (rows * step * bytes_of(tensor) < near) step = 0;
  }
  // Rows that are a power of two apart share few places of a cache, so that few can be under way.
  template <typename T>
  OPGEN_INLINE void run(const Tensor<T>& tensor, int64_t row, int64_t at, int64_t along, int64_t size) const {
    constexpr int64_t most = 8;
    if (step <= size || along != 1) return;
    const int64_t wish = runs_ahead(size * bytes_of(tensor)), ahead = wish < most ? wish : most;
    ask(tensor, row + ahead < rows ? at + ahead * step : at + (ahead - rows) * step + size, size);
  }
};

}  // namespace OPGEN_SPACE
}  // namespace rt
