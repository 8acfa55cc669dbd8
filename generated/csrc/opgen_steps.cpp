// How a call runs the steps of its plan: kernels, and the products that are torch's own. See opgen_host.h.
#include <cstring>
#include <limits>

#include "opgen_host.h"
#include "opgen_product.h"

namespace opgen {

namespace {

int run_step(const Step& step, OpgenCall& call, const Tensor& like) {
#if defined(USE_CUDA)
  return run_on_cuda(step, call, like);
#else
  return run_on_cpu(step, call);
#endif
}

}  // namespace

void Call::reach(int tensor, int64_t axis, int64_t size, int64_t low, int64_t high, int64_t points) const {
  if (points != 0 && (low < 0 || high >= size)) out_of_range(low < 0 ? low : high, axis, tensor, size);
}

void Call::divisor(int64_t value, int64_t points) const {
  if (points != 0 && value == 0) fail(op_, ": a whole number is divided by 0");
}

template <typename F>
void Call::with_call(const Launch& launch, const F& f) {
  Few<const OpgenTensor*, 8> actual;
  for (int number : launch.tensors) actual.push_back(&described_[number]);
  OpgenCall call{};
  call.tensors = actual.data();
  call.batch = batch_.data();
  call.batch_ndim = static_cast<int64_t>(batch_.size());
  call.ints = launch.ints.begin();
  call.reals = launch.reals.begin();
  call.dtype = dtype_of(scalar_);
  OpgenBadIndex bad{-1, 0, 0, 0};
  call.bad_index = &bad;
  const int status = f(call);
  if (status == OPGEN_BAD_INDEX) out_of_range(bad.index, bad.axis, launch.tensors.begin()[bad.tensor], bad.size);
  if (status == OPGEN_OK) return;
  fail(op_, ": kernel ", launch.kernel, " failed with ", status > 0 ? "CUDA error " : "code ", status);
}

void Call::run(int kernel, std::initializer_list<int> tensors, std::initializer_list<int64_t> ints,
               std::initializer_list<double> reals) {
  with_call({true, kernel, tensors, ints, reals},
            [&](OpgenCall& call) { return run_step(steps_[kernel], call, first()); });
}

void Call::run_both(const Launch& rows, const Launch& columns) {
#if defined(USE_CUDA)
  if (rows.wanted && columns.wanted) {
    with_call(columns, [&](OpgenCall& beside) {
      with_call(rows, [&](OpgenCall& call) {
        call.columns = &beside;
        return run_step(steps_[rows.kernel], call, first());
      });
      return OPGEN_OK;
    });
    return;
  }
#endif
  for (const Launch* each : {&rows, &columns}) {
    if (each->wanted) run(each->kernel, each->tensors, each->ints, each->reals);
  }
}

void Call::add_rows(const Launch& launch, std::initializer_list<Entry> table, int numbers, int rows) {
  if (add_few_rows(launch, resolved_few(table), numbers, rows)) return;
  const int number = *launch.tensors.begin();
  set(names_[number], empty(table, type_of(Element::compute)));
  run(launch.kernel, launch.tensors, launch.ints, launch.reals);
}

bool Call::add_few_rows(const Launch& launch, const Few<int64_t, OPGEN_MAX_DIMS>& table, int numbers, int rows) {
#if defined(USE_CUDA)
  return false;
#else
  const Tensor& given = tensors_[numbers];
  const int64_t count = given.numel();
  const bool few = 2 * count <= table[0] && table[0] <= std::numeric_limits<int32_t>::max();
  if (!few || type_of(Element::compute) == scalar_ || !given.is_contiguous()) return false;
  const auto* number = static_cast<const int64_t*>(given.const_data_ptr());
  std::vector<int32_t> place(table[0], -1);  // of a row among those that are named, in the order that they come in
  std::vector<int64_t> named, places(count);
  for (int64_t k = 0; k < count; ++k) {
    if (number[k] < 0 || number[k] >= table[0]) return false;  // the kernel tells
    int32_t& own = place[number[k]];
    if (own < 0) {
      own = static_cast<int32_t>(named.size());
      named.push_back(number[k]);
    }
    places[k] = own;
  }
  Few<int64_t, OPGEN_MAX_DIMS> sizes(table);
  sizes[0] = static_cast<int64_t>(named.size());
  const char* name = names_[*launch.tensors.begin()];
  set(name, opgen::empty(sizes, type_of(Element::compute), first().device()));
  described_[numbers].data = places.data();
  std::vector<int64_t> ints(launch.ints);
  if (rows >= 0) ints[rows] = sizes[0];
  with_call(launch, [&](OpgenCall& call) {
    call.ints = ints.data();
    return run_step(steps_[launch.kernel], call, first());
  });
  described_[numbers] = description(given);
  const Tensor sums = converted(held(number_of(name)), scalar_);
  const Tensor whole = opgen::empty(table, scalar_, first().device());
  set(name, whole);
  const int64_t bytes = named.empty() ? 0 : sums.numel() / sizes[0] * static_cast<int64_t>(sums.element_size());
  auto* to = static_cast<char*>(whole.mutable_data_ptr());
  const int64_t all = whole.numel() * static_cast<int64_t>(whole.element_size()), grain = 1 << 18;
  torch::stable::parallel_for(0, all, grain,
                              [=](int64_t begin, int64_t end) { std::memset(to + begin, 0, end - begin); });
  const auto* from = static_cast<const char*>(sums.const_data_ptr());
  torch::stable::parallel_for(0, sizes[0], 1 + grain / (bytes + 1), [=, &named](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) std::memcpy(to + named[k] * bytes, from + k * bytes, bytes);
  });
  return true;
#endif
}

