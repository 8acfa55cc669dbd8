// What lies between the binding of an operator and its CPU kernels: the type of a step, and the tables of steps, one
// per instruction set that was compiled; the best that the machine can run is chosen at run time.
#pragma once

#include "opgen_abi.h"

enum { OPGEN_BAD_INDEX = -4 };

// What the host lends a CPU kernel besides the call: threads, and a place to report a position out of range.
struct OpgenHost {
  void (*parallel)(int64_t count, int64_t grain, void (*range)(int64_t begin, int64_t end, void* body), void* body);
  int64_t bad_tensor;  // number of the tensor in the call, -1 while all is well
  int64_t bad_axis;
  int64_t bad_index;
  int64_t bad_size;
};

typedef int (*OpgenStep)(const OpgenCall&, OpgenHost&);

#define OPGEN_JOIN_2(a, b) a##_##b
#define OPGEN_JOIN(a, b) OPGEN_JOIN_2(a, b)

// In a kernel file: the table of its steps.
#define OPGEN_STEPS(op) extern "C" const OpgenStep OPGEN_JOIN(op##_steps, OPGEN_ISA)[]

// In a binding: the tables that were compiled, and the one to use.
#if defined(OPGEN_WITH_AVX512) && defined(OPGEN_WITH_AVX2)
#define OPGEN_DECLARE_STEPS(op)                     \
  extern "C" const OpgenStep op##_steps_baseline[]; \
  extern "C" const OpgenStep op##_steps_avx2[];     \
  extern "C" const OpgenStep op##_steps_avx512[]
#define OPGEN_CHOOSE_STEPS(op) \
  (opgen_has_avx512() ? op##_steps_avx512 : opgen_has_avx2() ? op##_steps_avx2 : op##_steps_baseline)
#elif defined(OPGEN_WITH_AVX2)
#define OPGEN_DECLARE_STEPS(op)                     \
  extern "C" const OpgenStep op##_steps_baseline[]; \
  extern "C" const OpgenStep op##_steps_avx2[]
#define OPGEN_CHOOSE_STEPS(op) (opgen_has_avx2() ? op##_steps_avx2 : op##_steps_baseline)
#else
#define OPGEN_DECLARE_STEPS(op) extern "C" const OpgenStep op##_steps_baseline[]
#define OPGEN_CHOOSE_STEPS(op) (op##_steps_baseline)
#endif

#if defined(__x86_64__)
static inline bool opgen_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static inline bool opgen_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif
