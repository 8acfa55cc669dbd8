// Special functions that the C library lacks: digamma, polygamma and the exponentially scaled Bessel functions.
#pragma once

#include "opgen_math.h"

namespace rt {
inline namespace OPGEN_SPACE {

// --- Gamma -----------------------------------------------------------------------------------------------------------

template <typename T>
OPGEN_DEVICE T cotangent_of_pi(T x) {  // pi / tan(pi x), reduced first so that it is exact near the poles
  const T f = x - round(x);
  return abs(f) == T(0.5) ? T(0) : T(pi) / tan(T(pi) * f);
}

// Psi: reflection for x < 1/2, recurrence up to x >= 10, then the asymptotic series.
template <typename T>
OPGEN_DEVICE T digamma(T x) {
  if (x == T(0)) return -copysign(inf<T>(), x);
  T result = T(0);
  if (x < T(0.5)) {
    if (x == floor(x)) return nan<T>();
    result = -cotangent_of_pi(x);
    x = T(1) - x;
  }
  while (x < T(10)) {
    result -= T(1) / x;
    x += T(1);
  }
  const T y = T(1) / (x * x);
  T p = T(1.0 / 12);
  p = T(-691.0 / 32760) + y * p;
  p = T(1.0 / 132) + y * p;
  p = T(-1.0 / 240) + y * p;
  p = T(1.0 / 252) + y * p;
  p = T(-1.0 / 120) + y * p;
  p = T(1.0 / 12) + y * p;
  return result + log(x) - T(0.5) / x - y * p;
}

// Hurwitz zeta for s > 1, q > 0: a direct sum up to q >= 10, then Euler and Maclaurin.
template <typename T>
OPGEN_DEVICE T hurwitz_zeta(T s, T q) {
  T sum = T(0);
  while (q < T(10)) {
    sum += pow(q, -s);
    q += T(1);
  }
  const T above = pow(q, T(1) - s), power = above / q;
  const T y = T(1) / q / q;
  T term = s * power / q;  // rising factorial of s times a power of 1/q
  sum += above / (s - T(1)) + T(0.5) * power;
  sum += term * T(1.0 / 12);
  term *= (s + T(1)) * (s + T(2)) * y;
  sum += term * T(-1.0 / 720);
  term *= (s + T(3)) * (s + T(4)) * y;
  sum += term * T(1.0 / 30240);
  term *= (s + T(5)) * (s + T(6)) * y;
  sum += term * T(-1.0 / 1209600);
  term *= (s + T(7)) * (s + T(8)) * y;
  sum += term * T(1.0 / 47900160);
  term *= (s + T(9)) * (s + T(10)) * y;
  sum += term * T(-691.0 / 1307674368000.0);
  term *= (s + T(11)) * (s + T(12)) * y;
  return sum + term * T(1.0 / 74724249600.0);
}

// The n-th derivative of the cotangent whose value is c, for n from 1 to 4.
template <typename T>
OPGEN_DEVICE T cotangent_slope(int64_t n, T c) {
  const T r = T(1) + c * c;
  if (n == 1) return -r;
  if (n == 2) return T(2) * c * r;
  return n == 3 ? T(-2) * r * (T(1) + T(3) * c * c) : T(8) * c * r * (T(2) + T(3) * c * c);
}

// Near its zeros digamma cancels: single precision is computed in double.
OPGEN_DEVICE float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

// The n-th derivative of digamma.
template <typename T>
OPGEN_DEVICE T polygamma(int64_t n, T x) {
  if constexpr (sizeof(T) < sizeof(double)) return static_cast<T>(polygamma(n, static_cast<double>(x)));
  if (n == 0) return digamma(x);
  if (n < 0) return nan<T>();
  const T s = static_cast<T>(n + 1);
  if (x <= T(0) && x == floor(x)) {
    return n % 2 != 0 ? inf<T>() : x == T(0) ? -copysign(inf<T>(), x) : nan<T>();
  }
  const T sign = n % 2 == 0 ? T(-1) : T(1);
  if (x < T(0.5) && n <= 4) {  // reflection; for higher derivatives the sum alone
    const T c = cotangent_of_pi(x) / T(pi);
    return -sign * polygamma(n, T(1) - x) - pow(T(pi), s) * cotangent_slope(n, c);
  }
  return sign * exp(lgamma(s)) * hurwitz_zeta(s, x);
}
template <typename T>
OPGEN_DEVICE T polygamma(T n, T x) {
  return polygamma(static_cast<int64_t>(n), x);
}

// --- Bessel ----------------------------------------------------------------------------------------------------------

// Chebyshev series by Clenshaw's recurrence, in double for both types and with as many terms as the type has digits
// for. Unrolled by the compiler: the coefficients become constants.
#define OPGEN_CHEBYSHEV(name, count, single, ...)                    \
  template <typename T>                                              \
  OPGEN_DEVICE double name(double x) {                               \
    constexpr double coefficients[count] = {__VA_ARGS__};            \
    constexpr int terms = std::is_same_v<T, float> ? single : count; \
    double b0 = 0.0, b1 = 0.0, b2 = 0.0;                             \
    for (int k = terms - 1; k >= 0; --k) {                           \
      b2 = b1;                                                       \
      b1 = b0;                                                       \
      b0 = 2.0 * x * b1 - b2 + coefficients[k];                      \
    }                                                                \
    return 0.5 * (b0 - b2);                                          \
  }

// exp(-x) I0(x) on [0, 8] over x/4 - 1, and sqrt(x) exp(-x) I0(x) beyond over 16/x - 1.
OPGEN_CHEBYSHEV(i0e_small, 29, 19, 0.6767952744094761, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
                0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
                0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05,
                1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07,
                6.046995022541919e-08, -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10,
                9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13,
                7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15, -2.431279846547955e-16,
                3.3307945188222384e-17)
OPGEN_CHEBYSHEV(i0e_large, 23, 8, 0.8044904110141088, 0.0033691164782556943, 6.889758346916825e-05,
                2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09,
                4.94060238822497e-10, 1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11,
                -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
                -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15,
                -3.425485619677219e-16, -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17)
// The same for I1, the first divided by x.
OPGEN_CHEBYSHEV(i1e_small, 28, 18, 0.25258718644363365, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
                0.024726449030626516, -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532,
                0.0005122859561685758, -0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05,
                3.4702513081376785e-06, -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08,
                9.381537386495773e-09, -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11,
                1.1736186298890901e-11, -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14,
                7.600684294735408e-15, -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17)
OPGEN_CHEBYSHEV(i1e_large, 23, 8, 0.7785762350182801, -0.009761097491361469, -0.00011058893876262371,
                -3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09,
                -5.589743462196584e-10, -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11,
                2.0356285441470896e-12, -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
                4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15,
                3.3082023109209285e-16, 2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17)

#undef OPGEN_CHEBYSHEV

template <typename T>
OPGEN_DEVICE T i0e(T x) {
  const double a = abs(static_cast<double>(x));
  return T(a <= 8.0 ? i0e_small<T>(a / 4.0 - 1.0) : i0e_large<T>(16.0 / a - 1.0) / sqrt(a));
}
template <typename T>
OPGEN_DEVICE T i1e(T x) {
  const double a = abs(static_cast<double>(x));
  return copysign(T(a <= 8.0 ? i1e_small<T>(a / 4.0 - 1.0) * a : i1e_large<T>(16.0 / a - 1.0) / sqrt(a)), x);
}

}  // namespace OPGEN_SPACE
}  // namespace rt
