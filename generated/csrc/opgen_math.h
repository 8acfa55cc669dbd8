// Scalar functions of the generated CPU kernels, for float and double (and 64-bit integers where they make sense). No
// torch header. A loop over exp, log, tanh and their relatives is vectorised since they are written for it, one over
// sin, cos and pow of doubles where the C library has vector forms of them. Edge cases follow torch.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "opgen_exp.h"
#include "opgen_float.h"

// Vector forms of glibc, within 4 units in the last place; they are in a library that its libm brings along.
#if defined(__GLIBC__) && defined(__x86_64__) && !defined(__clang__)
extern "C" {
__attribute__((simd("notinbranch"))) float sinf(float) noexcept;
__attribute__((simd("notinbranch"))) float cosf(float) noexcept;
__attribute__((simd("notinbranch"))) double sin(double) noexcept;
__attribute__((simd("notinbranch"))) double cos(double) noexcept;
__attribute__((simd("notinbranch"))) double pow(double, double) noexcept;
}
#endif

// A function of the C library for double alone; that for float is in `opgen_float.h`.
#define OPGEN_DUAL(name) \
  OPGEN_DEVICE double name(double x) { return ::name(x); }
// A function that the C library has for both types, as an overload set.
#define OPGEN_LIBRARY(name, single, dual)                  \
  OPGEN_DEVICE float name(float x) { return ::single(x); } \
  OPGEN_DEVICE double name(double x) { return ::dual(x); }
#define OPGEN_LIBRARY2(name, single, dual)                             \
  OPGEN_DEVICE float name(float x, float y) { return ::single(x, y); } \
  OPGEN_DEVICE double name(double x, double y) { return ::dual(x, y); }

namespace rt {
inline namespace OPGEN_SPACE {

constexpr double pi = 3.14159265358979323846;

template <typename T>
OPGEN_DEVICE T inf() {
  return static_cast<T>(HUGE_VAL);
}
template <typename T>
OPGEN_DEVICE T nan() {
  return static_cast<T>(NAN);
}

OPGEN_DUAL(exp2)
OPGEN_DUAL(log2)
OPGEN_DUAL(log10)
OPGEN_LIBRARY(sqrt, sqrtf, sqrt)
OPGEN_DUAL(cbrt)
OPGEN_LIBRARY(floor, floorf, floor)
OPGEN_LIBRARY(ceil, ceilf, ceil)
OPGEN_LIBRARY(round, rintf, rint)  // halves to even
OPGEN_LIBRARY(trunc, truncf, trunc)
OPGEN_DUAL(asin)
OPGEN_DUAL(acos)
OPGEN_DUAL(atan)
OPGEN_DUAL(sinh)
OPGEN_DUAL(cosh)
OPGEN_DUAL(asinh)
OPGEN_DUAL(acosh)
OPGEN_DUAL(atanh)
OPGEN_DUAL(erf)
OPGEN_DUAL(erfc)
OPGEN_LIBRARY(lgamma, lgammaf, lgamma)
OPGEN_LIBRARY2(atan2, atan2f, atan2)
OPGEN_LIBRARY2(copysign, copysignf, copysign)
OPGEN_LIBRARY2(fmod, fmodf, fmod)
OPGEN_DEVICE double hypot(double x, double y) { return ::hypot(x, y); }
OPGEN_DEVICE double pow(double x, double y) { return ::pow(x, y); }

// The least and the greatest value of a type, which start a maximum and a minimum.
template <typename T>
OPGEN_DEVICE T lowest() {
  return T(1.5) == T(1) ? static_cast<T>(INT64_MIN) : static_cast<T>(-HUGE_VAL);
}
template <typename T>
OPGEN_DEVICE T highest() {
  return T(1.5) == T(1) ? static_cast<T>(INT64_MAX) : static_cast<T>(HUGE_VAL);
}

template <typename T>
OPGEN_DEVICE bool isnan(T x) {
  return x != x;
}
template <typename T>
OPGEN_DEVICE bool isfinite(T x) {
  return x - x == T(0);
}

// --- Trigonometry ----------------------------------------------------------------------------------------------------

OPGEN_LIBRARY(sin, sinf, sin)
OPGEN_LIBRARY(tan, tanf, tan)

// The sign goes: a compiler would make one call of a sine and a cosine of the same, of which there is no vector form.
OPGEN_DEVICE float cos(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  bits &= 0x7fffffff;
  memcpy(&x, &bits, sizeof(bits));
  return ::cosf(x);
}
OPGEN_DEVICE double cos(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  bits &= 0x7fffffffffffffff;
  memcpy(&x, &bits, sizeof(bits));
  return ::cos(x);
}

// The angle pi x within half a turn: a whole number of turns of pi has no digits to spare. Infinity counts as even,
// like every number that is as large.
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
  const T turns = round(x);
  const T s = sin(T(pi) * (x - turns));  // exact near its zeros
  const T half = turns * T(0.5);
  const T y = (half == floor(half) ? s : -s) / T(pi) / x;
  return x == T(0) ? T(1) : isfinite(x) || isnan(x) ? y : T(0);
}

// --- Error function --------------------------------------------------------------------------------------------------

// exp(x*x) erfc(x): the product where it neither overflows nor cancels, the asymptotic series beyond.
OPGEN_DEVICE double erfcx(double x) {
  if (x < -27.0) return HUGE_VAL;
  if (x < 20.0) {
    const double high = x * x;
    return ::exp(high) * (1.0 + ::fma(x, x, -high)) * ::erfc(x);
  }
  const double y = 1.0 / (2.0 * x * x);
  const double series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))));
  return series / (x * 1.7724538509055160273);
}

