// Scalar functions of the generated CUDA kernels, for float and double (and 64-bit integers where they make sense).
//
// Everything here is free of local memory: the sine, cosine and tangent of CUDA's library keep an array per thread for
// huge arguments, so they are written anew. Edge cases follow torch. `fast` variants for 16-bit
// storage can be added beside these without touching a kernel.
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

// --- Trigonometry
// -----------------------------------------------------------------------------------------------------

// 1 / (2 pi) in binary, 64 bits a word.
__constant__ uint64_t one_over_two_pi[20] = {
    0x28be60db9391054au, 0x7f09d5f47d4d3770u, 0x36d8a5664f10e410u, 0x7f9458eaf7aef158u, 0x6dc91b8e909374b8u,
    0x01924bba82746487u, 0x3f877ac72c4a69cfu, 0xba208d7d4baed121u, 0x3a671c09ad17df90u, 0x4e64758e60d4ce7du,
    0x272117e2ef7e4a0eu, 0xc7fe25fff7816603u, 0xfbcbc462d6829b47u, 0xdb4d9fb3c9f2c26du, 0xd3d18fd9a797fa8bu,
    0x5d49eeb1faf97c5eu, 0xcf41ce7de294a4bau, 0x9afed7ec47e35742u, 0x1580cc11bf1edaeau, 0xfc33ef0826bd0d87u,
};

// A huge x modulo pi/2 (Payne and Hanek): multiplies the mantissa by just those 192 bits of
// 1/(2 pi) that matter. The first two bits of the fraction count quarter turns.
OPGEN_DEVICE double reduce_huge_angle(double x, int* quadrant) {
  const auto bits = static_cast<uint64_t>(__double_as_longlong(x));
  const uint64_t mantissa = (bits << 11) | 0x8000000000000000u;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1022;
  const int word = exponent >> 6;
  const int shift = exponent & 63;
  uint64_t high = word > 0 ? one_over_two_pi[word - 1] : 0;
  uint64_t middle = one_over_two_pi[word];
  uint64_t low = one_over_two_pi[word + 1];
  if (shift > 0) {
    high = (high << shift) | (middle >> (64 - shift));
    middle = (middle << shift) | (low >> (64 - shift));
    low = (low << shift) | (one_over_two_pi[word + 2] >> (64 - shift));
  }
  uint64_t tail = mantissa * middle;
  uint64_t head = mantissa * high + __umul64hi(mantissa, middle);
  const uint64_t carry = __umul64hi(mantissa, low);
  tail += carry;
  head += tail < carry ? 1 : 0;
  int turns = static_cast<int>(head >> 62);
  head &= 0x3fffffffffffffffu;
  const bool negative = (head & 0x2000000000000000u) != 0;
  if (negative) {  // nearest multiple: take the distance to the next one
    turns += 1;
    tail = ~tail + 1;
    head = (~head + (tail == 0 ? 1 : 0)) & 0x3fffffffffffffffu;
  }
  double angle = static_cast<double>(head) * 18446744073709551616.0 + static_cast<double>(tail);
  angle *= 1.5707963267948966 * 1.1754943508222875e-38;  // pi/2 * 2^-126
  *quadrant = x < 0.0 ? -turns : turns;
  return negative == (x < 0.0) ? angle : -angle;
}

// x modulo pi/2, in [-pi/4, pi/4]; `quadrant` counts the multiples taken away.
OPGEN_DEVICE double reduce_angle(double x, int* quadrant) {
  if (fabs(x) > 1e9) {
    if (!isfinite(x)) {
      *quadrant = 0;
      return x - x;
    }
    return reduce_huge_angle(x, quadrant);
  }
  const double turns = ::rint(x * 0.63661977236758134);
  *quadrant = static_cast<int>(turns);
  double angle = ::fma(turns, -1.5707963267948966, x);
  angle = ::fma(turns, -6.123233995736766e-17, angle);
  return ::fma(turns, 1.4973849048591833e-33, angle);
}

OPGEN_DEVICE float reduce_angle(float x, int* quadrant) {
  if (!(fabsf(x) < 40000.0f)) return static_cast<float>(reduce_angle(static_cast<double>(x), quadrant));
  const float turns = ::rintf(x * 0.636619747f);
  *quadrant = static_cast<int>(turns);
  float angle = ::fmaf(turns, -1.57079601f, x);
  angle = ::fmaf(turns, -3.13916473e-07f, angle);
  return ::fmaf(turns, -5.39030253e-15f, angle);
}

