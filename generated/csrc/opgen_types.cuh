// Element types: 16-bit floats, their conversions, and the type each one computes in.
#pragma once

#include "opgen_math.cuh"
#include "opgen_trigonometry.cuh"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <type_traits>

namespace rt {

#if defined(__CUDACC__)

using half_t = __half;
using bfloat16_t = __nv_bfloat16;

OPGEN_DEVICE float widen(half_t x) { return __half2float(x); }
OPGEN_DEVICE float widen(bfloat16_t x) { return __bfloat162float(x); }
OPGEN_DEVICE void narrow(float x, half_t* y) { *y = __float2half_rn(x); }
OPGEN_DEVICE void narrow(float x, bfloat16_t* y) { *y = __float2bfloat16_rn(x); }

#else

struct half_t {
  uint16_t bits;
};
struct bfloat16_t {
  uint16_t bits;
};

inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

inline float widen(bfloat16_t x) { return float_of(static_cast<uint32_t>(x.bits) << 16); }
inline float widen(half_t x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest < 0x400u) return std::copysign(std::ldexp(static_cast<float>(rest), -24), float_of(sign));
  return float_of(sign | ((rest << 13) + 0x38000000u));
}

// Nearest, ties to even.
inline void narrow(float x, bfloat16_t* y) {
  const uint32_t bits = bits_of(x);
  y->bits = static_cast<uint16_t>(x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline void narrow(float x, half_t* y) {
  const uint32_t bits = bits_of(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  uint32_t result;
  if (rest > 0x7f800000u) {
    result = 0x7fffu;
  } else if (rest >= 0x477ff000u) {  // rounds to 65536 or more
    result = 0x7c00u;
  } else if (rest < 0x38800000u) {  // subnormal: the unit is 2^-24
    result = static_cast<uint32_t>(std::nearbyint(std::ldexp(float_of(rest), 24)));
  } else {
    result = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  }
  y->bits = static_cast<uint16_t>(sign | result);
}

#endif

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
template <>
struct Math<half_t> {
  using type = float;
};
template <>
struct Math<bfloat16_t> {
  using type = float;
};
template <typename T>
using math_t = typename Math<std::remove_const_t<T>>::type;

// An element in memory. Bytes that are viewed as bool may be 2.
template <typename T>
OPGEN_DEVICE math_t<T> loaded(const T* from) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, bool>) {
    return *reinterpret_cast<const unsigned char*>(from) != 0;
  } else {
    return widen(*from);
  }
}

// One of the two numbers of 16 bits that a word is made of.
template <typename T>
OPGEN_DEVICE float widened(uint32_t word, bool second) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<T, bfloat16_t>) return __uint_as_float(second ? word & 0xffff0000u : word << 16);
#endif
  const auto bits = static_cast<uint16_t>(second ? word >> 16 : word);
  T value;
  memcpy(&value, &bits, sizeof(bits));
  return widen(value);
}

// Two numbers that are stored side by side.
template <typename T>
OPGEN_DEVICE void narrow_pair(math_t<T> x, math_t<T> y, T* pair) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    memcpy(pair, &both, sizeof(both));
    return;
  } else if constexpr (std::is_same_v<T, half_t>) {
    const __half2 both = __floats2half2_rn(x, y);
    memcpy(pair, &both, sizeof(both));
    return;
  }
#endif
  narrow(x, &pair[0]);
  narrow(y, &pair[1]);
}

// Functions as accurate as what is stored needs them: 16 bits hold fewer digits than the units of a device for
// reciprocals, powers of two and hyperbolic tangents give. Quotients of float32 are rounded once nearly everywhere, by
// one way without branches; all others are as in `opgen_math.cuh`.
template <typename S>
struct Near {
  using T = math_t<S>;
  static constexpr bool narrow = sizeof(S) == 2;