Tensor Call::contract(const char* equation, const char* a_name, const char* b_name, Element element) {
  const int a = number_of(a_name), b = number_of(b_name);
  const Tensor left = operand(a, element, a, b), right = converted(held(b), type_of(element));
  if (std::optional<Tensor> made = product(equation, left, right, type_of(element), nullptr)) return *made;
  const std::vector<Tensor> operands{left, right};
  return packed(
      dispatch<3>("aten::einsum", "", {boxed(std::string(equation)), boxed(operands), boxed(std::optional<Sizes>())}));
}

Tensor Call::rows_by_rows(const char* a_name, const char* b_name, const char* bias, Element element) {
  const int a = number_of(a_name), b = number_of(b_name);
  const ScalarType type = type_of(element);
  const Optional added = bias == nullptr ? Optional() : given(bias, element);
  const Tensor left = operand(a, element, a, a), right = converted(held(b), type);
  const Tensor* row = added.has_value() ? &*added : nullptr;
  if (std::optional<Tensor> made = product("...k,nk->...n", left, right, type, row)) return *made;
  return dispatch<3>("aten::linear", "", {boxed(left), boxed(right), boxed(added)});
}

Tensor Call::whole(const char* name, Element element) {
  const int number = number_of(name);
  return operand(number, element, number, number);
}

Optional Call::given(const char* name, Element element) {
  const int number = number_of(name);
  const bool is_argument = number < static_cast<int>(arguments_.size());
  if (is_argument && arguments_[number].tensor == nullptr && arguments_[number].missing == 0) return Optional();
  return converted(held(number), type_of(element));
}

void Call::out_of_range(int64_t index, int64_t axis, int tensor, int64_t size) const {
  fail(op_, ": index ", index, " is out of range for axis ", axis, " of ", names_[tensor], ", which has size ", size);
}

Tensor Call::operand(int number, Element element, int a, int b) {
  const Tensor tensor = converted(held(number), type_of(element));
  const bool is_argument = number < static_cast<int>(arguments_.size());
  if (!is_argument || whole_batch(a) || whole_batch(b)) return tensor;
  const auto& shape = arguments_[number].shape;
  const Sizes wanted = resolved(shape);
  Sizes own = sizes_of(tensor);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k].kind != Entry::the_batch) continue;
    own.insert(own.begin() + k, wanted.size() - own.size(), 1);  // batch dims are aligned from the right of their own
    return expand(torch::stable::reshape(tensor, {own.data(), own.size()}), wanted);
  }
  return tensor;
}

bool Call::whole_batch(int number) {
  if (number >= static_cast<int>(arguments_.size())) return true;
  return sizes_of(held(number)) == resolved(arguments_[number].shape);
}

}  // namespace opgen
