// Scatters: what several threads add to one place, or take the extremes of.
#pragma once

#include "opgen_types.cuh"

namespace rt {

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
