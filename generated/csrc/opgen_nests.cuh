// Nests: several loops that a team shares out as one row, as the positions of a channel in all images of a batch.
//
// Threads take elements one by one, or vectors along the last loop, which pass by: all lanes of one are at the same
// point of the loops around it.
#pragma once

#include "opgen_rows.cuh"

namespace rt {

// What a team reads at its places, where several loops are shared out as one: in vectors, each of them along the last
// loop. Positions are those of the first lane.
template <typename Team>
struct Nest {
  template <int Axis, typename T, int rank, typename... Positions>
  static OPGEN_DEVICE math_t<T> read(int64_t, const Tensor<T, rank>& tensor, Positions... positions) {
    return tensor.load(positions...);
  }
  template <int Axis, int missing, typename T, int rank, typename... Positions>
  static OPGEN_DEVICE math_t<T> read_or(int64_t, const Tensor<T, rank>& tensor, Positions... positions) {
    return tensor.load_or(missing, positions...);
  }
  template <int Axis, typename T, int rank>
  struct Written {
    const Tensor<T, rank>& tensor;
    template <typename Value, typename... Positions>
    OPGEN_DEVICE void set(int64_t, Value value, Positions... positions) const {
      tensor.store(value, positions...);
    }
  };
};
template <typename Lanes, int V>
struct Nest<Passing<Lanes, V>> {
  template <int Axis, typename T, int rank, typename... Positions>
  static OPGEN_DEVICE math_t<T> read(const Spot& at, const Tensor<T, rank>& tensor, Positions... positions) {
    return fixed_pack<T, V>(tensor.template from<0, Axis>(tensor.data, positions...)).get(at.lane);
  }
  template <int Axis, int missing, typename T, int rank, typename... Positions>
  static OPGEN_DEVICE math_t<T> read_or(const Spot& at, const Tensor<T, rank>& tensor, Positions... positions) {
    const T* const first = tensor.data == nullptr ? many_of<T, missing>() : tensor.data;
    return fixed_pack<T, V>(tensor.template from<0>(first, positions...)).get(at.lane);
  }
  // What is stored goes to memory with the last lane.
  template <int Axis, typename T, int rank>
  struct Written {
    const Tensor<T, rank>& tensor;
    Values<T, V> vector = {};
    template <typename Value, typename... Positions>
    OPGEN_DEVICE void set(const Spot& at, Value value, Positions... positions) {
      vector.set(at.lane, value);
      if (at.lane == V - 1) vector.store(tensor.template from<0, Axis>(tensor.data, positions...));
    }
  };
};

template <typename Team, int Axis, typename At, typename T, int rank, typename... Positions>
OPGEN_DEVICE math_t<T> read_at(const At& at, const Tensor<T, rank>& tensor, Positions... positions) {
  return Nest<Team>::template read<Axis>(at, tensor, positions...);
}
template <typename Team, int Axis, int missing, typename At, typename T, int rank, typename... Positions>
OPGEN_DEVICE math_t<T> read_at_or(const At& at, const Tensor<T, rank>& tensor, Positions... positions) {
  return Nest<Team>::template read_or<Axis, missing>(at, tensor, positions...);
}
template <typename Team, int Axis, typename T, int rank>
OPGEN_DEVICE auto written(const Tensor<T, rank>& tensor) {
  return typename Nest<Team>::template Written<Axis, T, rank>{tensor};
}

}  // namespace rt
