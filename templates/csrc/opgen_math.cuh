// Scalar functions of the generated CUDA kernels, for float and double (and 64-bit integers where they make sense).
//
// Everything here is free of local memory. Edge cases follow torch. What 16-bit storage needs less of is in
// opgen_types.cuh.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define OPGEN_UNROLL _Pragma("unroll")
#define OPGEN_ROLLED _Pragma("unroll 1")
#define OPGEN_STOP(why) __assert_fail(why, __FILE__, __LINE__, "opgen")
#else
#include "opgen_simt.h"
#include "opgen_simt_math.h"
#define OPGEN_UNROLL
#define OPGEN_ROLLED
#endif

#include <cassert>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "opgen_abi.h"

#define OPGEN_DEVICE __device__ __forceinline__
#define OPGEN_BOTH __host__ __device__ __forceinline__

// A function that CUDA's library has for both types, as an overload set.
#define OPGEN_LIBRARY(name, single, dual)                  \
  OPGEN_DEVICE float name(float x) { return ::single(x); } \
  OPGEN_DEVICE double name(double x) { return ::dual(x); }
#define OPGEN_LIBRARY2(name, single, dual)                             \
  OPGEN_DEVICE float name(float x, float y) { return ::single(x, y); } \
  OPGEN_DEVICE double name(double x, double y) { return ::dual(x, y); }

namespace rt {

constexpr double pi = 3.14159265358979323846;

template <typename T>
OPGEN_DEVICE T inf() {
  return static_cast<T>(HUGE_VAL);
}
template <typename T>
OPGEN_DEVICE T nan() {
  return static_cast<T>(NAN);
}

OPGEN_LIBRARY(exp, expf, exp)
OPGEN_LIBRARY(exp2, exp2f, exp2)
OPGEN_LIBRARY(expm1, expm1f, expm1)
OPGEN_LIBRARY(log, logf, log)
OPGEN_LIBRARY(log2, log2f, log2)
OPGEN_LIBRARY(log10, log10f, log10)
OPGEN_LIBRARY(log1p, log1pf, log1p)
OPGEN_LIBRARY(sqrt, sqrtf, sqrt)
OPGEN_LIBRARY(rsqrt, rsqrtf, rsqrt)
OPGEN_LIBRARY(cbrt, cbrtf, cbrt)
OPGEN_LIBRARY(floor, floorf, floor)
OPGEN_LIBRARY(ceil, ceilf, ceil)
OPGEN_LIBRARY(round, rintf, rint)  // halves to even
OPGEN_LIBRARY(trunc, truncf, trunc)
OPGEN_LIBRARY(asin, asinf, asin)
OPGEN_LIBRARY(acos, acosf, acos)
OPGEN_LIBRARY(atan, atanf, atan)
OPGEN_LIBRARY(sinh, sinhf, sinh)
OPGEN_LIBRARY(cosh, coshf, cosh)
OPGEN_LIBRARY(tanh, tanhf, tanh)
OPGEN_LIBRARY(asinh, asinhf, asinh)
OPGEN_LIBRARY(acosh, acoshf, acosh)
OPGEN_LIBRARY(atanh, atanhf, atanh)
OPGEN_LIBRARY(erf, erff, erf)
OPGEN_LIBRARY(erfc, erfcf, erfc)
OPGEN_LIBRARY(erfinv, erfinvf, erfinv)
OPGEN_LIBRARY(erfcx, erfcxf, erfcx)
OPGEN_LIBRARY(lgamma, lgammaf, lgamma)
OPGEN_LIBRARY2(atan2, atan2f, atan2)
OPGEN_LIBRARY2(copysign, copysignf, copysign)
OPGEN_LIBRARY2(fmod, fmodf, fmod)
OPGEN_LIBRARY2(hypot, hypotf, hypot)
OPGEN_LIBRARY2(pow, powf, pow)

template <typename T>
OPGEN_BOTH bool isnan(T x) {
  return x != x;
}
template <typename T>
OPGEN_DEVICE bool isfinite(T x) {
  return x - x == T(0);
}

// A position that is computed from data: out of range it is a device-side assertion, as torch's own indexing has it.
// What sizes and params alone decide is compared by the host, ahead of the launch.
OPGEN_DEVICE int64_t checked(int64_t index, int64_t size) {
  if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size)) OPGEN_STOP("a position is out of range");
  return index;
}

// --- Elementary
// -------------------------------------------------------------------------------------------------------

