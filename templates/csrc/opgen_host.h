// The binding of generated operators to torch, on its stable ABI: checks arguments, finds sizes, allocates results,
// runs the steps of a kernel plan and gives matrix products and convolutions to torch. Generated files hold one
// function per plan.
//
// Compiled as it is, a binding runs the CPU kernels; with USE_CUDA, the CUDA kernels. Those are libraries of their own,
// as a torch without CUDA cannot load the second. What is the same for every operator is in opgen_host.cpp and
// opgen_steps.cpp, which are compiled once.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "opgen_abi.h"
#if defined(USE_CUDA)
#include "opgen_cuda_host.h"
#else
#include "opgen_cpu_host.h"
#endif
#include "opgen_dispatch.h"
#include "opgen_few.h"
#include "opgen_step.h"

namespace opgen {

#if defined(USE_CUDA)
using Step = OpgenCudaStep;
constexpr bool on_cpu = false;
#else
using Step = OpgenStep;
constexpr bool on_cpu = true;
#endif

// One call of one plan. Buffers are numbered as in the plan: arguments in order, then memory in order.
class __attribute__((visibility("hidden"))) Call {
 public:
  Call(const char* op, const Step* steps, int dims);
  ~Call();

  // An argument that must be there. Arguments are only pointed to: they have to live as long as this.
  void input(const char* name, const Tensor& tensor, Element element, std::initializer_list<Entry> shape);
  void input(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape);
  // One that may be missing, and is 0 or 1 at every place then.
  void input(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape,
             int missing);
  // An argument of the plan that this op is not given, as nothing needs it.
  void unused(const char* name, const Optional&, Element element, std::initializer_list<Entry> shape);
  // A cotangent or tangent, zero where it is missing.
  void cotangent(const char* name, const Tensor& tensor, Element element, std::initializer_list<Entry> shape);
  void cotangent(const char* name, const Optional& tensor, Element element, std::initializer_list<Entry> shape);

  // A tensor that no kernel reads, but whose dtype is that of the operator: all arguments may have others.
  void like(const Optional& tensor);
  // Once all arguments are known: dtype, device, sizes.
  void begin();
  // Once all dims are known: a computed size in the shape of an argument.
  void expect(int argument, int position, int64_t size);
  // An argument that does not broadcast: it has all batch dims itself.
  void expect_batch(int argument) const;
  // Once all shapes are known: the arguments as buffers, numbers for those that are missing.
  void hold();

  int64_t size(int dim) const;
  void set_size(int dim, int64_t size);
  // A position of an extreme is asked for, along what has this size.
  void some(const char* reduction, const char* along, int64_t size) const;
  int64_t batch_count() const;
  template <typename T>
  void items(const std::vector<T>& values, size_t count) const {
    if (values.size() != count) fail(op_, ": a parameter has ", values.size(), " items, declared are ", count);
  }

  // Memory for the next buffer, contiguous; none where no step runs that fills it. What is not `stored` is only there
  // for a step that fills others as well: kernels for the CPU do without.
  void allocate(const char* name, Element element, std::initializer_list<Entry> shape, bool wanted = true,
                bool stored = true);
  // The same of what kernels for any device do without.
  void allocate_stored(const char* name, Element element, std::initializer_list<Entry> shape, bool wanted, bool stored);
  // The place of a buffer that torch fills, or that nobody wants.
  void reserve(const char* name);
  void set(const char* name, const Tensor& tensor);
  // Zeros in place of a buffer: one for all places, or memory of its own for what a caller gets.
  void zero(const char* name, Element element, std::initializer_list<Entry> shape, bool result = false);
  // Memory for such a buffer.
  Tensor empty(Element element, std::initializer_list<Entry> shape) const { return empty(shape, type_of(element)); }

  // What the next kernel reads or writes along an axis lies between two ends, which sizes and params tell; nothing is
  // met where there are no points.
  void reach(int tensor, int64_t axis, int64_t size, int64_t low, int64_t high, int64_t points) const;
  // Such a position is a quotient by a size that is not 0.
  void divisor(int64_t value, int64_t points) const;
  // A kernel by its number, and its arguments: the numbers of tensors, then integers and reals.
  void run(int kernel, std::initializer_list<int> tensors, std::initializer_list<int64_t> ints = {},
           std::initializer_list<double> reals = {});

