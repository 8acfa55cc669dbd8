// Views of tensors inside kernels.
#pragma once

#include "opgen_positions.cuh"

namespace rt {

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
    for (int d = 0; d < rank; ++d) {
      to = moved(to, place.at[d], Axis == Step && rank == 1 ? stride_of<T, rank>(1) : batch_strides[d]);
    }
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
  // A missing argument reads as a number.
  template <typename... Positions>
  OPGEN_DEVICE math_t<T> load_or(int missing, Positions... positions) const {
    return data == nullptr ? math_t<T>(missing) : load(positions...);
  }
  // The same of one that only goes into what nobody may want.
  template <typename... Positions>
  OPGEN_DEVICE math_t<T> load_if(bool wanted, Positions... positions) const {
    return wanted ? load(positions...) : math_t<T>(0);
  }
  template <typename... Positions>
  OPGEN_DEVICE math_t<T> load_if_or(int missing, bool wanted, Positions... positions) const {
    return data == nullptr ? math_t<T>(missing) : load_if(wanted, positions...);
  }
  // Whether it has memory.
  OPGEN_DEVICE bool given() const { return data != nullptr; }
  template <typename V, typename... Positions>
  OPGEN_DEVICE void store(V value, Positions... positions) const {
    narrow(static_cast<math_t<T>>(value), at(positions...));
  }
};

}  // namespace rt