// Newton's method on erfc of the tail, from a logarithmic estimate.
OPGEN_DEVICE double erfinv(double x) {
  const double a = ::fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? ::copysign(HUGE_VAL, x) : NAN;
  const double w = ::log1p(-a * a), c = 4.3307467508 + 0.5 * w;
  double y = ::sqrt(::sqrt(c * c - w / 0.147) - c);
  for (int step = 0; step < 4; ++step) {
    const double error = a < 0.5 ? ::erf(y) - a : (1.0 - a) - ::erfc(y);
    const double slope = 1.1283791670955126 * ::exp(-y * y);
    y -= error / (slope + y * error);
  }
  return ::copysign(y, x);
}
OPGEN_DEVICE float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }

// --- Elementary ------------------------------------------------------------------------------------------------------

template <typename T>
OPGEN_DEVICE T square(T x) {
  return x * x;
}
template <typename T>
OPGEN_DEVICE T reciprocal(T x) {
  return T(1) / x;
}
template <typename T>
OPGEN_DEVICE T abs(T x) {
  // without a choice: a compiler would make one of what comes of it in each case, and that keeps a loop scalar
  if constexpr (std::is_same<T, float>::value) return ::fabsf(x);
  if constexpr (std::is_same<T, double>::value) return ::fabs(x);
  return x < T(0) ? -x : x;
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
OPGEN_DEVICE T max(T x, T y) {
  const T larger = x > y ? x : y;  // y where one is nan
  return isnan(x) ? x : larger;
}
template <typename T>
OPGEN_DEVICE T min(T x, T y) {
  const T smaller = x < y ? x : y;
  return isnan(x) ? x : smaller;
}
template <typename T>
OPGEN_DEVICE T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <typename T>
OPGEN_DEVICE T heaviside(T x, T at_zero) {
  return x == T(0) ? at_zero : x > T(0) ? T(1) : isnan(x) ? x : T(0);
}
OPGEN_DEVICE double lerp(double x, double y, double weight) {  // from the nearer end
  return abs(weight) < 0.5 ? x + weight * (y - x) : y - (y - x) * (1.0 - weight);
}
// In double the product is exact, and loses nothing where it cancels.
OPGEN_DEVICE float lerp(float x, float y, float weight) {
  return static_cast<float>(lerp(static_cast<double>(x), static_cast<double>(y), static_cast<double>(weight)));
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
// Processors stop at the least number by -1, too.
OPGEN_DEVICE bool stops(int64_t divisor) { return static_cast<uint64_t>(divisor) + 1 < 2; }
OPGEN_DEVICE int64_t mod(int64_t x, int64_t y) {
  if (stops(y)) return 0;
  const int64_t r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
OPGEN_DEVICE int64_t remainder(int64_t x, int64_t y) { return mod(x, y); }
OPGEN_DEVICE int64_t fmod(int64_t x, int64_t y) { return stops(y) ? 0 : x % y; }
OPGEN_DEVICE int64_t floordiv(int64_t x, int64_t y) {  // one division, which is that of `mod` as well
  if (stops(y)) return static_cast<int64_t>(static_cast<uint64_t>(y) * static_cast<uint64_t>(x));
  const int64_t q = x / y, r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}
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

// --- Stable combinations ---------------------------------------------------------------------------------------------

template <typename T>
OPGEN_DEVICE T sigmoid(T x) {
  const T e = decay(abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
template <typename T>
OPGEN_DEVICE T softplus(T x) {
  return max(x, T(0)) + log1p_of_unit(decay(abs(x)));
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
  return isfinite(top) ? top + log1p_of_unit(decay(abs(x - y))) : isnan(x) ? x : isnan(y) ? y : top;
}
template <typename T>
OPGEN_DEVICE T xlogy(T x, T y) {
  return isnan(y) ? y : x == T(0) ? T(0) : x * log(y);
}
template <typename T>
OPGEN_DEVICE T log1mexp(T x) {  // log(1 - exp(-x)) for x > 0
  return x < T(0.6931471805599453) ? log(-expm1(-x)) : log1p(-exp(-x));
}

}  // namespace OPGEN_SPACE
}  // namespace rt

#include "opgen_random.h"
#include "opgen_special.h"
#include "opgen_stored.h"