  // One of rows and one that folds across them, each if it is wanted: a device may run both as one.
  struct __attribute__((visibility("hidden"))) Launch {
    bool wanted;
    int kernel;
    std::initializer_list<int> tensors;
    std::initializer_list<int64_t> ints = {};
    std::initializer_list<double> reals = {};
  };
  void run_both(const Launch& rows, const Launch& columns);
  // One that adds up rows of a table, its first tensor, in more bits than become the result. `numbers`: the argument
  // that says which rows; `rows`: where in its integers it is told how many there are (-1: nowhere).
  void add_rows(const Launch& launch, std::initializer_list<Entry> table, int numbers, int rows);

  // a * b summed over what the equation leaves out, in the dtype of the result.
  Tensor contract(const char* equation, const char* a_name, const char* b_name, Element element);
  // Rows of a times rows of b, plus a bias over the last dim, if there is one.
  Tensor rows_by_rows(const char* a_name, const char* b_name, const char* bias, Element element);

  // A buffer in the dtype of an element, with the whole batch.
  Tensor whole(const char* name, Element element);
  // A buffer that is added to something, in the dtype of an element; none where an argument is missing that is 0 then.
  Optional given(const char* name, Element element);

  // A buffer as a result: in its dtype, and summed to the shape of an argument whose batch was broadcast. A buffer that
  // was not wanted is an undefined tensor.
  Tensor result(const char* name, Element element);
  Tensor result(const char* name, Element element, int64_t batch_at, const char* like);
  // The same of a product of matrices, which may have the batch dims of its own operands alone; `others`: how many dims
  // are none of the batch.
  Tensor whole_result(const char* name, Element element, int64_t batch_at, int64_t others);
  // A buffer that is kept for backward: in its dtype, with the batch dims of the arguments that it is made of.
  Tensor kept(const char* name, Element element, int64_t batch_at, int64_t others,
              std::initializer_list<const char*> makers);

 private:
  struct __attribute__((visibility("hidden"))) Argument {
    const char* name;
    const Tensor* tensor;  // null where it is missing
    Element element;
    Few<Entry, 4> shape;
    bool used = true;
    int missing = 0;
  };

  // Calls `f` with the arguments of a kernel, and says what went wrong.
  template <typename F>
  void with_call(const Launch& launch, const F& f);
  // The same where few rows are named: these alone are added up, and the others are 0. False where it is not done.
  bool add_few_rows(const Launch& launch, const Few<int64_t, OPGEN_MAX_DIMS>& table, int numbers, int rows);
  [[noreturn]] void out_of_range(int64_t index, int64_t axis, int tensor, int64_t size) const;
  ScalarType type_of(Element element) const { return opgen::type_of(element, scalar_); }
  static Tensor converted(const Tensor& tensor, ScalarType type);
  std::optional<torch::stable::Device> device() const;
  // Contiguous memory.
  Tensor empty(std::initializer_list<Entry> shape, ScalarType type) const;
  const Tensor& first() const;
  void find_type();

  void check(const Argument& a);
  void check_size(const Argument& a, const Entry& entry, int64_t size, int64_t at);
  // What the batch dims of some arguments broadcast to.
  Sizes batch_of(std::initializer_list<const char*> names) const;
  void broadcast(const Argument& a, int64_t batch_at, int64_t own);

  int number_of(const char* name) const;
  void keep(const char* name, Tensor tensor);
  // A buffer whose values go nowhere: no memory, but sizes and a dtype.
  template <typename Shape>
  void omit(const char* name, Element element, const Shape& shape);
  void add(Argument& a);
  // A buffer as a tensor of torch.
  const Tensor& held(int number);
  template <typename Shape>
  Sizes resolved(const Shape& shape) const;
  template <typename Shape>
  Few<int64_t, OPGEN_MAX_DIMS> resolved_few(const Shape& shape) const;
  OpgenTensor description(const Tensor& tensor) const;
  // An operand of a product, with the whole batch where neither side has it.
  Tensor operand(int number, Element element, int a, int b);
  bool whole_batch(int number);

  const char* op_;
  const Step* steps_;
  Few<int64_t, 8> dims_;
  Few<const char*, 8> owners_;
  Few<int64_t, 8> batch_;
  Few<Argument, 4> arguments_;
  Few<const char*, 8> names_;
  Few<Tensor, 8> tensors_;
  Few<OpgenTensor, 8> described_;
  ScalarType scalar_ = ScalarType::Float;
};

}  // namespace opgen
