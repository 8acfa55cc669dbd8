// What lies between the binding of an operator and its CPU kernels: the type of a step, and the tables of steps, one
// per instruction set that was compiled; the best that the machine can run is chosen at run time. With OPGEN_ONLY there
// is the table of one instruction set, and where the machine can't run it the library defines nothing.
#pragma once

#include "opgen_abi.h"

// What the host lends a CPU kernel besides the call: threads, and a place to report a position out of range.
struct OpgenHost {
  void (*parallel)(int64_t count, int64_t grain, void (*range)(int64_t begin, int64_t end, void* body), void* body);
  OpgenBadIndex bad;
};

typedef int (*OpgenStep)(const OpgenCall&, OpgenHost&);

#define OPGEN_JOIN_2(a, b) a##_##b
#define OPGEN_JOIN(a, b) OPGEN_JOIN_2(a, b)

// In a kernel file: the table of its steps.
#define OPGEN_STEPS(op) extern "C" const OpgenStep OPGEN_JOIN(op##_steps, OPGEN_ISA)[]

// In a binding: the tables, and the one to use. A table that was not compiled is not mentioned. With USE_CUDA the
// binding is that of the CUDA kernels, and there is one table.
#if defined(USE_CUDA)

#define OPGEN_DECLARE_STEPS(op) extern "C" const OpgenCudaStep op##_cuda_steps[]
#define OPGEN_CHOOSE_STEPS(op) (op##_cuda_steps)

#else

#define OPGEN_DECLARE_STEPS(op)                     \
  extern "C" const OpgenStep op##_steps_baseline[]; \
  extern "C" const OpgenStep op##_steps_avx2[];     \
  extern "C" const OpgenStep op##_steps_avx512[]

#if defined(OPGEN_ONLY)
#define OPGEN_CHOOSE_STEPS(op) OPGEN_JOIN(op##_steps, OPGEN_ONLY)
#define OPGEN_RUNS_HERE OPGEN_JOIN(opgen_has, OPGEN_ONLY)()
#else
#define OPGEN_RUNS_HERE true
#if defined(OPGEN_WITH_AVX2)
#define OPGEN_UP_TO_AVX2(op) (opgen_has_avx2() ? op##_steps_avx2 : op##_steps_baseline)
#else
#define OPGEN_UP_TO_AVX2(op) (op##_steps_baseline)
#endif
#if defined(OPGEN_WITH_AVX512)
#define OPGEN_CHOOSE_STEPS(op) (opgen_has_avx512() ? op##_steps_avx512 : OPGEN_UP_TO_AVX2(op))
#else
#define OPGEN_CHOOSE_STEPS(op) OPGEN_UP_TO_AVX2(op)
#endif
#endif

#if defined(__x86_64__)
static inline bool opgen_has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
static inline bool opgen_has_avx512() {
  return opgen_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

#endif  // USE_CUDA