  // Of `scale` times x: a constant that the units' own scale takes in.
  static OPGEN_DEVICE T exp(T x, T scale = T(1)) {
    if constexpr (narrow) return exp2_of_device(x * (scale * T(1.4426950408889634)));
    return rt::exp(x * scale);
  }
  static OPGEN_DEVICE T tanh(T x) {
    if constexpr (std::is_same_v<S, bfloat16_t>) return tanh_of_device(x);
    return rt::tanh(x);
  }
  static OPGEN_DEVICE T sigmoid(T x) {
    if constexpr (narrow) return reciprocal_of_device(T(1) + exp(-x));
    const T e = rt::exp(-abs(x));
    return over(x < T(0) ? e : T(1), T(1) + e);
  }
  static OPGEN_DEVICE T silu(T x) { return max(x, T(-1000)) * sigmoid(x); }  // 0 at -inf
  // Of `scale` times x, a constant. For positive numbers two to a polynomial: to 6e-4 of the value, and to 4e-6 of what
  // float16 can hold.
  static OPGEN_DEVICE T erfc(T x, T scale = T(1)) {
    if constexpr (!narrow) return rt::erfc(x * scale);
    constexpr bool half = std::is_same_v<S, half_t>;
    const T u = abs(x), s = abs(scale), s2 = s * s, s4 = s2 * s2;
    T y = (half ? T(-2.0270081e-5) : T(-3.8475665e-6)) * (s4 * s2 * s);
    y = y * u + (half ? T(4.8551675e-4) : T(1.5031292e-4)) * (s4 * s2);
    y = y * u + (half ? T(-5.2209723e-3) : T(-2.4705602e-3)) * (s4 * s);
    y = y * u + (half ? T(3.3904372e-2) : T(2.2519943e-2)) * s4;
    y = y * u + (half ? T(-1.5242329e-1) : T(-1.2809586e-1)) * (s2 * s);
    y = y * u + (half ? T(-9.1708478e-1) : T(-9.4135338e-1)) * s2;
    y = exp2_of_device((y * u + (half ? T(-1.6280627) : T(-1.6199278)) * s) * u);
    return (scale < T(0) ? -x : x) < T(0) ? T(2) - y : y;
  }
  // log(1 + x) for x in [0, 1], as a polynomial to 9e-6 of the value.
  static OPGEN_DEVICE T log1p_of_part(T x) {
    if constexpr (!narrow) return rt::log1p(x);
    T y = T(0.10122311) - T(0.023869333) * x;
    y = T(0.32520733) + (T(-0.21004984) + y * x) * x;
    return (T(0.99999161) + (T(-0.49936151) + y * x) * x) * x;
  }
  static OPGEN_DEVICE T softplus(T x) { return max(x, T(0)) + log1p_of_part(exp(-abs(x))); }
  static OPGEN_DEVICE T logsigmoid(T x) { return -softplus(-x); }
  // ((1 + e)^2 - 1) / ((1 + e)^2 + 1) with e = exp(x), or the same over e^2.
  static OPGEN_DEVICE T tanh_of_softplus(T x) {
    const T e = exp(-abs(x));
    const T part = T(2) * e, square = e * e;
    const T below = part + (x < T(0) ? square : T(1));
    return over(below, below + T(2) * (x < T(0) ? T(1) : square));
  }
  static OPGEN_DEVICE T pow(T x, T y) {
    if constexpr (!narrow) return rt::pow(x, y);
    const T size = abs(x);
    const T power = size == T(1) || y == T(0) ? T(1) : exp2_of_device(y * log2_of_device(size));
    if (copysign(T(1), x) > T(0)) return power;
    if (rt::floor(y) != y) return isfinite(x) && x != T(0) ? rt::nan<T>() : power;
    return rt::floor(y * T(0.5)) != y * T(0.5) ? -power : power;
  }
  static OPGEN_DEVICE T sqrt(T x) {
    if constexpr (narrow) return sqrt_of_device(x);
    return rt::sqrt(x);
  }
  static OPGEN_DEVICE T reciprocal(T x) { return div(T(1), x); }
  // Quotients by numbers between 1 and 6.
  static OPGEN_DEVICE T over(T x, T y) {
    if constexpr (!std::is_same_v<T, float>) return x / y;
    const T inverse = reciprocal_of_device(y), quotient = x * inverse;
    return narrow ? quotient : T(::fmaf(::fmaf(-quotient, y, x), inverse, quotient));
  }
  static OPGEN_DEVICE T div(T x, T y) {
    if constexpr (std::is_same_v<T, float>) {
      const float size = ::fabsf(y);  // what is very small or large has no reciprocal
      const float scale = size < 0x1p-100f ? 0x1p64f : size > 0x1p100f ? 0x1p-64f : 1.0f;
      const float by = y * scale;
      const float inverse = reciprocal_of_device(by);
      const float quotient = x * scale * inverse;
      if constexpr (narrow) return quotient;
      const float better = ::fmaf(::fmaf(-quotient, by, x * scale), inverse, quotient);
      return isnan(better) ? quotient : better;  // nan: infinities
    } else {
      return x / y;
    }
  }
};

// Rounds to the storage type and back.
template <typename T>
OPGEN_DEVICE math_t<T> rounded(math_t<T> x) {
  T stored;
  narrow(x, &stored);
  return widen(stored);
}

}  // namespace rt

// Which floating dtypes are compiled: float32 1, float64 2, float16 4, bfloat16 8.
#if !defined(OPGEN_DTYPES)
#define OPGEN_DTYPES 15
#endif

#define OPGEN_CASE(code, type, T, ...) \
  case code: {                         \
    using T = type;                    \
    return __VA_ARGS__;                \
  }
#if OPGEN_DTYPES & 1
#define OPGEN_CASE_FLOAT32(T, ...) OPGEN_CASE(OPGEN_FLOAT32, float, T, __VA_ARGS__)
#else
#define OPGEN_CASE_FLOAT32(T, ...)
#endif
#if OPGEN_DTYPES & 2
#define OPGEN_CASE_FLOAT64(T, ...) OPGEN_CASE(OPGEN_FLOAT64, double, T, __VA_ARGS__)
#else
#define OPGEN_CASE_FLOAT64(T, ...)
#endif
#if OPGEN_DTYPES & 4
#define OPGEN_CASE_FLOAT16(T, ...) OPGEN_CASE(OPGEN_FLOAT16, rt::half_t, T, __VA_ARGS__)
#else
#define OPGEN_CASE_FLOAT16(T, ...)
#endif
#if OPGEN_DTYPES & 8
#define OPGEN_CASE_BFLOAT16(T, ...) OPGEN_CASE(OPGEN_BFLOAT16, rt::bfloat16_t, T, __VA_ARGS__)
#else
#define OPGEN_CASE_BFLOAT16(T, ...)
#endif

// The value of `...` with T standing for the C type of a floating dtype.
#define OPGEN_DISPATCH(dtype, T, ...)     \
  [&]() -> int {                          \
    switch (dtype) {                      \
      OPGEN_CASE_FLOAT32(T, __VA_ARGS__)  \
      OPGEN_CASE_FLOAT64(T, __VA_ARGS__)  \
      OPGEN_CASE_FLOAT16(T, __VA_ARGS__)  \
      OPGEN_CASE_BFLOAT16(T, __VA_ARGS__) \
      default:                            \
        return OPGEN_BAD_DTYPE;           \
    }                                     \
  }()
