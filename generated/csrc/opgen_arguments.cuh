// What the host prepares for a kernel of a call: its members, which are views of tensors, numbers and places.
#pragma once

#include <array>
#include <utility>

#include "opgen_abi.h"
#include "opgen_tensor.cuh"

namespace rt {

inline int64_t batch_count(const OpgenCall& call) {
  int64_t count = 1;
  for (int64_t d = 0; d < call.batch_ndim; ++d) count *= call.batch[d];
  return count;
}

// Which argument of a call a member of a kernel is. Of a tensor also how many declared dims it has (its batch counted
// as one), where its batch stands (-1: it has none), and along which of its dims a row of it is read or written (-1:
// there is none).
struct Field {
  enum Kind { a_tensor, an_integer, a_real, a_fixed, the_batch, the_elements, a_workspace };

  Kind kind;
  int number = 0;
  int rank = 0;
  int batch_at = -1;
  int along = -1;
  bool vectors = false;  // of a divider: what it divides by is counted in these
};

constexpr Field tensor(int number, int rank, int batch_at, int along = -1) {
  return {Field::a_tensor, number, rank, batch_at, along};
}
constexpr Field integer(int number) { return {Field::an_integer, number}; }
constexpr Field real(int number) { return {Field::a_real, number}; }
constexpr Field fixed(int number) { return {Field::a_fixed, number}; }
constexpr Field in_vectors(const Field& field) {
  return {field.kind, field.number, field.rank, field.batch_at, field.along, true};
}
constexpr Field batch() { return {Field::the_batch}; }
constexpr Field elements() { return {Field::the_elements}; }
constexpr Field workspace() { return {Field::a_workspace}; }

// The members of a kernel in their order, tensors first.
template <typename... Fields>
constexpr std::array<Field, sizeof...(Fields)> fields(Fields... each) {
  return {each...};
}

// Whether a kernel goes along rows or lines that are named.
template <size_t Size>
constexpr bool any_along(const std::array<Field, Size>& fields) {
  for (const Field& field : fields) {
    if (field.along >= 0) return true;
  }
  return false;
}
template <typename Step>
constexpr bool has_rows = any_along(Step::fields);

// Reads an OpgenCall for one kernel: merges the batch dims as far as all its tensors allow, and hands out views. The
// tensors are the first of its fields.
template <int Count>
class Arguments {
 public:
  // (One constructor, not split up: gcc 12 loses the strides when they are set in a function of their own.)
  Arguments(const OpgenCall& call, const Field* slots) : call(call), slots(slots) {
    for (int64_t d = 0; d < call.batch_ndim; ++d) {
      if (call.batch[d] == 1) continue;
      bool merges = used > 0;
      for (int i = 0; i < Count && merges; ++i) merges = strides[i][used - 1] == batch_stride(i, d) * call.batch[d];
      if (!merges) ++used;
      sizes[used - 1] = merges ? sizes[used - 1] * call.batch[d] : call.batch[d];
      for (int i = 0; i < Count; ++i) strides[i][used - 1] = batch_stride(i, d);
    }
  }

  // How many dims the batch has left.
  int rank() const { return used; }

  template <int rank>
  Batch<rank> batch() const {
    Batch<rank> result;
    result.used = used;
    for (int d = 0; d < used && d < rank; ++d) result.sizes[d] = Divider<rank>(sizes[d]);
    result.count = batch_count(call);
    return result;
  }

  template <typename T, int rank>
  Tensor<T, rank> tensor(int i) const {
    const OpgenTensor& source = *call.tensors[slots[i].number];
    Tensor<T, rank> view;
    view.data = static_cast<T*>(source.data);
    const int64_t own = batch_rank(i);
    for (int axis = 0; axis < slots[i].rank && axis < max_axes; ++axis) {
      const bool before = slots[i].batch_at < 0 || axis < slots[i].batch_at;
      const int64_t stride = source.data == nullptr ? 0 : source.strides[before ? axis : axis + own - 1];
      if (axis != slots[i].batch_at) view.strides[axis] = stride_of<T, rank>(stride);
    }
    for (int d = 0; d < used && d < rank; ++d) view.batch_strides[d] = stride_of<T, rank>(strides[i][d]);
    return view;
  }

