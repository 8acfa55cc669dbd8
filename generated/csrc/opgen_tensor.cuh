// Views of tensors inside kernels, the flattening of loops, and what the host prepares for both.
#pragma once

#include <array>

#include "opgen_abi.h"
#include "opgen_types.cuh"

namespace rt {

constexpr int max_batch = 6;  // batch dims that are left after merging
constexpr int max_axes = 8;   // declared dims of one tensor

// Kernels that are made for batches of one dim, and for numbers below `small`: positions, the numbers of points and of
// vectors, strides. They are computed with in 32 bits. (Products of two of them are not: a place in memory may be
// further away.) All others are left to the general form.
constexpr int64_t small = int64_t{1} << 31;

template <int rank>
using Number = std::conditional_t<rank == 1, uint32_t, int64_t>;

// Divides numbers below 2^63 by one fixed at launch: a multiplication and a shift. (The compiler's own 64-bit division
// is a subroutine, which costs registers even where it never runs.)
template <int rank>
struct Divider {
  int64_t size = 1;
  uint64_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t size) : size(size) {
    if (size < 1) return;
    while ((uint64_t{1} << shift) < static_cast<uint64_t>(size)) ++shift;
    const auto excess = static_cast<unsigned __int128>((uint64_t{1} << shift) - static_cast<uint64_t>(size));
    factor = static_cast<uint64_t>((excess << 64) / static_cast<uint64_t>(size) + 1);
  }

  OPGEN_DEVICE int64_t quotient(int64_t n) const {
    const auto dividend = static_cast<uint64_t>(n);
    return static_cast<int64_t>((__umul64hi(dividend, factor) + dividend) >> shift);
  }
};
// The same below 2^31.
template <>
struct Divider<1> {
  int64_t size = 1;
  uint32_t factor = 0;
  int shift = 0;

  Divider() = default;
  explicit Divider(int64_t size) : size(size) {
    if (size < 1 || size >= small) return;
    while ((int64_t{1} << shift) < size) ++shift;
    factor = static_cast<uint32_t>((((int64_t{1} << shift) - size) << 32) / size + 1);
  }

  OPGEN_DEVICE int64_t quotient(int64_t n) const {
    const auto dividend = static_cast<uint32_t>(n);
    return (__umulhi(dividend, factor) + dividend) >> shift;
  }
};

// Splits off the fastest index of a flattened loop nest.
template <int rank>
OPGEN_DEVICE int64_t split(int64_t* rest, const Divider<rank>& divider) {
  const int64_t quotient = divider.quotient(*rest);
  const auto size = static_cast<Number<rank>>(divider.size);
  const auto index = static_cast<Number<rank>>(*rest) - static_cast<Number<rank>>(quotient) * size;
  *rest = quotient;
  return index;
}

// The first point of a vector.
template <int V, int rank>
OPGEN_DEVICE int64_t first_of(int64_t vector) {
  return static_cast<Number<rank>>(vector) * V;
}
// Splits off the fastest index where points are counted in vectors, as the divider is.
template <int V, int rank>
OPGEN_DEVICE int64_t split_first(int64_t* rest, const Divider<rank>& vectors) {
  return first_of<V, rank>(split(rest, vectors));
}

// A place in the batch: one coordinate per merged batch dim.
template <int rank>
struct Place {
  int64_t at[rank];
};

// The batch of a kernel that is made for as many merged dims, or for fewer.
template <int rank>
struct Batch {
  int used = 0;
  int64_t count = 1;
  Divider<rank> sizes[rank];

  OPGEN_DEVICE Place<rank> place(int64_t index) const {
    Place<rank> p;
    OPGEN_UNROLL
    for (int d = rank - 1; d > 0; --d) p.at[d] = d < used ? split(&index, sizes[d]) : 0;
    p.at[0] = index;
    return p;
  }
  // The inverse of `place`.
  OPGEN_DEVICE int64_t index(const Place<rank>& p) const {
    int64_t flat = p.at[0];
    OPGEN_UNROLL
    for (int d = 1; d < rank; ++d) {
      if (d < used) flat = flat * sizes[d].size + p.at[d];
    }
    return flat;
  }
};

// What is at a position of a dim, if its first element is at `first`: with strides in elements, and in bytes. (That is
// one instruction, and said so: a compiler that sees a position in another block than where it comes from multiplies
// all of its 64 bits.)
template <typename T>
OPGEN_DEVICE T* moved(T* first, int64_t position, int64_t stride) {
  return first + position * stride;
}
template <typename T>
OPGEN_DEVICE T* moved(T* first, int64_t position, uint32_t bytes) {
  const auto small_position = static_cast<uint32_t>(position);
#if defined(__CUDA_ARCH__)
  size_t at;
  asm("mad.wide.u32 %0, %1, %2, %3;"
      : "=l"(at)
      : "r"(small_position), "r"(bytes), "l"(__cvta_generic_to_global(first)));
  return static_cast<T*>(__cvta_global_to_generic(at));
#else
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(first) + static_cast<uint64_t>(small_position) * bytes);
#endif
}
// A stride as kernels have it.
template <typename T, int rank>
OPGEN_BOTH constexpr Number<rank> stride_of(int64_t elements) {
  return static_cast<Number<rank>>(rank == 1 ? elements * static_cast<int64_t>(sizeof(T)) : elements);
}

