// What the bindings of all operators call: see opgen_host.h. Like these it is compiled for the CPU or, with USE_CUDA,
// for CUDA. Arguments, sizes, memory and results are here, steps in opgen_steps.cpp.
#include "opgen_host.h"

#include <algorithm>
#include <cstring>

#include "opgen_memory.h"

namespace opgen {

namespace {

const char* type_name(ScalarType type) { return torch::headeronly::toString(type); }

#if !defined(USE_CUDA)
// What a missing argument is read from.
const void* memory_of(int number, ScalarType type) {
  static constexpr uint64_t zero = 0;
  static constexpr double one = 1;
  static constexpr float float_one = 1;
  static constexpr uint16_t half_one = 0x3c00, bfloat16_one = 0x3f80;
  if (number == 0) return &zero;
  if (type == ScalarType::Half) return &half_one;
  if (type == ScalarType::BFloat16) return &bfloat16_one;
  return type == ScalarType::Float ? static_cast<const void*>(&float_one) : &one;
}
#endif

}  // namespace

Call::Call(const char* op, const Step* steps, int dims)
    : op_(op), steps_(steps), dims_(dims, -1), owners_(dims, nullptr) {}

Call::~Call() = default;

void Call::input(const char* name, const Tensor& tensor, Element element, std::initializer_list<Entry> shape) {
  arguments_.push_back({name, &tensor, element, shape});
}

void Call::input(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape) {
  if (!tensor.has_value()) fail(op_, ": ", name, " is missing");
  input(name, *tensor, element, shape);
}

void Call::input(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape,
                 int missing) {
  arguments_.push_back({name, tensor.has_value() ? &*tensor : nullptr, element, shape});
  arguments_.back().missing = missing;
}

void Call::unused(const char* name, const Optional&, Element element, std::initializer_list<Entry> shape) {
  arguments_.push_back({name, nullptr, element, shape});
  arguments_.back().used = false;
}

void Call::cotangent(const char* name, const Tensor& tensor, Element element, std::initializer_list<Entry> shape) {
  arguments_.push_back({name, &tensor, element, shape});
}

void Call::cotangent(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape) {
  input(name, tensor, element, shape, 0);
}

void Call::like(const Optional& tensor) {
  if (tensor.has_value()) scalar_ = tensor->scalar_type();
}

void Call::begin() {
  find_type();
  for (const Argument& a : arguments_) {
    if (a.tensor != nullptr) check(a);
  }
}

void Call::expect(int argument, int position, int64_t size) {
  Argument& a = arguments_[argument];
  a.shape[position] = fixed(size);
  if (a.tensor != nullptr) check(a);
}

void Call::expect_batch(int argument) const {
  const Argument& a = arguments_[argument];
  if (a.tensor == nullptr) return;
  const auto others = static_cast<int64_t>(a.shape.size()) - 1, own = a.tensor->dim() - others;
  int64_t at = 0;
  while (a.shape[at].kind != Entry::the_batch) ++at;
  bool whole = own == static_cast<int64_t>(batch_.size());
  for (int64_t d = 0; whole && d < own; ++d) whole = a.tensor->size(at + d) == batch_[d];
  if (!whole) fail(op_, ": ", a.name, " has not all batch dims of the other operands: ", shown(*a.tensor));
}

void Call::hold() {
  for (Argument& a : arguments_) add(a);
}

int64_t Call::size(int dim) const {
  if (dims_[dim] < 0) fail(op_, ": the size of dim ", dim, " follows from no argument that is there");
  return dims_[dim];
}

void Call::set_size(int dim, int64_t size) {
  if (size < 0) fail(op_, ": a size computed from the arguments is negative: ", size);
  if (dims_[dim] >= 0 && dims_[dim] != size) {
    fail(op_, ": ", owners_[dim], " has size ", dims_[dim], " where ", size, " is computed from the other arguments");
  }
  dims_[dim] = size;
}

void Call::some(const char* reduction, const char* along, int64_t size) const {
  if (size == 0) fail(op_, ": ", reduction, "[", along, "] has no value, as ", along, " has size 0");
}

int64_t Call::batch_count() const {
  int64_t count = 1;
  for (int64_t size : batch_) count *= size;
  return count;
}

void Call::allocate(const char* name, Element element, std::initializer_list<Entry> shape, bool wanted, bool stored) {
#if defined(USE_CUDA)
  stored = true;
#endif
  allocate_stored(name, element, shape, wanted, stored);
}

void Call::allocate_stored(const char* name, Element element, std::initializer_list<Entry> shape, bool wanted,
                           bool stored) {
  if (!wanted) return reserve(name);
  if (!stored) return omit(name, element, shape);
  keep(name, empty(shape, type_of(element)));
}

void Call::reserve(const char* name) {
  names_.push_back(name);
  tensors_.push_back(Tensor());
  described_.push_back(OpgenTensor{});
  described_.back().ndim = -1;
}

void Call::set(const char* name, const Tensor& tensor) {
  const int number = number_of(name);
  tensors_[number] = tensor;
  described_[number] = description(tensor);
}

void Call::zero(const char* name, Element element, std::initializer_list<Entry> shape, bool result) {
  const Sizes sizes = resolved(shape), one;
  const Sizes& own = result ? sizes : one;
  const Tensor made = torch::stable::full({own.data(), own.size()}, 0.0, type_of(element), std::nullopt, device());
  set(name, result ? made : expand(made, sizes));
}

Tensor Call::result(const char* name, Element element) {
  const Tensor& own = held(number_of(name));
  return own.defined() ? converted(own, type_of(element)) : Tensor();
}

Tensor Call::result(const char* name, Element element, int64_t batch_at, const char* like) {
  Tensor value = held(number_of(name));
  if (!value.defined()) return value;
  const Tensor& target = tensors_[number_of(like)];
  if (sizes_of(value) != sizes_of(target)) {
    const int64_t missing = value.dim() - target.dim();
    Sizes over;
    for (int64_t d = 0; d < static_cast<int64_t>(batch_.size()); ++d) {
      if (d < missing || target.size(batch_at + d - missing) != batch_[d]) over.push_back(batch_at + d);
    }
    const Sizes sizes = sizes_of(target);
    value = torch::stable::sum(value, torch::headeronly::IntHeaderOnlyArrayRef(over.data(), over.size()), true);
    value = torch::stable::reshape(value, {sizes.data(), sizes.size()});
  }
  return converted(value, type_of(element));
}

Tensor Call::whole_result(const char* name, Element element, int64_t batch_at, int64_t others) {
  const Tensor value = result(name, element);
  if (!value.defined()) return value;
  const Sizes own = sizes_of(value);
  Sizes aligned = own, whole = own;
  const auto batch = static_cast<int64_t>(batch_.size()), missing = batch - (value.dim() - others);
  aligned.insert(aligned.begin() + batch_at, missing, 1);
  whole.insert(whole.begin() + batch_at, missing, 1);
  std::copy(batch_.begin(), batch_.end(), whole.begin() + batch_at);
  if (whole == own) return value;
  return torch::stable::clone(expand(torch::stable::reshape(value, {aligned.data(), aligned.size()}), whole));
}

Tensor Call::kept(const char* name, Element element, int64_t batch_at, int64_t others,
                  std::initializer_list<const char*> makers) {
  Tensor value = result(name, element);
  if (!value.defined()) return value;
  const Sizes own = batch_of(makers), had = sizes_of(value);
  const int64_t batch = value.dim() - others, missing = batch - static_cast<int64_t>(own.size());
  Sizes sizes = had;
  sizes.erase(sizes.begin() + batch_at, sizes.begin() + batch_at + missing);
  std::copy(own.begin(), own.end(), sizes.begin() + batch_at);
  if (sizes == had) return value;
  if (value.numel() == 0) return torch::stable::new_zeros(value, {sizes.data(), sizes.size()});
  for (int64_t d = 0; d < batch; ++d) {
    const bool whole = d >= missing && own[d - missing] == had[batch_at + d];
    if (!whole) value = torch::stable::narrow(value, batch_at + d, 0, 1);
  }
  return torch::stable::clone(torch::stable::reshape(value, {sizes.data(), sizes.size()}));
}

Tensor Call::converted(const Tensor& tensor, ScalarType type) {
  return tensor.scalar_type() == type ? tensor : torch::stable::to(tensor, type);
}

std::optional<torch::stable::Device> Call::device() const { return first().device(); }

Tensor Call::empty(std::initializer_list<Entry> shape, ScalarType type) const {
  return opgen::empty(resolved_few(shape), type, first().device());
}

const Tensor& Call::first() const {
  for (const Argument& a : arguments_) {
    if (a.tensor != nullptr) return *a.tensor;
  }
  fail(op_, ": no tensor was given");
}

void Call::find_type() {
  const Argument* owner = nullptr;
  for (const Argument& a : arguments_) {
    if (a.tensor == nullptr) continue;
    if (&a != &arguments_[0] && a.tensor->device() != first().device()) {
      fail(op_, ": ", a.name, " is on another device than ", arguments_[0].name);
    }
    const ScalarType type = a.tensor->scalar_type();
    const bool fits = a.element == Element::int64     ? type == ScalarType::Long
                      : a.element == Element::boolean ? type == ScalarType::Bool
                                                      : floating(type);
    if (!fits) fail(op_, ": ", a.name, " may not have dtype ", type_name(type));
    if (a.element != Element::scalar) continue;
    if (owner == nullptr) {
      owner = &a;
      scalar_ = type;
    } else if (type != scalar_) {
      fail(op_, ": ", a.name, " has dtype ", type_name(type), ", but ", owner->name, " has ", type_name(scalar_));
    }
  }
}

void Call::check(const Argument& a) {
  const Tensor& tensor = *a.tensor;
  const auto rank = static_cast<int64_t>(a.shape.size());
  int64_t batch_at = -1;
  for (int64_t k = 0; k < rank; ++k) batch_at = a.shape[k].kind == Entry::the_batch ? k : batch_at;
  const int64_t own = tensor.dim() - (rank - (batch_at < 0 ? 0 : 1));
  if (batch_at < 0 ? own != 0 : own < 0) {
    fail(op_, ": ", a.name, " has ", tensor.dim(), " dims, ", rank - (batch_at < 0 ? 0 : 1),
         batch_at < 0 ? " are declared: " : " at least are declared: ", shown(tensor));
  }
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t at = batch_at >= 0 && k > batch_at ? k + own - 1 : k;
    if (k != batch_at) check_size(a, a.shape[k], tensor.size(at), at);
  }
  if (batch_at >= 0) broadcast(a, batch_at, own);
}

