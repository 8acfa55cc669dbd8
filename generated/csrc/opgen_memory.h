// Memory from torch's allocator by its C interface.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <algorithm>
#include <cstddef>

#include "opgen_abi.h"
#include "opgen_describe.h"
#include "opgen_few.h"

namespace opgen {

using Extents = Few<int64_t, OPGEN_MAX_DIMS>;

// Contiguous memory, without a way through the dispatcher: that costs as much as the rest of a small call.
inline Tensor empty(const Extents& sizes, ScalarType type, const torch::stable::Device& device) {
  Extents strides(sizes.size(), 1);
  for (size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * std::max<int64_t>(sizes[k], 1);
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(),
                                                  static_cast<int32_t>(type), static_cast<int32_t>(device.type()),
                                                  device.index(), &made));
  return Tensor(made);
}

}  // namespace opgen
