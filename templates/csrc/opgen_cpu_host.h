// What a binding does to run a CPU step on torch's stable ABI: the threads of torch.
#pragma once

#include <torch/csrc/stable/ops.h>

#include "opgen_abi.h"
#include "opgen_step.h"

namespace opgen {

inline void threads(int64_t count, int64_t grain, void (*range)(int64_t, int64_t, void*), void* body) {
  torch::stable::parallel_for(0, count, grain, [=](int64_t begin, int64_t end) { range(begin, end, body); });
}

// Returns the status of the step.
inline int run_on_cpu(const OpgenStep& step, OpgenCall& call) {
  OpgenHost host{threads, {-1, 0, 0, 0}};
  const int status = step(call, host);
  *call.bad_index = host.bad;
  return status;
}

}  // namespace opgen