  // Whether all tensors (0-dim ones aside) lie in the order of their declared positions over the whole batch, without
  // gaps and aligned, so that the n-th point of one is the n-th of another.
  bool flat() const {
    for (int i = 0; i < Count; ++i) {
      if (slots[i].rank > 0 && !flat(i)) return false;
    }
    return true;
  }

  // Whether every row is a run of neighbours that starts where vectors may start.
  bool rows_of_vectors() const {
    for (int i = 0; i < Count; ++i) {
      const OpgenTensor& source = *call.tensors[slots[i].number];
      if (slots[i].along < 0 || source.data == nullptr) continue;
      const bool behind = slots[i].batch_at >= 0 && slots[i].batch_at < slots[i].along;
      const int64_t along = behind ? slots[i].along + batch_rank(i) - 1 : slots[i].along;
      if (reinterpret_cast<uintptr_t>(source.data) % 16 != 0) return false;
      const bool in_batch = slots[i].along == slots[i].batch_at;  // all of whose dims are one
      if (in_batch && (used != 1 || strides[i][0] != 1)) return false;
      for (int64_t d = 0; d < source.ndim; ++d) {
        if (in_batch && d >= along && d < along + batch_rank(i)) continue;
        const int64_t stride = source.strides[d];
        if (source.sizes[d] > 1 && (d == along ? stride != 1 : stride % 16 != 0)) return false;
      }
    }
    return true;
  }

  // Whether rows are side by side along the last dim of the batch, each of them with steps between its elements.
  bool rows_side_by_side() const {
    bool any = false;
    for (int i = 0; i < Count; ++i) {
      const OpgenTensor& source = *call.tensors[slots[i].number];
      if (slots[i].along < 0 || source.data == nullptr || slots[i].along == slots[i].batch_at) continue;
      const bool behind = slots[i].batch_at >= 0 && slots[i].batch_at < slots[i].along;
      const int64_t along = behind ? slots[i].along + batch_rank(i) - 1 : slots[i].along;
      if (slots[i].batch_at < 0 || source.sizes[along] == 1) continue;
      if (source.strides[along] == 1 || used == 0 || strides[i][used - 1] != 1) return false;
      any = true;
    }
    return any;
  }

  // Whether all tensors have neighbours along the last dim of the batch, in whole vectors of V elements that start
  // where vectors may start.
  template <int V>
  bool in_vectors() const {
    if (used == 0 || sizes[used - 1] % V != 0) return false;
    for (int i = 0; i < Count; ++i) {
      const void* data = call.tensors[slots[i].number]->data;
      if (data == nullptr) continue;
      if (reinterpret_cast<uintptr_t>(data) % 16 != 0 || strides[i][used - 1] != 1) return false;
      for (int d = 0; d < used - 1; ++d) {
        if (strides[i][d] % V != 0) return false;
      }
    }
    return true;
  }

  // Whether all positions are below 2^31, and strides below so many bytes in elements of any type.
  bool small_positions() const {
    for (int i = 0; i < Count; ++i) {
      const OpgenTensor& source = *call.tensors[slots[i].number];
      for (int64_t d = 0; d < source.ndim; ++d) {
        const bool far = source.strides[d] >= small / 8;  // of the widest elements
        if (source.sizes[d] > 1 && (source.sizes[d] >= small || far)) return false;
      }
    }
    return true;
  }

  int status() const { return used > max_batch ? OPGEN_TOO_MANY_DIMS : OPGEN_OK; }

