// Sines, cosines and tangents of the generated CUDA kernels. Those of CUDA's library keep an array per thread in local
// memory for huge arguments, so they are written anew.
#pragma once

#include "opgen_math.cuh"

namespace rt {

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

}  // namespace rt
