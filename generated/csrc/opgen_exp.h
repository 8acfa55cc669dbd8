// exp, log and their relatives for float and double, written so that a loop over them is vectorised: no branches, no
// table, no library call. Errors are at most some two units in the last place.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef OPGEN_ISA
#define OPGEN_ISA baseline
#endif
// Code for one instruction set, with runs of one length (`opgen_cpu.h`), never meets that for others in a library: its
// functions have the same names in another space.
#if defined(OPGEN_SHORT_RUNS)
#define OPGEN_SPACE_OF(isa) isa##_short
#define OPGEN_SPACE_FOR(isa) OPGEN_SPACE_OF(isa)
#define OPGEN_SPACE OPGEN_SPACE_FOR(OPGEN_ISA)
#else
#define OPGEN_SPACE OPGEN_ISA
#endif

#define OPGEN_DEVICE static inline

namespace rt {
inline namespace OPGEN_SPACE {

OPGEN_DEVICE float power_of_two(int32_t n) {
  const int32_t bits = (n + 127) << 23;
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
OPGEN_DEVICE double power_of_two(int64_t n) {
  const int64_t bits = (n + 1023) << 52;
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
// exp(r) for |r| <= log(2) / 2, the best polynomials of their degrees.
OPGEN_DEVICE float exp_near_zero(float r) {
  float p = 0.00138146104f;
  p = p * r + 0.00836871099f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  return p * (r * r) + r + 1.0f;
}
OPGEN_DEVICE double exp_near_zero(double r) {
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  return p * (r * r) + r + 1.0;
}
// 2^n r with n the nearest whole number to x / log 2: a polynomial for r, n put into the exponent in two steps so that
// neither overflow nor a subnormal result comes too early. Adding `magic` rounds and leaves n in the low bits.
OPGEN_DEVICE float exp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const float magic = 12582912.0f;
  const float shifted = x * 1.44269504088896341f + magic;
  const float turns = shifted - magic;
  int32_t n;
  memcpy(&n, &shifted, sizeof(n));
  n -= 0x4b400000;
  const float r = (x - turns * 0.693359375f) - turns * -2.12194440e-4f;
  return exp_near_zero(r) * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
}
OPGEN_DEVICE double exp(double x) {
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  const double magic = 6755399441055744.0;
  const double shifted = x * 1.44269504088896340736 + magic;
  const double turns = shifted - magic;
  int64_t n;
  memcpy(&n, &shifted, sizeof(n));
  n -= 0x4338000000000000;
  const double r = (x - turns * 6.93147180369123816490e-01) - turns * 1.90821492927058770002e-10;
  const int64_t half = static_cast<int64_t>(static_cast<uint64_t>(n + 4096) >> 1) - 2048;
  return exp_near_zero(r) * power_of_two(half) * power_of_two(n - half);
}
// exp(lost - a) for an `a` from 0 to where that is 0. The power of two goes into the exponent at once, as one of 32
// more that a factor takes back, which rounds what is subnormal.
OPGEN_DEVICE float decay_of(float a, float lost) {
  const float magic = 12582912.0f + 32.0f;
  const float shifted = a * -1.44269504088896341f + magic;
  const float turns = shifted - magic;
  const float r = (-a - turns * 0.693359375f) - turns * -2.12194440e-4f + lost;
  float p = exp_near_zero(r);
  uint32_t turned, scaled;
  memcpy(&turned, &shifted, sizeof(turned));
  memcpy(&scaled, &p, sizeof(scaled));
  scaled += turned << 23;
  memcpy(&p, &scaled, sizeof(p));
  return p * 2.3283064365386963e-10f;
}
// exp(-a) for an `a` that is not negative.
OPGEN_DEVICE float decay(float a) { return decay_of(a > 104.0f ? 104.0f : a, 0.0f); }
OPGEN_DEVICE double decay(double a) {
  a = a > 746.0 ? 746.0 : a;
  const double magic = 6755399441055744.0 + 64.0;
  const double shifted = a * -1.44269504088896340736 + magic;
  const double turns = shifted - magic;
  const double r = (-a - turns * 6.93147180369123816490e-01) - turns * 1.90821492927058770002e-10;
  double p = exp_near_zero(r);
  uint64_t turned, scaled;
  memcpy(&turned, &shifted, sizeof(turned));
  memcpy(&scaled, &p, sizeof(scaled));
  scaled += turned << 52;
  memcpy(&p, &scaled, sizeof(p));
  return p * 5.4210108624275222e-20;
}
OPGEN_DEVICE double gaussian(double x) { return decay(x * x); }
// log(1 + e) for e from 0 to 1: there is no power of two to take out.
OPGEN_DEVICE float log1p_of_unit(float e) {
  const float s = e / (2.0f + e), z = s * s, half = 0.5f * e * e;
  float p = 0.23224330f;
  p = p * z + 0.21706575f;
  p = p * z + 0.28592357f;
  p = p * z + 0.39999706f;
  p = p * z + 0.66666669f;
  return s * (half + z * p) - half + e;
}
OPGEN_DEVICE double log1p_of_unit(double e) {
  const double s = e / (2.0 + e), z = s * s, half = 0.5 * e * e;
  double p = 0.15630577800922851;
  p = p * z + 0.074921437955507668;
  p = p * z + 0.10845178394880015;
  p = p * z + 0.11734279061303197;
  p = p * z + 0.13335178631449256;
  p = p * z + 0.15384543964860549;
  p = p * z + 0.18181819897962714;
  p = p * z + 0.22222222198236771;
  p = p * z + 0.28571428571600099;
  p = p * z + 0.39999999999999523;
  p = p * z + 0.66666666666666667;
  return s * (half + z * p) - half + e;
}

// x as m 2^k with m around 1, then log(m) as an odd series in (m - 1) / (m + 1).
OPGEN_DEVICE float log(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const float scaled = subnormal ? x * 8388608.0f : x;
  int32_t bits;
  memcpy(&bits, &scaled, sizeof(bits));
  bits += 0x3f800000 - 0x3f3504f3;
  const float k = static_cast<float>((bits >> 23) - 127 - (subnormal ? 23 : 0));
  bits = (bits & 0x007fffff) + 0x3f3504f3;
  float m;
  memcpy(&m, &bits, sizeof(m));
  const float f = m - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s, w = z * z;
  const float series = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
  const float half = 0.5f * f * f;
  const float y = s * (half + series) + k * 9.0580006145e-06f - half + f + k * 6.9313812256e-01f;
  const float positive = x < HUGE_VALF ? y : x;  // one choice in another: a vectoriser trips over conditions joined
  const float edge = x == 0.0f ? -HUGE_VALF : NAN;
  return x > 0.0f ? positive : edge;
}
OPGEN_DEVICE double log(double x) {
  const bool subnormal = x < 2.2250738585072014e-308;
  const double scaled = subnormal ? x * 18014398509481984.0 : x;
  int64_t bits;
  memcpy(&bits, &scaled, sizeof(bits));
  bits += 0x3ff0000000000000 - 0x3fe6a09e667f3bcd;
  // The exponent as a double without a conversion, which not every instruction set has for 64 bits.
  const int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(bits) >> 52) | 0x4330000000000000;
  double k;
  memcpy(&k, &shifted, sizeof(k));
  k -= 4503599627370496.0 + 1023.0 + (subnormal ? 54.0 : 0.0);
  bits = (bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd;
  double m;
  memcpy(&m, &bits, sizeof(m));
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s, w = z * z;
  const double odd =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double half = 0.5 * f * f;
  const double y = s * (half + odd + even) + k * 1.90821492927058770002e-10 - half + f + k * 6.93147180369123816490e-01;
  const double positive = x < HUGE_VAL ? y : x;
  const double edge = x == 0.0 ? -HUGE_VAL : static_cast<double>(NAN);
  return x > 0.0 ? positive : edge;
}

// The rounding of 1 + x is undone by the quotient (Kahan).
template <typename T>
OPGEN_DEVICE T log1p(T x) {
  const T u = T(1) + x;
  const T y = log(u) * (x / (u - T(1)));
  return u == T(1) ? x : u == T(HUGE_VAL) ? u : y;
}
template <typename T>
OPGEN_DEVICE T expm1(T x) {  // the series where exp(x) - 1 cancels
  T p = T(0);
  if (sizeof(T) > sizeof(float)) {
    p = p * x + T(1.0 / 6402373705728000.0);
    p = p * x + T(1.0 / 355687428096000.0);
    p = p * x + T(1.0 / 20922789888000.0);
    p = p * x + T(1.0 / 1307674368000.0);
    p = p * x + T(1.0 / 87178291200.0);
    p = p * x + T(1.0 / 6227020800.0);
    p = p * x + T(1.0 / 479001600.0);
  }
  p = p * x + T(1.0 / 39916800.0);
  p = p * x + T(1.0 / 3628800.0);
  p = p * x + T(1.0 / 362880.0);
  p = p * x + T(1.0 / 40320.0);
  p = p * x + T(1.0 / 5040.0);
  p = p * x + T(1.0 / 720.0);
  p = p * x + T(1.0 / 120.0);
  p = p * x + T(1.0 / 24.0);
  p = p * x + T(1.0 / 6.0);
  p = p * x + T(1.0 / 2.0);
  const T small = x == T(0) ? x : p * x * x + x;
  return x > T(-0.7) && x < T(0.7) ? small : exp(x) - T(1);
}
OPGEN_DEVICE float tanh(float x) {
  const float a = x < 0.0f ? -x : x;
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float e = decay(2.0f * a), large = 1.0f - 2.0f * e / (1.0f + e);
  return a < 0.625f ? small : x < 0.0f ? -large : large;
}
OPGEN_DEVICE double tanh(double x) {
  const double a = x < 0.0 ? -x : x;
  const double z = x * x;
  double p = -9.64399179425052238628e-1;
  p = p * z - 9.92877231001918586564e1;
  p = p * z - 1.61468768441708447952e3;
  double q = z + 1.12811678491632931402e2;
  q = q * z + 2.23548839060100448583e3;
  q = q * z + 4.84406305325125486048e3;
  const double small = x * z * (p / q) + x;
  const double e = decay(2.0 * a), large = 1.0 - 2.0 * e / (1.0 + e);
  return a < 0.625 ? small : x < 0.0 ? -large : large;
}

OPGEN_DEVICE float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
OPGEN_DEVICE double rsqrt(double x) { return 1.0 / ::sqrt(x); }

}  // namespace OPGEN_SPACE
}  // namespace rt