// A strided tensor. `at`, `load` and `store` take its positions in declared order, a Place where its batch stands.
template <typename T, int rank>
struct Tensor {
  using Element = T;

  T* data = nullptr;
  Number<rank> batch_strides[rank] = {};
  Number<rank> strides[max_axes] = {};

  // From the first element on. `Step`: the axis whose elements are neighbours, if that is known.
  template <int Axis, int Step = -1>
  OPGEN_DEVICE T* from(T* first) const {
    return first;
  }
  template <int Axis, int Step = -1, typename... Rest>
  OPGEN_DEVICE T* from(T* first, const Place<rank>& place, Rest... rest) const {
    T* to = from<Axis + 1, Step>(first, rest...);
    OPGEN_UNROLL
    for (int d = 0; d < rank; ++d) to = moved(to, place.at[d], batch_strides[d]);
    return to;
  }
  template <int Axis, int Step = -1, typename... Rest>
  OPGEN_DEVICE T* from(T* first, int64_t position, Rest... rest) const {
    T* const to = from<Axis + 1, Step>(first, rest...);
    return moved(to, position, Axis == Step ? stride_of<T, rank>(1) : strides[Axis]);
  }

  template <typename... Positions>
  OPGEN_DEVICE T* at(Positions... positions) const {
    return from<0>(data, positions...);
  }
  template <typename... Positions>
  OPGEN_DEVICE math_t<T> load(Positions... positions) const {
    return loaded(from<0>(data, positions...));
  }
  // A missing argument reads as zero.
  template <typename... Positions>
  OPGEN_DEVICE math_t<T> load_or_zero(Positions... positions) const {
    return data == nullptr ? math_t<T>(0) : load(positions...);
  }
  template <typename V, typename... Positions>
  OPGEN_DEVICE void store(V value, Positions... positions) const {
    narrow(static_cast<math_t<T>>(value), at(positions...));
  }
};

// Neighbouring elements, moved 16 bytes at a time, and held in words: what is read under a condition is put together by
// words, too.
template <typename T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Pack {
  using Element = std::remove_const_t<T>;
  using Word = std::conditional_t<sizeof(T) * V % 4 == 0, uint32_t, unsigned char>;
  Word words[sizeof(T) * V / sizeof(Word)];

  OPGEN_DEVICE math_t<T> get(int i) const {
    if constexpr (sizeof(T) == 2 && sizeof(Word) == 4) {
      return widened<Element>(words[i / 2], i % 2 != 0);
    } else {
      Element value;
      memcpy(&value, reinterpret_cast<const char*>(words) + i * sizeof(T), sizeof(T));
      return loaded(&value);
    }
  }
};
// What a device moves of one at a time: said to the compiler, which would move words where they are used.
#if defined(__CUDACC__)
template <size_t Alignment>
struct PieceOf {
  using type = uint4;
};
template <>
struct PieceOf<8> {
  using type = uint2;
};
template <>
struct PieceOf<4> {
  using type = unsigned;
};
template <>
struct PieceOf<2> {
  using type = unsigned short;
};
template <>
struct PieceOf<1> {
  using type = unsigned char;
};
template <typename Whole>
using Piece = typename PieceOf<alignof(Whole)>::type;
template <typename Whole>
constexpr int pieces_of = sizeof(Whole) / sizeof(Piece<Whole>);
#endif

