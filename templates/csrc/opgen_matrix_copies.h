// What products of matrices are made of where vectors of 64 bytes are: elements by the vector, and copies of a matrix
// in which what a tile needs next stands side by side. Included by opgen_matrices.cpp alone.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#define OPGEN_WIDE __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,fma,f16c")))

namespace opgen {

namespace {

constexpr int vector_bytes = 64;
constexpr int tile_vectors = 2;
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// What elements are summed in, what a copy of them holds, and how many inner places are side by side in one of these:
// a processor multiplies and adds up pairs of bfloat16 as one.
template <typename scalar_t>
struct KindOf {
  using sum = scalar_t;
  using unit = scalar_t;
  static constexpr int places = 1;
};
template <>
struct KindOf<Half> {
  using sum = float;
  using unit = float;
  static constexpr int places = 1;
};
template <>
struct KindOf<BFloat16> {
  using sum = float;
  using unit = int32_t;
  static constexpr int places = 2;
};
template <typename scalar_t>
using Sum = typename KindOf<scalar_t>::sum;
template <typename scalar_t>
using Unit = typename KindOf<scalar_t>::unit;
template <typename scalar_t>
constexpr int places = KindOf<scalar_t>::places;
template <typename scalar_t>
constexpr bool is_summed = std::is_same_v<scalar_t, Sum<scalar_t>>;
// Whether a unit can be read where its elements stand.
template <typename scalar_t>
constexpr bool is_unit = sizeof(Unit<scalar_t>) == places<scalar_t> * sizeof(scalar_t);

template <typename item_t>
struct VectorOf {
  typedef item_t type __attribute__((vector_size(vector_bytes), may_alias));
};
template <typename item_t>
using Vector = typename VectorOf<item_t>::type;
template <typename item_t>
constexpr int lanes = vector_bytes / sizeof(item_t);
template <typename scalar_t>
constexpr int width = tile_vectors * lanes<Sum<scalar_t>>;

int64_t parts_of(int64_t count, int64_t size) { return (count + size - 1) / size; }
int64_t rounded_up(int64_t count, int64_t step) { return parts_of(count, step) * step; }

OPGEN_WIDE inline float widened(float x) { return x; }
OPGEN_WIDE inline double widened(double x) { return x; }
OPGEN_WIDE inline float widened(Half x) { return _cvtsh_ss(x.bits); }
OPGEN_WIDE inline float widened(BFloat16 x) {
  return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int32_t>(x.bits) << 16)));
}

// Functions that take no mask read what is not set, as GCC 12 says of its own headers.
constexpr __mmask16 every = 0xffff;

// As many elements as a vector of sums has lanes, of those lanes that a mask names.
OPGEN_WIDE inline Vector<float> loaded(const float* from, uint32_t mask) {
  return (Vector<float>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
}
OPGEN_WIDE inline Vector<double> loaded(const double* from, uint32_t mask) {
  return (Vector<double>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
}
OPGEN_WIDE inline Vector<float> loaded(const Half* from, uint32_t mask) {
  return (Vector<float>)_mm512_maskz_cvtph_ps(every, _mm256_maskz_loadu_epi16(static_cast<__mmask16>(mask), from));
}
OPGEN_WIDE inline Vector<float> loaded(const BFloat16* from, uint32_t mask) {
  const __m512i wide = _mm512_maskz_cvtepu16_epi32(every, _mm256_maskz_loadu_epi16(static_cast<__mmask16>(mask), from));
  return (Vector<float>)_mm512_maskz_slli_epi32(every, wide, 16);
}
OPGEN_WIDE inline void store(float* to, uint32_t mask, Vector<float> sums) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), (__m512)sums);
}
OPGEN_WIDE inline void store(double* to, uint32_t mask, Vector<double> sums) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m512d)sums);
}
OPGEN_WIDE inline void store(Half* to, uint32_t mask, Vector<float> sums) {
  const __m256i bits = _mm512_maskz_cvtps_ph(every, (__m512)sums, _MM_FROUND_TO_NEAREST_INT);
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(mask), bits);
}
OPGEN_WIDE inline void store(BFloat16* to, uint32_t mask, Vector<float> sums) {
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(mask), (__m256i)_mm512_maskz_cvtneps_pbh(every, (__m512)sums));
}

// Twice as many, which is a whole vector of them.
OPGEN_WIDE inline void store(Half* to, uint32_t mask, Vector<float> sums, Vector<float> more) {
  const __m256i first = _mm512_maskz_cvtps_ph(every, (__m512)sums, _MM_FROUND_TO_NEAREST_INT);
  const __m256i second = _mm512_maskz_cvtps_ph(every, (__m512)more, _MM_FROUND_TO_NEAREST_INT);
  const __m512i half = _mm512_maskz_inserti64x4(0xff, _mm512_setzero_si512(), first, 0);
  _mm512_mask_storeu_epi16(to, mask, _mm512_maskz_inserti64x4(0xff, half, second, 1));
}
OPGEN_WIDE inline void store(BFloat16* to, uint32_t mask, Vector<float> sums, Vector<float> more) {
  _mm512_mask_storeu_epi16(to, mask, (__m512i)_mm512_maskz_cvtne2ps_pbh(~0u, (__m512)more, (__m512)sums));
}

