// What a binding does to run a CUDA step on torch's stable ABI: the device of the tensors, its current stream, and
// memory from torch's allocator, so that a call can be captured in a graph. Needs no CUDA header.
//
// Positions out of range: a step that reads positions from data gets room on the device for a report. It fetches the
// report after its kernels, which waits for them, and returns OPGEN_BAD_INDEX; the binding raises the error that the
// CPU kernels raise, and the device stays usable. While its stream is captured nothing may wait: the kernels then get
// no room, and a position out of range stops the replay of the graph with a device-side assertion, as torch's own
// indexing does. Steps without such positions never wait.
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
  torch::stable::Tensor workspace, report;
  const int64_t bytes = step.workspace == nullptr ? 0 : step.workspace(&call);
  if (bytes > 0) {
    workspace = device_memory(bytes, like);
    call.workspace = workspace.data_ptr();
    call.workspace_bytes = bytes;
  }
  if (step.reports) {
    report = device_memory(sizeof(OpgenBadIndex), like);
    call.device_room = static_cast<OpgenBadIndex*>(report.data_ptr());
  }
  return step.run(&call);
}

}  // namespace opgen
