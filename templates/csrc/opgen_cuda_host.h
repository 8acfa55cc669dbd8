// What a binding does to run a CUDA step on torch's stable ABI: the device of the tensors, its current stream, and
// memory from torch's allocator, so that a call can be captured in a graph. Needs no CUDA header.
//
// Nothing here waits for the device, and no kernel reports to the host: a position read from data that is out of range
// is a device-side assertion, as in torch's own indexing, in a graph as elsewhere.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "opgen_abi.h"

namespace opgen {

// Memory on the device of a tensor, for work on its current stream.
inline torch::stable::Tensor device_memory(int64_t bytes, const torch::stable::Tensor& like) {
  return torch::stable::empty({bytes}, torch::headeronly::ScalarType::Byte, std::nullopt, like.device());
}

// `like` is any tensor of the call. Returns the status of the step.
inline int run_on_cuda(const OpgenCudaStep& step, OpgenCall& call, const torch::stable::Tensor& like) {
  const auto device = static_cast<int32_t>(like.get_device_index());
  const torch::stable::accelerator::DeviceGuard guard(device);
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &call.stream));
  torch::stable::Tensor workspace;
  const int64_t bytes = step.workspace == nullptr ? 0 : step.workspace(&call);
  if (bytes > 0) {
    workspace = device_memory(bytes, like);
    call.workspace = workspace.data_ptr();
    call.workspace_bytes = bytes;
  }
  return step.run(&call);
}

}  // namespace opgen
