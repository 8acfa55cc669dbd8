// Random numbers of the generated kernels, on the CPU and on GPUs: Philox-4x32-10 of where a number is drawn. Included
// by the headers of scalar functions, which have the logarithm and the cosine.
#pragma once

namespace rt {
#if defined(OPGEN_ISA)
inline namespace OPGEN_SPACE {
#endif

// What a word of Philox is held in. Where vectors multiply 64 bits, words stay in lanes that are as long as their
// products, and what is left above them does no harm: to widen and to narrow them at every round takes longer than the
// products.
#if defined(__AVX512DQ__)
using Word = uint64_t;
#else
using Word = uint32_t;
#endif

// 63 bits of Philox-4x32-10: of a seed, which call of the spec draws, and the place of the point in its statement.
OPGEN_DEVICE int64_t philox(int64_t seed, int64_t call, int64_t place) {
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
  Word c0 = static_cast<Word>(place), c1 = static_cast<Word>(static_cast<uint64_t>(place) >> 32);
  Word c2 = static_cast<Word>(call), c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t low = uint64_t{0xD2511F53u} * static_cast<uint32_t>(c0);
    const uint64_t high = uint64_t{0xCD9E8D57u} * static_cast<uint32_t>(c2);
    c0 = static_cast<Word>(high >> 32) ^ c1 ^ k0;
    c1 = static_cast<Word>(high);
    c2 = static_cast<Word>(low >> 32) ^ c3 ^ k1;
    c3 = static_cast<Word>(low);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return static_cast<int64_t>((static_cast<uint64_t>(c0) << 32 | static_cast<uint32_t>(c1)) >> 1);
}

// The first 24 bits as a number in [0, 1), the same in every type.
template <typename T>
OPGEN_DEVICE T uniform_of(int64_t bits) {
  return static_cast<T>(static_cast<int32_t>(bits >> 39)) * static_cast<T>(1.0 / 16777216.0);
}
// Box-Muller, rounded to the type at the end: the radius of the first 32 bits, the angle of the other 31.
template <typename T>
OPGEN_DEVICE T normal_of(int64_t bits) {
  const double radius = sqrt(-2.0 * log(static_cast<double>((bits >> 31) + 1) * (1.0 / 4294967296.0)));
  return static_cast<T>(radius * cos(static_cast<double>(bits & 0x7FFFFFFF) * (pi / 1073741824.0)));
}

#if defined(OPGEN_ISA)
}  // namespace OPGEN_SPACE
#endif
}  // namespace rt
