// Convolutions, left to torch. Data x, output y and weight w hang together by the position `p*stride + k*dilation +
// start` of x along every axis, 0 out of range: `y[..., o, p] = sum[c, k](x[..., c, position] * w[o, c, k])`, and its
// transposes.
#pragma once

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <array>
#include <utility>

#include "opgen_dispatch.h"

namespace opgen {

class __attribute__((visibility("hidden"))) Convolution {
 public:
  explicit Convolution(const char* op) : op_(op) {}

  // The next axis; `size` is that of the result.
  void along(int64_t size, int64_t stride, int64_t dilation, int64_t start) {
    if (size < 0) fail(op_, ": a size computed from the arguments is negative: ", size);
    sizes_.push_back(size);
    strides_.push_back(stride);
    dilations_.push_back(dilation);
    starts_.push_back(start);
  }
  // The weight has its last tap first along this axis.
  void reversed() { reversed_.push_back(axes() + 1); }
  // What is added over the outputs, if it is there.
  void plus(const Optional& bias) { bias_ = bias; }
  // Every `width` outputs see channels of their own.
  void grouped(int64_t width) { width_ = width; }
  // The weight has its channels in front of its outputs.
  void channels_first() { channels_first_ = true; }

  // The next operand, in the order output, data, weight; one of them is what is computed.
  void take(const Tensor& operand) { operands_.push_back(operand); }

  Tensor output() const {
    const Tensor x = operands_[0], w = oriented(operands_[1]);
    const int64_t outputs = w.size(0);
    if (is_empty({x, w})) return without_taps(x, outputs);
    const int64_t groups = groups_of(outputs);
    Tensor data = rows(x);
    const Sizes pads = fitted(data, tail(w), sizes_);
    if (width_.has_value()) data = span(data, 1, 0, groups * w.size(1));
    const Tensor y = convolved(data, all_groups(w, groups), pads, false, none(), groups);
    return shaped(narrowed(y, 1, 0, outputs), shape(batch_of(x), outputs));
  }

  Tensor data(int64_t channels) const {
    const Tensor y = operands_[0], w = oriented(operands_[1]);
    const Sizes whole = shape(batch_of(y), channels);
    if (channels == 0 || is_empty({y, w})) return zeros(y, whole);
    const int64_t groups = groups_of(w.size(0));
    Tensor from = rows(y);
    Sizes pads, more;
    bool direct = true;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      const int64_t taps = (w.size(2 + k) - 1) * dilations_[k], steps = (from.size(2 + k) - 1) * strides_[k];
      pads.push_back(-starts_[k]);
      more.push_back(sizes_[k] - steps - taps - 1 - 2 * starts_[k]);
      direct = direct && pads[k] >= 0 && more[k] >= 0 && more[k] < std::max(strides_[k], dilations_[k]);
    }
    if (width_.has_value()) from = span(from, 1, 0, groups * *width_);
    Tensor x = convolved(from, all_groups(w, groups), direct ? pads : none(), true, direct ? more : none(), groups);
    for (size_t k = 0; k < sizes_.size() && !direct; ++k) x = span(x, 2 + k, pads[k], sizes_[k]);
    return shaped(span(x, 1, 0, channels), whole);
  }

  Tensor weight(int64_t channels) const {
    const Tensor y = operands_[0], x = operands_[1];
    const int64_t outputs = y.size(y.dim() - axes() - 1);
    if (channels == 0 || is_empty({y, x})) return packed(oriented(zeros(y, shape({outputs}, channels))));
    const int64_t groups = groups_of(outputs);
    Tensor to = rows(y), from = rows(x);
    const Sizes pads = fitted(from, sizes_, tail(to));
    if (width_.has_value()) {
      from = span(from, 1, 0, groups * channels);
      to = span(to, 1, 0, groups * *width_);
    }
    const Sizes whole = shape({to.size(1)}, channels);
    const Tensor like = torch::stable::new_empty(y, {whole.data(), whole.size()});
    const std::array<bool, 3> mask{false, true, false};
    std::array<StableIValue, 11> stack{boxed(to),
                                       boxed(from),
                                       boxed(like),
                                       boxed(std::optional<Sizes>()),
                                       boxed(strides_),
                                       boxed(pads),
                                       boxed(dilations_),
                                       boxed(false),
                                       boxed(none()),
                                       boxed(groups),
                                       boxed(torch::headeronly::HeaderOnlyArrayRef<bool>(mask.data(), mask.size()))};
    call_dispatcher("aten::convolution_backward", "", stack);
    std::array<Tensor, 3> found;
    for (size_t k = 0; k < found.size(); ++k) found[k] = torch::stable::detail::to<Tensor>(stack[k]);
    return packed(oriented(narrowed(found[1], 0, 0, outputs)));
  }

