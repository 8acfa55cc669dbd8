// The functions of CUDA's mathematical library that the C library lacks, for emulation.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

inline int64_t __double_as_longlong(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrtf(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }

// exp(x*x) erfc(x): the product where it neither overflows nor cancels, the asymptotic series beyond.
inline double erfcx(double x) {
  if (x < 20.0) {
    const double high = x * x;
    return std::exp(high) * (1.0 + std::fma(x, x, -high)) * std::erfc(x);
  }
  const double y = 1.0 / (2.0 * x * x);
  const double series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))));
  return series / (x * 1.7724538509055160273);
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }

// Newton's method on erfc of the tail, from a logarithmic estimate.
inline double erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? std::copysign(HUGE_VAL, x) : NAN;
  const double w = std::log1p(-a * a), c = 4.3307467508 + 0.5 * w;
  double y = std::sqrt(std::sqrt(c * c - w / 0.147) - c);
  for (int step = 0; step < 4; ++step) {
    const double error = a < 0.5 ? std::erf(y) - a : (1.0 - a) - std::erfc(y);
    const double slope = 1.1283791670955126 * std::exp(-y * y);
    y -= error / (slope + y * error);
  }
  return std::copysign(y, x);
}
inline float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
