// Functions of float, written so that a loop over them is vectorised. But for the error function they are computed in
// double: half as many lanes, and digits to spare, so that no result is off by more than 0.6 units in the last place
// and nothing needs care where it cancels. Polynomials are Chebyshev fits of what is named beside them, made with 40
// digits.
#pragma once

#include "opgen_exp.h"

namespace rt {
inline namespace OPGEN_SPACE {

template <int N, typename T>
OPGEN_DEVICE T polynomial(const T (&c)[N], T x) {  // the constant first
  T p = c[N - 1];
#pragma GCC unroll 32
  for (int k = N - 2; k >= 0; --k) p = p * x + c[k];
  return p;
}
OPGEN_DEVICE bool is_negative(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits < 0;
}
OPGEN_DEVICE float signed_as(double size, float x) { return static_cast<float>(is_negative(x) ? -size : size); }
OPGEN_DEVICE float abs_of(float x) { return is_negative(x) ? -x : x; }
OPGEN_DEVICE double size_of(float x) { return is_negative(x) ? -static_cast<double>(x) : static_cast<double>(x); }

OPGEN_DEVICE float exp2(float x) { return static_cast<float>(exp(static_cast<double>(x) * 0.69314718055994530942)); }
OPGEN_DEVICE float log2(float x) { return static_cast<float>(log(static_cast<double>(x)) * 1.44269504088896340736); }
OPGEN_DEVICE float log10(float x) { return static_cast<float>(log(static_cast<double>(x)) * 0.43429448190325182765); }
OPGEN_DEVICE float cbrt(float x) { return signed_as(exp(log(size_of(x)) * (1.0 / 3.0)), x); }

OPGEN_DEVICE double nearest(double y) { return (y + 6755399441055744.0) - 6755399441055744.0; }  // of a float
// All that the exponent says is found without a choice: most exponents are the same at all lanes, and a truth value
// that is keeps a loop scalar.
OPGEN_DEVICE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
OPGEN_DEVICE double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
OPGEN_DEVICE uint64_t if_not_zero(double x) {  // all bits or none
  const uint64_t bits = bits_of(x) << 1;
  return 0 - ((bits | (0 - bits)) >> 63);
}
OPGEN_DEVICE float pow(float base, float exponent) {
  const double x = base, y = exponent, a = size_of(base);
  const uint64_t sign = uint64_t{1} << 63, one = bits_of(1.0);
  const uint64_t endless = ~if_not_zero(1.0 / y), whole = ~if_not_zero(y - nearest(y)) | endless;
  const uint64_t odd = if_not_zero(0.5 * y - nearest(0.5 * y)) & whole & ~endless, some = if_not_zero(y);
  const double broken = double_of(~whole & bits_of(static_cast<double>(NAN)));
  const double still = double_of(one | (endless & sign));
  const double of_negative = x < 0.0 ? broken : 0.0, lost = a < HUGE_VAL ? of_negative : 0.0;
  const double power = double_of(bits_of(exp(log(a) * y) + lost) ^ (bits_of(x) & sign & odd));
  const double of_one = x == 1.0 ? 1.0 : power, edge = x == still ? 1.0 : of_one;
  return static_cast<float>(double_of((bits_of(edge) & some) | (one & ~some)));
}

// Squares of floats are exact in double, and none is too large or too small there. An infinite side counts for more
// than one that is not a number.
OPGEN_DEVICE float hypot(float x, float y) {
  const double a = size_of(x), b = size_of(y), squares = a * a + b * b;
  const double one = a == HUGE_VAL ? a : squares, both = b == HUGE_VAL ? b : one;
  return static_cast<float>(::sqrt(both));
}

// Where the difference of exponentials cancels, its series.
OPGEN_DEVICE float sinh(float x) {
  const double a = x, e = exp(a);
  const double z = a * a;
  return static_cast<float>(z < 1e-3 ? a + a * z * (1.0 / 6.0 + z * (1.0 / 120.0)) : 0.5 * (e - 1.0 / e));
}
OPGEN_DEVICE float cosh(float x) {
  const double e = exp(size_of(x));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
OPGEN_DEVICE float asinh(float x) {
  const double a = size_of(x), z = a * a;
  return signed_as(z < 1e-3 ? a - a * z * (1.0 / 6.0 - z * (3.0 / 40.0)) : log(a + ::sqrt(z + 1.0)), x);
}
OPGEN_DEVICE float acosh(float x) {
  const double a = x;
  return static_cast<float>(log(a < 1.0 ? static_cast<double>(NAN) : a + ::sqrt(a * a - 1.0)));
}
OPGEN_DEVICE float atanh(float x) {
  const double a = size_of(x), z = a * a;
  const double small = a + a * z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0)));
  return signed_as(z < 1e-3 ? small : 0.5 * log((1.0 + a) / (1.0 - a)), x);
}