template <typename T, int V>
OPGEN_DEVICE Pack<T, V> pack_at(const T* at) {
  using Whole = Pack<T, V>;
#if defined(__CUDACC__)
  Whole pack;
  OPGEN_UNROLL
  for (int i = 0; i < pieces_of<Whole>; ++i) {
    const Piece<Whole> piece = reinterpret_cast<const Piece<Whole>*>(at)[i];
    memcpy(reinterpret_cast<char*>(pack.words) + i * sizeof(piece), &piece, sizeof(piece));
  }
  return pack;
#else
  return *reinterpret_cast<const Whole*>(at);
#endif
}
// The same of memory that nothing writes meanwhile: one load wherever it is read again.
template <typename T, int V>
OPGEN_DEVICE Pack<T, V> fixed_pack(const T* at) {
#if defined(__CUDACC__)
  using Whole = Pack<T, V>;
  Whole pack;
  OPGEN_UNROLL
  for (int i = 0; i < pieces_of<Whole>; ++i) {
    const Piece<Whole> piece = __ldg(reinterpret_cast<const Piece<Whole>*>(at) + i);
    memcpy(reinterpret_cast<char*>(pack.words) + i * sizeof(piece), &piece, sizeof(piece));
  }
  return pack;
#else
  return pack_at<T, V>(at);
#endif
}
// A store that stays whole whatever is around it; loads behind it stay there.
template <typename T, int V>
OPGEN_DEVICE void put_pack(const Pack<T, V>& pack, T* at) {
#if defined(__CUDACC__)
  using Whole = Pack<T, V>;
  OPGEN_UNROLL
  for (int i = 0; i < pieces_of<Whole>; ++i) {
    Piece<Whole> piece;
    memcpy(&piece, reinterpret_cast<const char*>(pack.words) + i * sizeof(piece), sizeof(piece));
    __stwb(reinterpret_cast<Piece<Whole>*>(at) + i, piece);
  }
#else
  *reinterpret_cast<Pack<T, V>*>(at) = pack;
#endif
}
template <int V, typename T, int rank>
OPGEN_DEVICE Pack<T, V> load_pack(const Tensor<T, rank>& tensor, int64_t first) {
  return *reinterpret_cast<const Pack<T, V>*>(tensor.data + first);
}
template <int V, typename T, int rank>
OPGEN_DEVICE Pack<T, V> load_pack_or_zero(const Tensor<T, rank>& tensor, int64_t first) {
  return tensor.data == nullptr ? Pack<T, V>{} : load_pack<V>(tensor, first);
}
// What V neighbouring points read.
template <typename T, int V>
struct Line {
  Pack<T, V> pack;
  OPGEN_DEVICE math_t<T> operator[](int i) const { return pack.get(i); }
};
template <typename T>
struct Line<T, 1> {
  math_t<T> value;
  OPGEN_DEVICE math_t<T> operator[](int) const { return value; }
};
template <int V, int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE Line<T, V> read_line(const Tensor<T, rank>& tensor, Positions... positions) {
  if constexpr (V == 1) {
    return {tensor.load(positions...)};
  } else {
    return {pack_at<T, V>(tensor.template from<0, Axis>(tensor.data, positions...))};
  }
}
// What vectors of missing arguments are read from, which have strides of 0: no lane has a condition of its own.
static __device__ const Pack<float, 8> zeros = {};

template <int V, int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE Line<T, V> read_line_or_zero(const Tensor<T, rank>& tensor, Positions... positions) {
  if constexpr (V == 1) {
    return {tensor.load_or_zero(positions...)};
  } else {
    const T* const first = tensor.data == nullptr ? reinterpret_cast<const T*>(&zeros) : tensor.data;
    return {pack_at<T, V>(tensor.template from<0>(first, positions...))};
  }
}

// The same on their way to memory, still as they were computed.
template <typename T, int V>
struct Values {
  math_t<T> values[V];

  template <typename Value>
  OPGEN_DEVICE void set(int i, Value value) {
    values[i] = static_cast<math_t<T>>(value);
  }
  OPGEN_DEVICE Pack<T, V> pack() const {
    T stored[V];
    OPGEN_UNROLL
    for (int i = 0; i + 1 < V; i += 2) narrow_pair(values[i], values[i + 1], &stored[i]);
    if constexpr (V % 2 == 1) narrow(values[V - 1], &stored[V - 1]);
    Pack<T, V> pack;
    memcpy(pack.words, stored, sizeof(pack));
    return pack;
  }
  OPGEN_DEVICE void store(T* at) const { *reinterpret_cast<Pack<T, V>*>(at) = pack(); }
};
template <int V, typename T, int rank>
OPGEN_DEVICE void store_pack(const Tensor<T, rank>& tensor, int64_t first, const Values<T, V>& values) {
  values.store(tensor.data + first);
}

template <int V, typename F>
OPGEN_DEVICE void lanes(const F& f) {
  OPGEN_UNROLL
  for (int at = 0; at < V; ++at) f(at);
}

// What they store: each of them once, in order.
template <typename T, int V>
struct WrittenLine {
  T* data;
  Values<T, V> values;
  template <typename Value>
  OPGEN_DEVICE void set(int i, Value value) {
    values.set(i, value);
    if (i == V - 1) put_pack<T, V>(values.pack(), data);
  }
};
template <int V, int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE WrittenLine<T, V> write_line(const Tensor<T, rank>& tensor, Positions... positions) {
  return {tensor.template from<0, V == 1 ? -1 : Axis>(tensor.data, positions...), {}};
}

// --- Host
// -------------------------------------------------------------------------------------------------------------

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
      for (int64_t d = 0; d < source.ndim; ++d) {
        const int64_t stride = source.strides[d];
        if (source.sizes[d] > 1 && (d == along ? stride != 1 : stride % 16 != 0)) return false;
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

}  // namespace rt