// As many units as a vector has lanes, of elements side by side.
template <typename scalar_t>
OPGEN_WIDE inline Vector<Unit<scalar_t>> units(const scalar_t* from) {
  if constexpr (is_unit<scalar_t>) {
    return (Vector<Unit<scalar_t>>)_mm512_loadu_si512(from);
  } else {
    return loaded(from, ~0u);
  }
}
OPGEN_WIDE inline void store(int32_t* to, uint32_t mask, Vector<int32_t> pairs) {
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), (__m512i)pairs);
}
// One unit of elements that are apart, of which `left` are there.
template <typename scalar_t>
OPGEN_WIDE inline Unit<scalar_t> unit(const scalar_t* from, int64_t apart, int64_t left) {
  if constexpr (places<scalar_t> == 1) {
    return widened(*from);
  } else {
    return static_cast<int32_t>(from->bits | (left > 1 ? static_cast<uint32_t>(from[apart].bits) << 16 : 0u));
  }
}

// The lanes of two vectors in another order; those of the second one are numbered behind those of the first.
OPGEN_WIDE inline __m512i chosen(__m512i x, __m512i order, __m512i y, int32_t) {
  return _mm512_permutex2var_epi32(x, order, y);
}
OPGEN_WIDE inline __m512i chosen(__m512i x, __m512i order, __m512i y, int64_t) {
  return _mm512_permutex2var_epi64(x, order, y);
}

// A step of turning over as many vectors as one has lanes: what is `Apart` lanes from the diagonal changes sides.
template <typename unit_t, int Apart>
OPGEN_WIDE inline void exchange(Vector<unit_t>* rows) {
  constexpr int count = lanes<unit_t>;
  using order_t = std::conditional_t<sizeof(unit_t) == 4, int32_t, int64_t>;
  Vector<order_t> upper, lower;
  for (int lane = 0; lane < count; ++lane) {
    upper[lane] = (lane & Apart) != 0 ? count + (lane ^ Apart) : lane;
    lower[lane] = (lane & Apart) != 0 ? count + lane : lane ^ Apart;
  }
#pragma GCC unroll 16
  for (int row = 0; row < count; ++row) {
    if ((row & Apart) != 0) continue;
    const __m512i x = (__m512i)rows[row], y = (__m512i)rows[row + Apart];
    rows[row] = (Vector<unit_t>)chosen(x, (__m512i)upper, y, order_t{});
    rows[row + Apart] = (Vector<unit_t>)chosen(x, (__m512i)lower, y, order_t{});
  }
}
template <typename unit_t>
OPGEN_WIDE inline void turn_over(Vector<unit_t>* rows) {
  if constexpr (lanes<unit_t> == 16) exchange<unit_t, 8>(rows);
  exchange<unit_t, 4>(rows);
  exchange<unit_t, 2>(rows);
  exchange<unit_t, 1>(rows);
}

// The first lanes, as many as are left.
inline uint32_t first_lanes(int64_t left) { return left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1; }

// Bits of up to 16 elements side by side, each with room for another one.
OPGEN_WIDE inline __m512i paired(const BFloat16* from, uint32_t mask) {
  const auto lanes = static_cast<__mmask16>(mask);
  return _mm512_maskz_cvtepu16_epi32(every, _mm256_maskz_loadu_epi16(lanes, from));
}

// A vector of a row whose elements lie side by side; of pairs, this row and the next one by turns.
template <typename scalar_t>
OPGEN_WIDE inline Vector<Unit<scalar_t>> row_units(const scalar_t* from, uint32_t mask, int64_t apart, int64_t left) {
  if constexpr (places<scalar_t> == 1) {
    return loaded(from, mask);
  } else {
    const __m512i next = left > 1 ? paired(from + apart, mask) : _mm512_setzero_si512();
    return (Vector<int32_t>)_mm512_or_si512(paired(from, mask), _mm512_maskz_slli_epi32(every, next, 16));
  }
}

// Copies up to `Width` lines of `inner` elements: `Width` units side by side for each inner place or pair of them. What
// stands for lines that are missing is read and goes nowhere.
template <typename scalar_t, int Width>
OPGEN_WIDE void copy(const scalar_t* from, int64_t line, int64_t apart, int64_t count, int64_t inner,
                     Unit<scalar_t>* to) {
  using unit_t = Unit<scalar_t>;
  constexpr int step = places<scalar_t>, vector = lanes<unit_t>;
  int64_t k = 0;
  if (line == 1) {
    for (; k < inner; k += step) {
#pragma GCC unroll 2
      for (int64_t first = 0; first < Width; first += vector) {
        const auto row = row_units(from + k * apart + first, first_lanes(count - first), apart, inner - k);
        store(to + k / step * Width + first, first_lanes(Width - first), row);
      }
    }
  } else if (apart == 1) {
    for (; k + step * vector <= inner; k += step * vector) {
      for (int64_t first = 0; first < Width; first += vector) {
        Vector<unit_t> rows[vector];
#pragma GCC unroll 16
        for (int at = 0; at < vector; ++at) rows[at] = units(from + std::min(first + at, count - 1) * line + k);
        turn_over<unit_t>(rows);
#pragma GCC unroll 16
        for (int at = 0; at < vector; ++at) {
          store(to + (k / step + at) * Width + first, first_lanes(Width - first), rows[at]);
        }
      }
    }
  }
  for (; k < inner; k += step) {
    for (int64_t at = 0; at < Width; ++at) {
      to[k / step * Width + at] = unit(from + std::min(at, count - 1) * line + k * apart, apart, inner - k);
    }
  }
}

}  // namespace

}  // namespace opgen