void Call::check_size(const Argument& a, const Entry& entry, int64_t size, int64_t at) {
  if (entry.kind == Entry::a_size) {
    if (entry.size != size) {
      fail(op_, ": ", a.name, " has size ", size, " at dim ", at, ", declared is ", entry.size);
    }
  } else if (entry.kind == Entry::a_computed) {
    return;  // `expect` will tell
  } else if (dims_[entry.dim] < 0) {
    dims_[entry.dim] = size;
    owners_[entry.dim] = a.name;
  } else if (dims_[entry.dim] != size) {
    fail(op_, ": ", a.name, " has size ", size, " for ", entry.name, " (dim ", at, "), but ", owners_[entry.dim],
         " has ", dims_[entry.dim]);
  }
}

Sizes Call::batch_of(std::initializer_list<const char*> names) const {
  Sizes found;
  for (const char* name : names) {
    const Argument& a = arguments_[number_of(name)];
    const auto rank = static_cast<int64_t>(a.shape.size());
    int64_t batch_at = 0;
    while (a.shape[batch_at].kind != Entry::the_batch) ++batch_at;
    const int64_t own = a.tensor != nullptr ? a.tensor->dim() - (rank - 1) : 0;
    while (own > static_cast<int64_t>(found.size())) found.insert(found.begin(), 1);
    for (int64_t d = 0; d < own; ++d) {
      int64_t& known = found[found.size() - own + d];
      known = known == 1 ? a.tensor->size(batch_at + d) : known;
    }
  }
  return found;
}