 private:
  bool flat(int i) const {
    const OpgenTensor& source = *call.tensors[slots[i].number];
    if (source.data == nullptr) return true;
    if (reinterpret_cast<uintptr_t>(source.data) % 16 != 0) return false;
    int64_t expected = 1;
    for (int64_t d = source.ndim - 1; d >= 0; --d) {
      if (source.sizes[d] != 1 && source.strides[d] != expected) return false;
      expected *= source.sizes[d];
    }
    if (slots[i].batch_at < 0) return true;
    int64_t own = 1;
    for (int64_t d = 0; d < batch_rank(i); ++d) own *= source.sizes[slots[i].batch_at + d];
    return own == batch_count(call);
  }

  int64_t batch_rank(int i) const {
    return slots[i].batch_at < 0 ? 0 : call.tensors[slots[i].number]->ndim - (slots[i].rank - 1);
  }

  // The stride of a tensor along a batch dim of the call: 0 where it broadcasts.
  int64_t batch_stride(int i, int64_t d) const {
    const OpgenTensor& source = *call.tensors[slots[i].number];
    const int64_t own = d - (call.batch_ndim - batch_rank(i));
    if (slots[i].batch_at < 0 || own < 0 || source.data == nullptr || source.sizes[slots[i].batch_at + own] == 1)
      return 0;
    return source.strides[slots[i].batch_at + own];
  }

  const OpgenCall& call;
  const Field* slots;
  int used = 0;
  int64_t sizes[OPGEN_MAX_DIMS] = {};
  int64_t strides[Count][OPGEN_MAX_DIMS] = {};
};

// --- A kernel as a struct

// What a kernel is made for.
template <typename Step>
struct Made {
  static constexpr int rank = 2;
};
template <template <typename, int> class Part, typename T, int batch_rank>
struct Made<Part<T, batch_rank>> {
  static constexpr int rank = batch_rank;
};

template <size_t Size>
constexpr int tensors_of(const std::array<Field, Size>& fields) {
  int found = 0;
  for (const Field& field : fields) found += field.kind == Field::a_tensor;
  return found;
}

template <typename T>
constexpr bool is_tensor = false;
template <typename T, int rank>
constexpr bool is_tensor<Tensor<T, rank>> = true;

// The value of a member: what type it has says how the call is read. Points are counted in vectors of V.
template <int rank, int V, int Count>
struct Actual {
  const Arguments<Count>& args;
  const OpgenCall& call;
  const Field& field;
  int at;

  template <typename T>
  operator T() const {
    if constexpr (is_tensor<T>) {
      return args.template tensor<typename T::Element, rank>(at);
    } else if constexpr (std::is_same_v<T, Batch<rank>>) {
      return args.template batch<rank>();
    } else if constexpr (std::is_same_v<T, Divider<rank>>) {
      const int64_t size = field.kind == Field::a_fixed        ? field.number
                           : field.kind == Field::the_elements ? batch_count(call)
                                                               : call.ints[field.number];
      return Divider<rank>(field.vectors ? size / V : size);
    } else if constexpr (std::is_same_v<T, Divisor>) {
      return Divisor(call.ints[field.number]);
    } else if constexpr (std::is_pointer_v<T>) {
      return static_cast<T>(call.workspace);
    } else if constexpr (std::is_same_v<T, bool>) {
      return call.ints[field.number] != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return call.ints[field.number];
    } else {
      return static_cast<T>(call.reals[field.number]);
    }
  }
};

template <typename Step, int V, int Count, size_t... I>
Step filled(const Arguments<Count>& args, const OpgenCall& call, std::index_sequence<I...>) {
  return Step{Actual<Made<Step>::rank, V, Count>{args, call, Step::fields[I], static_cast<int>(I)}...};
}
template <typename Step, int V = 1, int Count>
Step made(const OpgenCall& call, const Arguments<Count>& args) {
  return filled<Step, V>(args, call, std::make_index_sequence<Step::fields.size()>());
}
template <typename Step>
Step made(const OpgenCall& call) {
  return made<Step>(call, Arguments<tensors_of(Step::fields)>(call, Step::fields.data()));
}

}  // namespace rt