template <typename T>
OPGEN_DEVICE T square(T x) {
  return x * x;
}
template <typename T>
OPGEN_DEVICE T reciprocal(T x) {
  return T(1) / x;
}
template <typename T>
OPGEN_BOTH T abs(T x) {
  return x < T(0) ? -x : x == T(0) ? T(0) : x;
}
template <typename T>
OPGEN_DEVICE T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
template <typename T>
OPGEN_DEVICE T frac(T x) {
  return x - trunc(x);
}
template <typename T>
OPGEN_BOTH T max(T x, T y) {
  return x > y || isnan(x) ? x : y;
}
template <typename T>
OPGEN_BOTH T min(T x, T y) {
  return x < y || isnan(x) ? x : y;
}
// Floats have instructions of their own for these, which hand on a nan.
OPGEN_BOTH float abs(float x) { return ::fabsf(x); }
#if defined(__CUDA_ARCH__)
OPGEN_DEVICE float max(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
OPGEN_DEVICE float min(float x, float y) {
  float z;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
#endif

// What the units of a device give, to about 22 bits (the tangent: 11 bits); a value below the normal numbers is 0.
#if defined(__CUDA_ARCH__)
OPGEN_DEVICE float exp2_of_device(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
OPGEN_DEVICE float log2_of_device(float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
OPGEN_DEVICE float tanh_of_device(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
OPGEN_DEVICE float reciprocal_of_device(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
OPGEN_DEVICE float sqrt_of_device(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
OPGEN_BOTH float sqrt_of_device(float x) { return ::sqrtf(x); }
OPGEN_BOTH float exp2_of_device(float x) { return ::exp2f(x); }
OPGEN_BOTH float log2_of_device(float x) { return ::log2f(x); }
OPGEN_BOTH float tanh_of_device(float x) { return ::tanhf(x); }
OPGEN_BOTH float reciprocal_of_device(float x) { return 1.0f / x; }
#endif

template <typename T>
OPGEN_DEVICE T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <typename T>
OPGEN_DEVICE T heaviside(T x, T at_zero) {
  return x == T(0) ? at_zero : x > T(0) ? T(1) : isnan(x) ? x : T(0);
}
template <typename T>
OPGEN_DEVICE T lerp(T x, T y, T weight) {  // from the nearer end
  return abs(weight) < T(0.5) ? x + weight * (y - x) : y - (y - x) * (T(1) - weight);
}
// Not of int and bool, which become 64-bit integers.
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
OPGEN_DEVICE T remainder(T x, T y) {  // the sign of the divisor
  const T r = fmod(x, y);
  return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
}
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
OPGEN_DEVICE T mod(T x, T y) {
  return remainder(x, y);
}
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
OPGEN_DEVICE T floordiv(T x, T y) {  // by the exact rest: a quotient may round up to the next whole number
  return y == T(0) || !isfinite(x) ? x / y : round((x - mod(x, y)) / y);
}
OPGEN_BOTH int64_t mod(int64_t x, int64_t y) {
  const int64_t r = y == 0 ? 0 : x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
OPGEN_DEVICE int64_t remainder(int64_t x, int64_t y) { return mod(x, y); }
OPGEN_DEVICE int64_t fmod(int64_t x, int64_t y) { return y == 0 ? 0 : x % y; }
OPGEN_BOTH int64_t floordiv(int64_t x, int64_t y) { return y == 0 ? 0 : (x - mod(x, y)) / y; }
OPGEN_DEVICE int64_t floor(int64_t x) { return x; }
OPGEN_DEVICE int64_t ceil(int64_t x) { return x; }
OPGEN_DEVICE int64_t round(int64_t x) { return x; }
OPGEN_DEVICE int64_t trunc(int64_t x) { return x; }

// x to an integer power, by squaring; exact for integers.
template <int N, typename T>
OPGEN_DEVICE T powi(T x) {
  if constexpr (N < 0) {
    return T(1) / powi<-N>(x);
  } else if constexpr (N == 0) {
    return T(1);
  } else if constexpr (N == 1) {
    return x;
  } else {
    const T half = powi<N / 2>(x);
    return N % 2 == 0 ? half * half : half * half * x;
  }
}
OPGEN_DEVICE int64_t pow(int64_t x, int64_t n) {
  int64_t result = 1;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result *= x;
    x *= x;
  }
  return result;
}

OPGEN_DEVICE int64_t bit_and(int64_t x, int64_t y) { return x & y; }
OPGEN_DEVICE int64_t bit_or(int64_t x, int64_t y) { return x | y; }
OPGEN_DEVICE int64_t bit_xor(int64_t x, int64_t y) { return x ^ y; }

// --- Stable combinations
// ----------------------------------------------------------------------------------------------

template <typename T>
OPGEN_DEVICE T sigmoid(T x) {
  const T e = exp(-abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
template <typename T>
OPGEN_DEVICE T softplus(T x) {
  return max(x, T(0)) + log1p(exp(-abs(x)));
}
template <typename T>
OPGEN_DEVICE T logsigmoid(T x) {
  return -softplus(-x);
}
template <typename T>
OPGEN_DEVICE T relu(T x) {
  return max(x, T(0));
}
template <typename T>
OPGEN_DEVICE T silu(T x) {
  return max(x, T(-1000)) * sigmoid(x);  // 0 at -inf
}
template <typename T>
OPGEN_DEVICE T logaddexp(T x, T y) {
  const T top = max(x, y);
  return isfinite(top) ? top + log1p(exp(-abs(x - y))) : isnan(x) ? x : isnan(y) ? y : top;
}
template <typename T>
OPGEN_DEVICE T xlogy(T x, T y) {
  return isnan(y) ? y : x == T(0) ? T(0) : x * log(y);
}
template <typename T>
OPGEN_DEVICE T decay(T x) {
  return exp(-x);
}
template <typename T>
OPGEN_DEVICE T log1mexp(T x) {  // log(1 - exp(-x)) for x > 0
  return x < T(0.6931471805599453) ? log(-expm1(-x)) : log1p(-exp(-x));
}

}  // namespace rt

#include "opgen_random.h"
#include "opgen_special.cuh"
#include "opgen_stored.h"
