// Products of two tensors, summed over what an equation of einsum leaves out, as products of matrices: of our own or by
// torch's C interface, where a small call takes a fraction of what einsum takes by the dispatcher. For tensors of a
// CPU.
#pragma once

#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "opgen_abi.h"
#include "opgen_dispatch.h"
#include "opgen_matrices.h"
#include "opgen_memory.h"

namespace opgen {

class __attribute__((visibility("hidden"))) Product {
 public:
  Product(const char* equation, const Tensor& a, const Tensor& b) : operands_{&a, &b} {
    const char* at = equation;
    put(a, left, at);
    put(b, right, at);
    const int64_t letters = letters_of(at), batch = std::max<int64_t>(batch_, 0);
    const Labels order = labels_of(at, letters + batch);
    for (int label : order) {
      Index* index = find(label);
      fits_ = fits_ && index != nullptr;
      sizes_.push_back(index == nullptr ? 0 : index->size);
    }
    int64_t stride = 1;
    for (size_t k = order.size(); k-- > 0 && fits_;) {
      Index* index = find(order[k]);
      index->has[result] = true;
      index->strides[result] = stride;
      stride *= index->size;
      join(*index);
    }
    for (size_t k = indices_.size(); k-- > 0 && fits_;) {
      if (!indices_[k].has[result]) join(indices_[k]);
    }
    const Group& first = groups_[batches];
    fits_ = fits_ && (first.size == 1 || first.strides[result] == groups_[rows].size * groups_[columns].size);
  }

  // In a dtype, with what is added to each row; nothing where indices of a kind do not lie in memory as one.
  std::optional<Tensor> computed(ScalarType type, const Tensor* bias) const {
    const bool batched = groups_[batches].size != 1;
    if (!fits_ || (batched && bias != nullptr)) return std::nullopt;
    const Tensor out = empty(sizes_, type, operands_[0]->device());
    const bool fits_bias = bias == nullptr || (bias->dim() == 1 && bias->size(0) == groups_[columns].size &&
                                               bias->stride(0) == 1 && groups_[columns].strides[result] == 1);
    const MatrixProduct own{type,
                            groups_[batches].size,
                            groups_[rows].size,
                            groups_[columns].size,
                            groups_[inner].size,
                            of(*operands_[left], left, rows, inner),
                            of(*operands_[right], right, inner, columns),
                            of(out, result, rows, columns),
                            bias == nullptr ? nullptr : bias->const_data_ptr()};
    if (fits_bias && multiplied(own)) return out;
    // A result that lies by columns is the product of the other one's columns with these rows: by rows, in 16 bits too,
    // torch multiplies fast.
    const bool turned = bias == nullptr && groups_[columns].strides[result] > groups_[rows].strides[result];
    const Part first = turned ? right : left, second = turned ? left : right;
    const Kind down = turned ? columns : rows, along = turned ? rows : columns;
    const Tensor a = matrix(*operands_[first], first, down, inner),
                 b = matrix(*operands_[second], second, inner, along);
    const Tensor to = matrix(out, result, down, along);
    if (bias != nullptr) {
      TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(to.get(), bias->get(), a.get(), b.get(), 1.0, 1.0));
    } else if (batched) {
      TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_bmm_out(to.get(), a.get(), b.get()));
    } else {
      TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(to.get(), a.get(), b.get()));
    }
    return out;
  }

 private:
  using Labels = Few<int, OPGEN_MAX_DIMS>;
  enum Part { left, right, result, parts };
  enum Kind { batches, rows, columns, inner, kinds };
  struct Index {
    int label;
    int64_t size;
    int64_t strides[parts] = {};
    bool has[parts] = {};
  };
  // Indices that lie in memory as one.
  struct Group {
    int64_t size = 1;
    int64_t strides[parts] = {};
  };

  static bool ends(char c) { return c == 0 || c == ',' || c == '-'; }
  static int64_t letters_of(const char* at) {
    int64_t letters = 0;
    for (; !ends(*at); ++at) letters += *at != '.';
    return letters;
  }
  // A label for each dim, and `at` behind them; those of `...` count from the last one.
  static Labels labels_of(const char*& at, int64_t dims) {
    const int64_t letters = letters_of(at);
    Labels found;
    for (; !ends(*at); ++at) {
      if (*at != '.') {
        found.push_back(*at);
        continue;
      }
      for (int64_t k = dims - letters; k > 0; --k) found.push_back(-static_cast<int>(k));
      at += 2;
    }
    while (*at == ',' || *at == '-' || *at == '>') ++at;
    return found;
  }

  Index* find(int label) {
    for (Index& index : indices_) {
      if (index.label == label) return &index;
    }
    return nullptr;
  }

  void put(const Tensor& tensor, Part part, const char*& at) {
    batch_ = std::max(batch_, tensor.dim() - letters_of(at));
    const Labels labels = labels_of(at, tensor.dim());
    for (size_t k = 0; k < labels.size(); ++k) {
      const int64_t size = tensor.size(static_cast<int64_t>(k));
      Index* index = find(labels[k]);
      if (index == nullptr) {
        indices_.push_back({labels[k], size});
        index = &indices_.back();
      }
      fits_ = fits_ && size != 0 && index->size == size && !index->has[part];  // else they broadcast
      index->has[part] = true;
      index->strides[part] = tensor.stride(static_cast<int64_t>(k));
    }
  }

  // Puts an index in front of those of its kind.
  void join(const Index& index) {
    const bool shared = index.has[left] && index.has[right];
    if (!index.has[result] && !shared) fits_ = false;
    if (!fits_ || index.size == 1) return;
    Group& group = groups_[shared ? index.has[result] ? batches : inner : index.has[left] ? rows : columns];
    for (int part = 0; part < parts; ++part) {
      if (group.size == 1) {
        group.strides[part] = index.strides[part];
      } else {
        fits_ = fits_ && (!index.has[part] || index.strides[part] == group.strides[part] * group.size);
      }
    }
    group.size *= index.size;
  }

  Matrix of(const Tensor& tensor, Part part, Kind down, Kind along) const {
    return {const_cast<void*>(tensor.const_data_ptr()), groups_[batches].strides[part], groups_[down].strides[part],
            groups_[along].strides[part]};
  }

  Tensor matrix(const Tensor& tensor, Part part, Kind down, Kind along) const {
    const Group &first = groups_[batches], &second = groups_[down], &third = groups_[along];
    const int64_t sizes[] = {first.size, second.size, third.size};
    const int64_t step = third.size == 1 ? 1 : third.strides[part];
    const int64_t strides[] = {first.strides[part], second.size == 1 ? third.size * step : second.strides[part], step};
    const int skipped = first.size == 1 ? 1 : 0;
    AtenTensorHandle made = nullptr;
    TORCH_ERROR_CODE_CHECK(
        aoti_torch__reinterpret_tensor(tensor.get(), 3 - skipped, sizes + skipped, strides + skipped, 0, &made));
    return Tensor(made);
  }

  const Tensor* operands_[2];
  Few<Index, OPGEN_MAX_DIMS> indices_;
  Group groups_[kinds];
  Extents sizes_;
  int64_t batch_ = 0;
  bool fits_ = true;
};

// By matrices, where the operands are some; on a device a launch takes longer than any way to it.
inline std::optional<Tensor> product(const char* equation, const Tensor& a, const Tensor& b, ScalarType type,
                                     const Tensor* bias) {
#if defined(USE_CUDA)
  return std::nullopt;
#else
  return Product(equation, a, b).computed(type, bias);
#endif
}

}  // namespace opgen
