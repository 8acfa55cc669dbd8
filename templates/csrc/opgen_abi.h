/* What a binding hands to a compiled step: plain data, no torch type, the same for CPU, CUDA and emulation. */
#pragma once

#include <stdint.h>

#define OPGEN_MAX_DIMS 12

enum OpgenDtype {
  OPGEN_FLOAT32 = 0,
  OPGEN_FLOAT64 = 1,
  OPGEN_FLOAT16 = 2,
  OPGEN_BFLOAT16 = 3,
  OPGEN_INT64 = 4,
  OPGEN_BOOL = 5,
};

/* Negative codes are ours; positive ones are cudaError_t. */
enum OpgenStatus {
  OPGEN_OK = 0,
  OPGEN_BAD_DTYPE = -1,
  OPGEN_TOO_MANY_DIMS = -2,
  OPGEN_NO_WORKSPACE = -3,
  OPGEN_BAD_INDEX = -4,
};

/* A tensor. Strides are in elements; a broadcast dimension has stride 0. */
typedef struct OpgenTensor {
  void* data;
  int64_t dtype;
  int64_t ndim;
  int64_t sizes[OPGEN_MAX_DIMS];
  int64_t strides[OPGEN_MAX_DIMS];
} OpgenTensor;

/* The first position out of range that a step met. */
typedef struct OpgenBadIndex {
  int64_t tensor; /* its number in the call, -1 while all is well */
  int64_t axis;
  int64_t index;
  int64_t size;
} OpgenBadIndex;

/* One call of one kernel: its arguments in the order in which the kernel takes them. */
typedef struct OpgenCall {
  const OpgenTensor* const* tensors;
  const int64_t* batch; /* the broadcast batch shape of the operator */
  int64_t batch_ndim;
  const int64_t* ints; /* sizes, int and bool params */
  const double* reals; /* float params */
  void* workspace;     /* null or at least the bytes that the kernel's `workspace` asks for */
  int64_t workspace_bytes;
  int64_t dtype;      /* the OpgenDtype of the op's float tensors */
  int64_t processors; /* multiprocessors of the device; 0: ask it */
  void* stream;
  OpgenBadIndex* bad_index;        /* where a step that returned OPGEN_BAD_INDEX has written why */
  const struct OpgenCall* columns; /* the call of the kernel that folds across the rows of this one, to run as well */
} OpgenCall;

/* A compiled CUDA step, and the function that tells the bytes of workspace it can use (null: none). */
typedef struct OpgenCudaStep {
  int (*run)(const OpgenCall*);
  int64_t (*workspace)(const OpgenCall*);
} OpgenCudaStep;
