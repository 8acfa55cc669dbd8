// Calls of torch's own operators on its stable ABI.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <array>

#include "opgen_describe.h"

namespace opgen {

// Arguments in, results out.
template <size_t Count>
inline void call_dispatcher(const char* op, const char* overload, std::array<StableIValue, Count>& stack) {
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(op, overload, stack.data(), TORCH_ABI_VERSION));
}
template <size_t Count>
inline Tensor dispatch(const char* op, const char* overload, std::array<StableIValue, Count> stack) {
  call_dispatcher(op, overload, stack);
  return torch::stable::detail::to<Tensor>(stack[0]);
}
template <typename T>
inline StableIValue boxed(const T& value) {
  return torch::stable::detail::from(value);
}

inline Tensor expand(const Tensor& tensor, const Sizes& sizes) {
  return dispatch<3>("aten::expand", "", {boxed(tensor), boxed(sizes), boxed(false)});
}
inline Tensor packed(const Tensor& tensor) {
  return tensor.is_contiguous() ? tensor : torch::stable::contiguous(tensor);
}

}  // namespace opgen