// Minimax polynomials on [-pi/4, pi/4], error about one unit in the last place.
OPGEN_DEVICE double sin_near_zero(double x) {
  const double s = x * x;
  double p = 1.58969099521155010221e-10;
  p = ::fma(p, s, -2.50507602534068634195e-08);
  p = ::fma(p, s, 2.75573137070700676789e-06);
  p = ::fma(p, s, -1.98412698298579493134e-04);
  p = ::fma(p, s, 8.33333333332248946124e-03);
  p = ::fma(p, s, -1.66666666666666324348e-01);
  return ::fma(p * s, x, x);
}
OPGEN_DEVICE double cos_near_zero(double x) {
  const double s = x * x;
  double p = -1.13596475577881948265e-11;
  p = ::fma(p, s, 2.08757232129817482790e-09);
  p = ::fma(p, s, -2.75573143513906633035e-07);
  p = ::fma(p, s, 2.48015872894767294178e-05);
  p = ::fma(p, s, -1.38888888888741095749e-03);
  p = ::fma(p, s, 4.16666666666666019037e-02);
  return ::fma(s * s, p, ::fma(-0.5, s, 1.0));
}
OPGEN_DEVICE float sin_near_zero(float x) {
  const float s = x * x;
  float p = ::fmaf(2.86567956e-6f, s, -1.98559923e-4f);
  p = ::fmaf(p, s, 8.33338592e-3f);
  p = ::fmaf(p, s, -1.66666672e-1f);
  return ::fmaf(p * s, x, x);
}
OPGEN_DEVICE float cos_near_zero(float x) {
  const float s = x * x;
  float p = ::fmaf(2.44677067e-5f, s, -1.38877297e-3f);
  p = ::fmaf(p, s, 4.16666567e-2f);
  p = ::fmaf(p, s, -5.00000000e-1f);
  return ::fmaf(p, s, 1.0f);
}

template <typename T>
OPGEN_DEVICE T sin(T x) {
  int quadrant;
  const T angle = reduce_angle(x, &quadrant);
  const T value = (quadrant & 1) != 0 ? cos_near_zero(angle) : sin_near_zero(angle);
  return (quadrant & 2) != 0 ? -value : value;
}
template <typename T>
OPGEN_DEVICE T cos(T x) {
  int quadrant;
  const T angle = reduce_angle(x, &quadrant);
  const T value = (quadrant & 1) != 0 ? sin_near_zero(angle) : cos_near_zero(angle);
  return ((quadrant + 1) & 2) != 0 ? -value : value;
}
template <typename T>
OPGEN_DEVICE T tan(T x) {
  int quadrant;
  const T angle = reduce_angle(x, &quadrant);
  const T s = sin_near_zero(angle), c = cos_near_zero(angle);
  return (quadrant & 1) != 0 ? -c / s : s / c;
}

// The angle pi x within half a turn. Infinity counts as even, like every number that is as large.
template <typename T>
OPGEN_DEVICE T angle_of_pi(T x) {
  return isfinite(x) || isnan(x) ? T(pi) * (x - T(2) * round(x * T(0.5))) : T(0);
}
template <typename T>
OPGEN_DEVICE T sinpi(T x) {
  return sin(angle_of_pi(x));
}
template <typename T>
OPGEN_DEVICE T cospi(T x) {
  return cos(angle_of_pi(x));
}
template <typename T>
OPGEN_DEVICE T sinc(T x) {
  if (x == T(0)) return T(1);
  const T turns = round(x);  // sin(pi x), exact near its zeros
  const T s = sin_near_zero(T(pi / 2) * (x - turns));
  const T c = cos_near_zero(T(pi / 2) * (x - turns));
  const bool odd = turns - T(2) * floor(turns * T(0.5)) != T(0);
  const T y = (odd ? T(-2) : T(2)) * s * c / T(pi) / x;
  return isfinite(x) || isnan(x) ? y : T(0);
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
  const int64_t r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
OPGEN_DEVICE int64_t remainder(int64_t x, int64_t y) { return mod(x, y); }
OPGEN_DEVICE int64_t fmod(int64_t x, int64_t y) { return x % y; }
OPGEN_BOTH int64_t floordiv(int64_t x, int64_t y) { return (x - mod(x, y)) / y; }
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
OPGEN_DEVICE T log1mexp(T x) {  // log(1 - exp(-x)) for x > 0
  return x < T(0.6931471805599453) ? log(-expm1(-x)) : log1p(-exp(-x));
}

}  // namespace rt

#include "opgen_random.h"
#include "opgen_special.cuh"
#include "opgen_stored.h"
