// What values are rounded to where they are stored in 8 bits. Included by the math headers of CPU and CUDA.
namespace rt {
#if defined(OPGEN_ISA)
namespace OPGEN_ISA {
#endif

// The nearest number with so many binary digits behind the point, ties to even, down to a least normal exponent; the
// largest for what is beyond it.
template <int Digits, int Least>
OPGEN_DEVICE float to_few_digits(float x, float most) {
  if (!(x == x)) return x;
  if (x >= most || x <= -most) return x > 0.0f ? most : -most;
  int exponent = 0;
  frexpf(x, &exponent);
  const int least = exponent - 1 < Least ? Least : exponent - 1;
  const float unit = ldexpf(1.0f, least - Digits);
  return rintf(x / unit) * unit;
}
template <typename T>
OPGEN_DEVICE T to_float8_e4m3fn(T x) {
  return static_cast<T>(to_few_digits<3, -6>(static_cast<float>(x), 448.0f));
}
template <typename T>
OPGEN_DEVICE T to_float8_e5m2(T x) {
  return static_cast<T>(to_few_digits<2, -14>(static_cast<float>(x), 57344.0f));
}

#if defined(OPGEN_ISA)
}  // namespace OPGEN_ISA
#endif
}  // namespace rt
