// Element types on the CPU: 16-bit floats, their conversions, and the type each one computes in.
#pragma once

#include <stdint.h>
#include <string.h>

#include "opgen_math.h"
#include "opgen_step.h"

namespace rt {
inline namespace OPGEN_ISA {

struct half_t {
  uint16_t bits;
};
struct bfloat16_t {
  uint16_t bits;
};

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

inline float widen(bfloat16_t x) { return float_of(static_cast<uint32_t>(x.bits) << 16); }
inline float widen(half_t x) {
#if defined(__F16C__)
  return __builtin_ia32_vcvtph2ps(__extension__(__attribute__((vector_size(16))) short){static_cast<short>(x.bits)})[0];
#else
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest < 0x400u) return float_of(sign | bits_of(static_cast<float>(rest) * 0x1p-24f));
  return float_of(sign | ((rest << 13) + 0x38000000u));
#endif
}

// Nearest, ties to even.
inline void narrow(float x, bfloat16_t* y) {
  const uint32_t bits = bits_of(x);
  y->bits = static_cast<uint16_t>(x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline void narrow(float x, half_t* y) {
  const uint32_t bits = bits_of(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  const uint32_t tiny = bits_of(float_of(rest) + 0.5f) - 0x3f000000u;  // the unit of subnormals is 2^-24
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  const uint32_t size = rest < 0x38800000u ? tiny : rest >= 0x477ff000u ? 0x7c00u : normal;
  y->bits = static_cast<uint16_t>(sign | (rest > 0x7f800000u ? 0x7e00u : size));
}

template <typename T>
OPGEN_DEVICE T widen(T x) {
  return x;
}
template <typename T>
OPGEN_DEVICE void narrow(T x, T* y) {
  *y = x;
}

template <typename T>
struct Math {
  using type = T;
};
template <typename T>
struct Math<const T> : Math<T> {};
template <>
struct Math<half_t> {
  using type = float;
};
template <>
struct Math<bfloat16_t> {
  using type = float;
};
template <typename T>
using math_t = typename Math<T>::type;

// Rounds to the storage type and back.
template <typename T>
OPGEN_DEVICE math_t<T> rounded(math_t<T> x) {
  T stored;
  narrow(x, &stored);
  return widen(stored);
}

}  // namespace OPGEN_ISA
}  // namespace rt

// A kernel as a step: runs it for the C type of a floating dtype.
#define OPGEN_STEP(kernel)                            \
  [](const OpgenCall& call, OpgenHost& host) -> int { \
    switch (call.dtype) {                             \
      case OPGEN_FLOAT32:                             \
        return kernel<float>(call, host);             \
      case OPGEN_FLOAT64:                             \
        return kernel<double>(call, host);            \
      case OPGEN_FLOAT16:                             \
        return kernel<rt::half_t>(call, host);        \
      case OPGEN_BFLOAT16:                            \
        return kernel<rt::bfloat16_t>(call, host);    \
      default:                                        \
        return OPGEN_BAD_DTYPE;                       \
    }                                                 \
  }
