// Functions of the numbers of a call, which the binding computes once: of sizes in integers, of params in double. They
// are called what the functions of kernels are called.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace opgen {
using opmath_t = double;  // what kernels call the type that they compute in
}

namespace rt {

// Of the least number by -1 processors have no quotient.
inline int64_t mod(int64_t x, int64_t y) {
  const int64_t rest = y == 0 || y == -1 ? 0 : x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
inline int64_t floordiv(int64_t x, int64_t y) {
  if (y == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  return y == 0 ? 0 : (x - mod(x, y)) / y;
}

// A number that is not one wins, as in torch.
template <typename T>
T max(T x, T y) {
  return x > y || x != x ? x : y;
}
template <typename T>
T min(T x, T y) {
  return x < y || x != x ? x : y;
}
template <typename T>
T abs(T x) {
  return x < 0 ? -x : x == 0 ? T(0) : x;
}
template <typename T>
T square(T x) {
  return x * x;
}

template <typename T>
T inf() {
  return std::numeric_limits<T>::infinity();
}
template <typename T>
T nan() {
  return std::numeric_limits<T>::quiet_NaN();
}

inline double sqrt(double x) { return std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double reciprocal(double x) { return 1 / x; }
inline double exp(double x) { return std::exp(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double pow(double x, double y) { return std::pow(x, y); }
template <int N>
double powi(double x) {
  return std::pow(x, N);
}

}  // namespace rt