void Call::broadcast(const Argument& a, int64_t batch_at, int64_t own) {
  while (own > static_cast<int64_t>(batch_.size())) {
    batch_.push_back(1);
    std::rotate(batch_.begin(), batch_.end() - 1, batch_.end());
  }
  for (int64_t d = 0; d < own; ++d) {
    const int64_t size = a.tensor->size(batch_at + d);
    int64_t& known = batch_[batch_.size() - own + d];
    if (known != size && known != 1 && size != 1) {
      fail(op_, ": ", a.name, " has size ", size, " at dim ", batch_at + d, ", which does not broadcast with ", known,
           " of the other operands");
    }
    known = known == 1 ? size : known;
  }
}

int Call::number_of(const char* name) const {
  int number = 0;
  while (std::strcmp(names_[number], name) != 0) ++number;
  return number;
}

void Call::keep(const char* name, Tensor tensor) {
  names_.push_back(name);
  described_.push_back(description(tensor));
  tensors_.push_back(std::move(tensor));
}

template <typename Shape>
void Call::omit(const char* name, Element element, const Shape& shape) {
  reserve(name);
  OpgenTensor& d = described_.back();
  const auto sizes = resolved_few(shape);
  d.dtype = dtype_of(type_of(element));
  d.ndim = static_cast<int64_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), d.sizes);
}

