// 16-bit floats on the CPU: they are stored, never computed with.
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "opgen_math.h"
#include "opgen_step.h"

#define OPGEN_FLATTEN __attribute__((flatten))
#if defined(__OPTIMIZE__)
#define OPGEN_INLINE __attribute__((always_inline)) inline
#else  // compiled in a hurry, as for tests
#define OPGEN_INLINE inline
#endif
#define OPGEN_NOINLINE __attribute__((noinline))

namespace rt {
inline namespace OPGEN_SPACE {

// A condition as lanes hold it: as wide as the numbers beside it, which vectors of theirs are masked with.
template <typename opmath_t>
struct FlagOf {
  using type = int32_t;
};
template <>
struct FlagOf<double> {
  using type = int64_t;
};
template <typename opmath_t>
using Flag = typename FlagOf<opmath_t>::type;

inline uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

inline float from_bfloat16(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }
inline float from_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t rest = bits & 0x7fffu;
  const uint32_t tiny = bits_of(static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24f);
  const uint32_t normal = (rest << 13) + 0x38000000u;
  const uint32_t special = 0x7f800000u | (rest & 0x3ffu) << 13;
  return float_of(sign | (rest >= 0x7c00u ? special : rest < 0x400u ? tiny : normal));
}

// Nearest, ties to even.
inline uint16_t to_bfloat16(float x) {
  const uint32_t bits = bits_of(x);
  return static_cast<uint16_t>(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline uint16_t to_half(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  const uint32_t tiny = bits_of(float_of(rest) + 0.5f) - 0x3f000000u;  // the unit of subnormals is 2^-24
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  const uint32_t size = rest < 0x38800000u ? tiny : rest >= 0x477ff000u ? 0x7c00u : normal;
  return static_cast<uint16_t>(sign | (rest > 0x7f800000u ? 0x7e00u : size));
}

// An element in memory that is computed with as float: kernels of calls that store nothing else widen it in registers.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float x) : bits(to_bfloat16(x)) {}
  operator float() const { return from_bfloat16(bits); }
};
template <typename scalar_t>
constexpr bool is_stored = std::is_same_v<scalar_t, BFloat16>;
template <typename scalar_t>
using opmath = std::conditional_t<is_stored<scalar_t>, float, scalar_t>;

inline float widened(uint16_t x, int64_t dtype) { return dtype == OPGEN_FLOAT16 ? from_half(x) : from_bfloat16(x); }
OPGEN_NOINLINE inline uint16_t narrowed(float x, int64_t dtype) {
  return dtype == OPGEN_FLOAT16 ? to_half(x) : to_bfloat16(x);
}

OPGEN_NOINLINE inline void widen(const uint16_t* from, int64_t step, int64_t size, int64_t dtype, float* to) {
  if (dtype == OPGEN_FLOAT16) {
    for (int64_t i = 0; i < size; ++i) to[i] = from_half(from[i * step]);
  } else {
    for (int64_t i = 0; i < size; ++i) to[i] = from_bfloat16(from[i * step]);
  }
}
OPGEN_NOINLINE inline void narrow_side_by_side(const float* from, int64_t size, int64_t dtype, uint16_t* to) {
  if (dtype == OPGEN_FLOAT16) {
    for (int64_t i = 0; i < size; ++i) to[i] = to_half(from[i]);
  } else {
    for (int64_t i = 0; i < size; ++i) to[i] = to_bfloat16(from[i]);
  }
}
// Of what has been computed, or was as short before: what is not a number says so in its upper half, which it keeps.
// All is done with halves, of which a vector has two for each number.
inline void narrow_computed(const float* __restrict from, int64_t size, uint16_t* __restrict to) {
  using Half = uint16_t __attribute__((may_alias));
  constexpr int upper = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 0;
  const Half* halves = reinterpret_cast<const Half*>(from);
  for (int64_t i = 0; i < size; ++i) {
    const uint16_t high = halves[2 * i + upper], low = halves[2 * i + 1 - upper];
    const auto middle = static_cast<uint16_t>(0x8000u - (high & 1u));  // above it, the next one is nearer
    const bool up = (low > middle) & ((high & 0x7f80u) != 0x7f80u);
    to[i] = static_cast<uint16_t>(high + (up ? 1 : 0));
  }
}
inline void narrow(const float* from, int64_t size, int64_t dtype, uint16_t* to, int64_t step) {
  if (step == 1) return narrow_side_by_side(from, size, dtype, to);
  constexpr int64_t most = 256;
  uint16_t words[most];  // what is to be apart would be narrowed one by one
  for (int64_t first = 0; first < size; first += most) {
    const int64_t count = size - first < most ? size - first : most;
    narrow_side_by_side(from + first, count, dtype, words);
    for (int64_t i = 0; i < count; ++i) to[(first + i) * step] = words[i];
  }
}

// A value as a dtype would keep it.
inline float rounded(int64_t dtype, float x) {
  return dtype == OPGEN_FLOAT16 ? from_half(to_half(x)) : dtype == OPGEN_BFLOAT16 ? from_bfloat16(to_bfloat16(x)) : x;
}
inline double rounded(int64_t, double x) { return x; }

}  // namespace OPGEN_SPACE
}  // namespace rt

namespace rt {
inline namespace OPGEN_SPACE {

// Whether all floats among the first tensors of a call are of the same 16 bits.
inline bool is_of_words(const OpgenCall& call, int tensors) {
  bool of_words = call.dtype == OPGEN_FLOAT16 || call.dtype == OPGEN_BFLOAT16;
  for (int k = 0; k < tensors && of_words; ++k) {
    const int64_t dtype = call.tensors[k]->dtype;
    of_words = dtype == call.dtype || dtype > OPGEN_BFLOAT16;
  }
  return of_words;
}

// Whether so numbered tensors of a call are all stored as BFloat16.
template <int... Tensors>
bool are_bfloat16(const OpgenCall& call) {
  return call.dtype == OPGEN_BFLOAT16 && ((call.tensors[Tensors]->dtype == OPGEN_BFLOAT16) && ...);
}

}  // namespace OPGEN_SPACE
}  // namespace rt

// A kernel as a step: double for double, float for everything else.
#define OPGEN_STEP(kernel)                                                                       \
  [](const OpgenCall& call, OpgenHost& host) -> int {                                            \
    return call.dtype == OPGEN_FLOAT64 ? kernel<double>(call, host) : kernel<float>(call, host); \
  }
// The same of one with a version that widens elements of some tensors in registers.
#define OPGEN_STORED(kernel, ...)                                                                \
  [](const OpgenCall& call, OpgenHost& host) -> int {                                            \
    if (rt::are_bfloat16<__VA_ARGS__>(call)) return kernel<rt::BFloat16>(call, host);            \
    return call.dtype == OPGEN_FLOAT64 ? kernel<double>(call, host) : kernel<float>(call, host); \
  }
// The same of one that computes with no float of its tensors: words of 16 bits are moved as they are.
#define OPGEN_MOVES(kernel, tensors)                                                             \
  [](const OpgenCall& call, OpgenHost& host) -> int {                                            \
    if (rt::is_of_words(call, tensors)) return kernel<uint16_t>(call, host);                     \
    return call.dtype == OPGEN_FLOAT64 ? kernel<double>(call, host) : kernel<float>(call, host); \
  }
