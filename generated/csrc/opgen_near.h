// Functions as accurate as what a kernel stores needs them: those of float and double, and for what is kept in 8 binary
// digits polynomials that are off by at most 2^-14 of a value, a fiftieth of what is rounded then. Errors behind the
// names are of the fits: minimal ones, made with 40 digits.
#pragma once

#include "opgen_cpu_types.h"

namespace rt {
inline namespace OPGEN_SPACE {

// Of float, for what is stored as bfloat16.
struct Brief {
  // Adds a whole number of turns, in the low bits of what it was rounded with, to the exponent of 2^32 p.
  OPGEN_DEVICE float turned(float p, float turns) {
    uint32_t exponent, scaled;
    memcpy(&exponent, &turns, sizeof(exponent));
    memcpy(&scaled, &p, sizeof(scaled));
    scaled += exponent << 23;
    memcpy(&p, &scaled, sizeof(p));
    return p * 2.3283064365386963e-10f;
  }
  static constexpr float magic = 12582912.0f + 32.0f;

  OPGEN_DEVICE float exp_near_zero(float r) {  // 5.3e-6
    return ((0.0412776595f * r + 0.167535317f) * r + 0.500051182f) * (r * r) + r + 1.0f;
  }
  // exp(-a) for an `a` that is not negative.
  OPGEN_DEVICE float decay(float a) {
    a = a > 104.0f ? 104.0f : a;
    const float shifted = a * -1.44269504088896341f + magic, turns = shifted - magic;
    return turned(exp_near_zero(-a - turns * 0.693147182f), shifted);
  }
  OPGEN_DEVICE float exp(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const float whole = 12582912.0f, shifted = x * 1.44269504088896341f + whole, turns = shifted - whole;
    int32_t n;
    memcpy(&n, &shifted, sizeof(n));
    n -= 0x4b400000;
    return exp_near_zero(x - turns * 0.693147182f) * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
  }
  OPGEN_DEVICE float gaussian(float x) {
    const float a = within_tail(x);
    return decay(a * a);
  }
  // Two to a polynomial.
  OPGEN_DEVICE float erfc(float x) {
    const float a = within_tail(x);
    const float y = a * polynomial({-1.62743381f, -0.91891291f, -0.15089783f, 0.0336334034f, -0.00543480841f,
                                    0.000604417525f, -4.34069532e-5f, 1.80110264e-6f, -3.26722294e-8f},
                                   a);  // log2(erfc(a)), 4.7e-5
    const float shifted = y + magic, turns = shifted - magic;
    const float p = polynomial({0.999999261f, 0.693121815f, 0.24024745f, 0.0559178599f, 0.00957009667f}, y - turns);
    const float tail = turned(p, shifted);
    return is_negative(x) ? 2.0f - tail : tail;
  }
  OPGEN_DEVICE float sigmoid(float x) {
    const float e = decay(abs(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
  }
  OPGEN_DEVICE float silu(float x) { return max(x, -1000.0f) * sigmoid(x); }
  OPGEN_DEVICE float softplus(float x) {
    const float e = decay(abs(x));
    const float p = polynomial({0.999991598f, -0.499361335f, 0.325206446f, -0.210048039f, 0.101221544f, -0.0238688564f},
                               e);  // 8.4e-6
    return max(x, 0.0f) + e * p;
  }
  OPGEN_DEVICE float logsigmoid(float x) { return -softplus(-x); }
  OPGEN_DEVICE float tanh(float x) {
    const float a = abs_of(x), z = x * x;
    const float small = polynomial({-0.333155112f, 0.130482729f, -0.0405146882f}, z) * z * x + x;  // 3.4e-6
    const float e = decay(2.0f * a), large = 1.0f - 2.0f * e / (1.0f + e);
    return a < 0.625f ? small : is_negative(x) ? -large : large;
  }
};

#define OPGEN_NEAR(name)                                             \
  template <typename T>                                              \
  OPGEN_DEVICE auto name(T x) {                                      \
    if constexpr (is_stored<scalar_t> && std::is_same_v<T, float>) { \
      return Brief::name(x);                                         \
    } else {                                                         \
      return rt::name(x);                                            \
    }                                                                \
  }
// What a kernel calls: in double, where it computes so, functions are what they are.
template <typename scalar_t>
struct Near {
  OPGEN_NEAR(decay)
  OPGEN_NEAR(erfc)
  OPGEN_NEAR(exp)
  OPGEN_NEAR(gaussian)
  OPGEN_NEAR(logsigmoid)
  OPGEN_NEAR(sigmoid)
  OPGEN_NEAR(silu)
  OPGEN_NEAR(softplus)
  OPGEN_NEAR(tanh)
};
#undef OPGEN_NEAR

}  // namespace OPGEN_SPACE
}  // namespace rt