// The angle whose tangent is y / x, both at least 0: the smaller divided by the larger, in [0, 1].
OPGEN_DEVICE double angle(double y, double x) {
  const bool steep = y > x;
  const double t = steep ? x / y : y / x;
  const double p =
      polynomial({0.99999999992930368, -0.33333331290889988, 0.19999901102171554, -0.14283813255743194,
                  0.11091922963683302, -0.089741719583638811, 0.072282783453772522, -0.053956680571371718,
                  0.033826218952786872, -0.015828322749149416, 0.0047324841934219207, -0.00066339545711047872},
                 t * t) *
      t;  // atan(t) / t
  return steep ? 1.57079632679489661923 - p : p;
}
OPGEN_DEVICE float atan(float x) { return signed_as(angle(size_of(x), 1.0), x); }
OPGEN_DEVICE float asin(float x) {
  const double a = size_of(x);
  return signed_as(angle(a, ::sqrt((1.0 - a) * (1.0 + a))), x);
}
OPGEN_DEVICE float acos(float x) {
  const double a = size_of(x);
  const double y = angle(::sqrt((1.0 - a) * (1.0 + a)), a);
  return static_cast<float>(is_negative(x) ? 3.14159265358979323846 - y : y);
}

// --- Error function, in float ----------------------------------------------------------------------------------------

// The size of a number up to where exp(-a*a) is 0.
OPGEN_DEVICE float within_tail(float x) {
  const float a = __builtin_fabsf(x);
  return a > 10.25f ? 10.25f : a;
}
// exp(-a*a) of such a size: the digits that the square loses are added to the rest.
OPGEN_DEVICE float exp_of_square(float a) {
#ifdef __FMA__
  const float square = a * a, lost = __builtin_fmaf(-a, a, square);
#else
  int32_t bits;
  memcpy(&bits, &a, sizeof(bits));
  bits &= ~0xfff;
  float high;  // the upper half of the digits has an exact square
  memcpy(&high, &bits, sizeof(high));
  const float square = high * high, lost = (high - a) * (high + a);
#endif
  return decay_of(square, lost);
}
OPGEN_DEVICE float gaussian(float x) { return exp_of_square(within_tail(x)); }
// exp(a*a) erfc(a) of such a size: (1 + 2 a) times it is a polynomial of a quotient that runs from -1 to 0.67.
OPGEN_DEVICE float scaled_tail(float a) {
  return polynomial({1.27697837f, -0.0927639827f, -0.16603142f, 0.164055347f, -0.0542043f, -0.00805987511f,
                     0.00863168109f, 0.00131352257f, -0.00122992729f, -0.000400576682f},
                    (a - 2.0f) / (a + 2.0f)) /
         (1.0f + 2.0f * a);
}
// Within five units in the last place.
OPGEN_DEVICE float erfc(float x) {
  const float a = within_tail(x), tail = exp_of_square(a) * scaled_tail(a);
  return is_negative(x) ? 2.0f - tail : tail;
}
OPGEN_DEVICE float erf(float x) {
  const float a = within_tail(x);
  const float p =
      polynomial({0.128379167f, -0.376126385f, 0.11283774f, -0.026863143f, 0.00520041372f, -0.000769453428f},
                 a * a);  // erf(a) / a - 1 for a in [0, 0.5]
  const float y = a < 0.5f ? a * p + a : 1.0f - exp_of_square(a) * scaled_tail(a);
  return is_negative(x) ? -y : y;
}
OPGEN_DEVICE float erfcx(float x) {
  const double a = size_of(x);
  const double tail = polynomial({1.2769783815528626, -0.092763759817269167, -0.16603039131481537, 0.16404939543592588,
                                  -0.05422018569350136, -0.0080186362291861137, 0.0087242928493727524,
                                  0.0012166668603583531, -0.0014635081005688048, -0.00035717939391984123,
                                  0.00022110200188730677, 6.3100781358121187e-5, -2.01076885787427e-5},
                                 1.0 - 4.0 / (a + 2.0)) /
                      (1.0 + 2.0 * a);
  return static_cast<float>(is_negative(x) ? 2.0 * exp(a * a) - tail : tail);
}

}  // namespace OPGEN_SPACE
}  // namespace rt
