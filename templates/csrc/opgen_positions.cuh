// Positions inside kernels: numbers of 32 bits where a call is small, the flattening of loops, places in the batch, and
// what is at a position.
#pragma once

#include "opgen_types.cuh"

namespace rt {

constexpr int max_batch = 6;  // batch dims that are left after merging
constexpr int max_axes = 8;   // declared dims of one tensor

// Kernels that are made for batches of one dim, and for numbers below `small`: positions, the numbers of points and of
// vectors, strides. They are computed with in 32 bits. (Products of two of them are not: a place in memory may be
// further away.) All others are left to the general form.
constexpr int64_t small = int64_t{1} << 31;

template <int rank>
using Number = std::conditional_t<rank == 1, uint32_t, int64_t>;

// Divides numbers below 2^63 by one fixed at launch: a multiplication and a shift. (The compiler's own 64-bit division
// is a subroutine, which costs registers even where it never runs.)
template <int rank>
struct Divider {
  int64_t size = 1;
  uint64_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t size) : size(size) {
    if (size < 1) return;
    while ((uint64_t{1} << shift) < static_cast<uint64_t>(size)) ++shift;
    const auto excess = static_cast<unsigned __int128>((uint64_t{1} << shift) - static_cast<uint64_t>(size));
    factor = static_cast<uint64_t>((excess << 64) / static_cast<uint64_t>(size) + 1);
  }

  OPGEN_DEVICE int64_t quotient(int64_t n) const {
    const auto dividend = static_cast<uint64_t>(n);
    return static_cast<int64_t>((__umul64hi(dividend, factor) + dividend) >> shift);
  }
};
// The same below 2^31.
template <>
struct Divider<1> {
  int64_t size = 1;
  uint32_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t size) : size(size) {
    if (size < 1 || size >= small) return;
    while ((int64_t{1} << shift) < size) ++shift;
    factor = static_cast<uint32_t>((((int64_t{1} << shift) - size) << 32) / size + 1);
  }

  OPGEN_DEVICE int64_t quotient(int64_t n) const {
    const auto dividend = static_cast<uint32_t>(n);
    return (__umulhi(dividend, factor) + dividend) >> shift;
  }
};

// Divides any number by one fixed at launch, and rounds down; by 0, to 0.
struct Divisor {
  int64_t size = 1;
  Divider<1> narrow;  // by its magnitude
  Divider<2> wide;
  int64_t end = 0;  // of what is divided in 32 bits

  Divisor() = default;
  explicit Divisor(int64_t size) : size(size), narrow(size < 0 ? -size : size), wide(size < 0 ? -size : size) {
    if (narrow.size < small) end = small;
  }
};
OPGEN_DEVICE int64_t floordiv(int64_t x, const Divisor& by) {
  const int64_t n = by.size < 0 ? -x : x, sign = n >> 63, magnitude = n ^ sign;  // that of -1 is 0
  const int64_t quotient = magnitude < by.end ? by.narrow.quotient(magnitude) : by.wide.quotient(magnitude);
  return by.size == 0 ? 0 : quotient ^ sign;
}
OPGEN_DEVICE int64_t mod(int64_t x, const Divisor& by) { return by.size == 0 ? 0 : x - floordiv(x, by) * by.size; }

// Splits off the fastest index of a flattened loop nest.
template <int rank>
OPGEN_DEVICE int64_t split(int64_t* rest, const Divider<rank>& divider) {
  const int64_t quotient = divider.quotient(*rest);
  const auto size = static_cast<Number<rank>>(divider.size);
  const auto index = static_cast<Number<rank>>(*rest) - static_cast<Number<rank>>(quotient) * size;
  *rest = quotient;
  return index;
}

// The first point of a vector.
template <int V, int rank>
OPGEN_DEVICE int64_t first_of(int64_t vector) {
  return static_cast<Number<rank>>(vector) * V;
}
// Splits off the fastest index where points are counted in vectors, as the divider is.
template <int V, int rank>
OPGEN_DEVICE int64_t split_first(int64_t* rest, const Divider<rank>& vectors) {
  return first_of<V, rank>(split(rest, vectors));
}

// A place in the batch: one coordinate per merged batch dim.
template <int rank>
struct Place {
  int64_t at[rank];
};

// So many neighbours further on, which there are where the batch has one dim.
template <int rank>
OPGEN_DEVICE Place<rank> beside(Place<rank> place, int at) {
  if constexpr (rank == 1) place.at[0] += at;
  return place;
}

// The batch of a kernel that is made for as many merged dims, or for fewer.
template <int rank>
struct Batch {
  int used = 0;
  int64_t count = 1;
  Divider<rank> sizes[rank];

  OPGEN_DEVICE Place<rank> place(int64_t index) const {
    Place<rank> p;
    OPGEN_UNROLL
    for (int d = rank - 1; d > 0; --d) p.at[d] = d < used ? split(&index, sizes[d]) : 0;
    p.at[0] = index;
    return p;
  }
  // The inverse of `place`.
  OPGEN_DEVICE int64_t index(const Place<rank>& p) const {
    int64_t flat = p.at[0];
    OPGEN_UNROLL
    for (int d = 1; d < rank; ++d) {
      if (d < used) flat = flat * sizes[d].size + p.at[d];
    }
    return flat;
  }
};

// What is at a position of a dim, if its first element is at `first`: with strides in elements, and in bytes. (That is
// one instruction, and said so: a compiler that sees a position in another block than where it comes from multiplies
// all of its 64 bits.)
template <typename T>
OPGEN_DEVICE T* moved(T* first, int64_t position, int64_t stride) {
  return first + position * stride;
}
template <typename T>
OPGEN_DEVICE T* moved(T* first, int64_t position, uint32_t bytes) {
  const auto small_position = static_cast<uint32_t>(position);
#if defined(__CUDA_ARCH__)
  size_t at;
  asm("mad.wide.u32 %0, %1, %2, %3;"
      : "=l"(at)
      : "r"(small_position), "r"(bytes), "l"(__cvta_generic_to_global(first)));
  return static_cast<T*>(__cvta_global_to_generic(at));
#else
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(first) + static_cast<uint64_t>(small_position) * bytes);
#endif
}
// A stride as kernels have it.
template <typename T, int rank>
OPGEN_BOTH constexpr Number<rank> stride_of(int64_t elements) {
  return static_cast<Number<rank>>(rank == 1 ? elements * static_cast<int64_t>(sizeof(T)) : elements);
}

}  // namespace rt