 private:
  int64_t axes() const { return static_cast<int64_t>(sizes_.size()); }
  Sizes none() const { return Sizes(sizes_.size(), 0); }
  // The outputs in whole groups, the last of which may lack some.
  int64_t groups_of(int64_t outputs) const {
    if (!width_.has_value()) return 1;
    if (*width_ <= 0) fail(op_, ": a whole number is divided by 0");
    return (outputs + *width_ - 1) / *width_;
  }
  // Weights or biases of outputs, with zeros for those that the last group lacks.
  Tensor all_groups(const Tensor& x, int64_t groups) const {
    return width_.has_value() ? span(x, 0, 0, groups * *width_) : x;
  }
  Tensor oriented(const Tensor& weight) const {
    const Tensor w = channels_first_ ? torch::stable::transpose(weight, 0, 1) : weight;
    return reversed_.empty() ? w : dispatch<2>("aten::flip", "", {boxed(w), boxed(reversed_)});
  }
  bool is_empty(std::initializer_list<Tensor> tensors) const {
    bool found = std::count(sizes_.begin(), sizes_.end(), 0) > 0;
    for (const Tensor& t : tensors) found = found || t.numel() == 0;
    return found;
  }

  // The dims in front of channels and axes, and the axes.
  Sizes batch_of(const Tensor& x) const {
    const Sizes sizes = sizes_of(x);
    return Sizes(sizes.begin(), sizes.end() - axes() - 1);
  }
  Sizes tail(const Tensor& x) const {
    const Sizes sizes = sizes_of(x);
    return Sizes(sizes.end() - axes(), sizes.end());
  }
  Sizes shape(Sizes front, int64_t channels) const {
    front.push_back(channels);
    front.insert(front.end(), sizes_.begin(), sizes_.end());
    return front;
  }
  static Tensor shaped(const Tensor& x, const Sizes& sizes) {
    return packed(torch::stable::reshape(x, {sizes.data(), sizes.size()}));
  }
  static Tensor zeros(const Tensor& like, const Sizes& sizes) {
    return torch::stable::new_zeros(like, {sizes.data(), sizes.size()});
  }
  // The outputs where nothing is summed.
  Tensor without_taps(const Tensor& x, int64_t outputs) const {
    const Sizes sizes = shape(batch_of(x), outputs);
    if (!bias_.has_value()) return zeros(x, sizes);
    Sizes column(axes() + 1, 1);
    column[0] = outputs;
    return packed(expand(torch::stable::reshape(*bias_, {column.data(), column.size()}), sizes));
  }
  // The batch as one dim.
  Tensor rows(const Tensor& x) const {
    Sizes sizes = sizes_of(x);
    int64_t count = 1;
    while (static_cast<int64_t>(sizes.size()) > axes() + 1) {
      count *= sizes.front();
      sizes.erase(sizes.begin());
    }
    sizes.insert(sizes.begin(), count);
    return torch::stable::reshape(x, {sizes.data(), sizes.size()});
  }

  static Tensor narrowed(Tensor x, int64_t dim, int64_t start, int64_t size) {
    return torch::stable::narrow(x, dim, start, size);
  }
  // `size` positions of a dim from `start` on, 0 out of range.
  static Tensor span(const Tensor& x, int64_t dim, int64_t start, int64_t size) {
    const int64_t total = x.size(dim);
    if (start == 0 && size == total) return x;
    const int64_t first = std::clamp<int64_t>(start, 0, total);
    const int64_t last = std::max(first, std::min(start + size, total));
    const bool some = last > first;
    Sizes pads(2 * (x.dim() - dim), 0);
    pads[pads.size() - 2] = some ? first - start : size;
    pads[pads.size() - 1] = some ? start + size - last : 0;
    return torch::stable::pad(narrowed(x, dim, first, last - first), {pads.data(), pads.size()});
  }
  // Fits the data to so many taps and outputs; the zeros that torch is to put on both sides.
  Sizes fitted(Tensor& x, const Sizes& taps, const Sizes& outputs) const {
    Sizes pads, spans;
    bool exact = true;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      pads.push_back(-starts_[k]);
      spans.push_back((taps[k] - 1) * dilations_[k]);
      const int64_t room = x.size(2 + k) + 2 * pads[k] - spans[k] - 1;
      exact = exact && pads[k] >= 0 && room >= 0 && room / strides_[k] + 1 == outputs[k];
    }
    if (exact) return pads;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      x = span(x, 2 + k, starts_[k], (outputs[k] - 1) * strides_[k] + spans[k] + 1);
    }
    return none();
  }

  Tensor convolved(const Tensor& x, const Tensor& w, const Sizes& pads, bool transposed, const Sizes& more,
                   int64_t groups) const {
    const Optional bias = bias_.has_value() ? Optional(all_groups(*bias_, groups)) : Optional();
    return dispatch<9>("aten::convolution", "",
                       {boxed(x), boxed(w), boxed(bias), boxed(strides_), boxed(pads), boxed(dilations_),
                        boxed(transposed), boxed(more), boxed(groups)});
  }

  const char* op_;
  Sizes sizes_, strides_, dilations_, starts_, reversed_;
  std::optional<int64_t> width_;
  bool channels_first_ = false;
  Optional bias_;
  std::vector<Tensor> operands_;
};

}  // namespace opgen
