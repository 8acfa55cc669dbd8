// Neighbouring elements of tensors inside kernels, moved 16 bytes at a time.
#pragma once

#include "opgen_tensor.cuh"

namespace rt {

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
// What vectors of missing arguments are read from, which have strides of 0: no lane has a condition of its own.
template <typename Bits, Bits bits>
struct alignas(16) Many {
  Bits each[32 / sizeof(Bits)] = {};
  constexpr Many() {
    for (Bits& element : each) element = bits;
  }
};
template <typename T>
struct Ones : Many<uint64_t, 0x3ff0000000000000> {};
template <>
struct Ones<float> : Many<uint32_t, 0x3f800000> {};
template <>
struct Ones<half_t> : Many<uint16_t, 0x3c00> {};
template <>
struct Ones<bfloat16_t> : Many<uint16_t, 0x3f80> {};
static __device__ const Many<uint32_t, 0> zeros;
template <typename T>
static __device__ const Ones<T> ones;

template <typename T, int value>
OPGEN_DEVICE const T* many_of() {
  static_assert(value == 0 || value == 1, "the numbers that there is memory of");
  if constexpr (value == 0) {
    return reinterpret_cast<const T*>(&zeros);
  } else {
    return reinterpret_cast<const T*>(&ones<std::remove_const_t<T>>);
  }
}
template <typename T, int V, int value>
OPGEN_DEVICE Pack<T, V> pack_of() {
  if constexpr (value == 0) {
    return {};
  } else {
    return *reinterpret_cast<const Pack<T, V>*>(many_of<T, value>());
  }
}
// `first`: the number of an element in the order of memory, or a place in the batch.
template <typename T, int rank>
OPGEN_DEVICE T* element(const Tensor<T, rank>& tensor, int64_t first) {
  return tensor.data + first;
}
template <typename T, int rank>
OPGEN_DEVICE T* element(const Tensor<T, rank>& tensor, const Place<rank>& first) {
  return tensor.at(first);
}
template <int V, typename T, int rank, typename At>
OPGEN_DEVICE Pack<T, V> load_pack(const Tensor<T, rank>& tensor, const At& first) {
  return *reinterpret_cast<const Pack<T, V>*>(element(tensor, first));
}
template <int V, int missing, typename T, int rank, typename At>
OPGEN_DEVICE Pack<T, V> load_pack_or(const Tensor<T, rank>& tensor, const At& first) {
  return tensor.data == nullptr ? pack_of<T, V, missing>() : load_pack<V>(tensor, first);
}
// The same of one that only goes into what nobody may want.
template <int V, typename T, int rank, typename At>
OPGEN_DEVICE Pack<T, V> load_pack_if(bool wanted, const Tensor<T, rank>& tensor, const At& first) {
  return wanted ? load_pack<V>(tensor, first) : Pack<T, V>{};
}
template <int V, int missing, typename T, int rank, typename At>
OPGEN_DEVICE Pack<T, V> load_pack_if_or(bool wanted, const Tensor<T, rank>& tensor, const At& first) {
  return tensor.data == nullptr ? pack_of<T, V, missing>() : load_pack_if<V>(wanted, tensor, first);
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

template <int V, int Axis, int missing, typename T, int rank, typename... Positions>
OPGEN_DEVICE Line<T, V> read_line_or(const Tensor<T, rank>& tensor, Positions... positions) {
  if constexpr (V == 1) {
    return {tensor.load_or(missing, positions...)};
  } else {
    const T* const first = tensor.data == nullptr ? many_of<T, missing>() : tensor.data;
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

}  // namespace rt
