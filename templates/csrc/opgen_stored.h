// What values are rounded to where they are stored in 8 bits. Included by the math headers of CPU and CUDA.
namespace rt {
#if defined(OPGEN_ISA)
namespace OPGEN_SPACE {
#endif

// The nearest number with so many binary digits behind the point, ties to even, down to a least normal exponent; the
// largest for what is beyond it. What the exponent says is found in the bits, without a choice and without a call, so
// that a loop is vectorised: where a number is added that ends at the last digit to be kept, the sum is rounded there.
template <int Digits, int Least>
OPGEN_DEVICE float to_few_digits(float x, float most) {
  const uint32_t sign = uint32_t{1} << 31, one = uint32_t{1} << 23;
  const uint32_t least = static_cast<uint32_t>(127 + Least) << 23;
  uint32_t bits, raised;
  memcpy(&bits, &x, sizeof(bits));
  const uint32_t negative = bits & sign;
  bits &= ~sign;
  float size, carry;
  memcpy(&size, &bits, sizeof(size));
  size = size > most ? most : size;  // not a number stays so
  memcpy(&bits, &size, sizeof(bits));
  const uint32_t exponent = bits & ~(one - 1);
  raised = (exponent > least ? exponent : least) + (23 - Digits) * one;
  memcpy(&carry, &raised, sizeof(carry));
  size = (size + carry) - carry;
  memcpy(&bits, &size, sizeof(bits));
  bits |= negative;
  memcpy(&size, &bits, sizeof(size));
  return size;
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
}  // namespace OPGEN_SPACE
#endif
}  // namespace rt