void Call::add(Argument& a) {
  if (!a.used) {
    reserve(a.name);
  } else if (a.tensor != nullptr) {
    keep(a.name, a.element == Element::compute ? converted(*a.tensor, type_of(a.element)) : *a.tensor);
  } else {
    omit(a.name, a.element, a.shape);
#if !defined(USE_CUDA)  // kernels for CUDA know the number
    described_.back().data = const_cast<void*>(memory_of(a.missing, type_of(a.element)));
#endif
  }
}

const Tensor& Call::held(int number) {
  const bool argument = number < static_cast<int>(arguments_.size());
  if (argument && arguments_[number].used && !tensors_[number].defined()) {
    const Argument& a = arguments_[number];
    const Tensor element =
        torch::stable::full({}, static_cast<double>(a.missing), type_of(a.element), std::nullopt, device());
    set(a.name, expand(element, resolved(a.shape)));
  }
  return tensors_[number];
}

template <typename Shape>
Sizes Call::resolved(const Shape& shape) const {
  const auto sizes = resolved_few(shape);
  return Sizes(sizes.begin(), sizes.end());
}

template Sizes Call::resolved(const Few<Entry, 4>& shape) const;  // for opgen_steps.cpp

template <typename Shape>
Few<int64_t, OPGEN_MAX_DIMS> Call::resolved_few(const Shape& shape) const {
  Few<int64_t, OPGEN_MAX_DIMS> sizes;
  for (const Entry& entry : shape) {
    if (entry.kind == Entry::the_batch) {
      for (int64_t size : batch_) sizes.push_back(size);
    } else {
      sizes.push_back(entry.kind == Entry::a_dim ? size(entry.dim) : entry.size);
    }
  }
  return sizes;
}

OpgenTensor Call::description(const Tensor& tensor) const {
  OpgenTensor d{};
  const auto sizes = tensor.sizes();
  if (sizes.size() > OPGEN_MAX_DIMS) fail(op_, ": a tensor has more than ", OPGEN_MAX_DIMS, " dims");
  d.data = const_cast<void*>(tensor.const_data_ptr());  // an argument to be copied on write is none to be written
  d.dtype = dtype_of(tensor.scalar_type());
  d.ndim = static_cast<int64_t>(sizes.size());
  std::copy_n(sizes.data(), d.ndim, d.sizes);
  std::copy_n(tensor.strides().data(), d.ndim, d.strides);
  return d;
}

}  // namespace opgen
