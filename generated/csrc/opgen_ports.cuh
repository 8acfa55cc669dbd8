// What a map reads and stores at its points: a kernel names it once, for one point and for neighbours in memory.
//
// A kernel has `compute`, which takes values and the addresses of results, and `map`, which opens its ports in that
// order. A port is opened at a point, by positions, or at V neighbours, by the first of them; what comes out of that
// has a value, or a place for one, for each of V lanes, and stores them when it is closed.
#pragma once

#include "opgen_vectors.cuh"

namespace rt {

// One point of a tensor that is read.
template <typename T>
struct PointIn {
  math_t<T> value;
  OPGEN_DEVICE math_t<T> lane(int) const { return value; }
  OPGEN_DEVICE void close() const {}
};
template <typename T, int V>
struct LanesIn {
  Pack<T, V> pack;
  OPGEN_DEVICE math_t<T> lane(int i) const { return pack.get(i); }
  OPGEN_DEVICE void close() const {}
};
// One point of a tensor that is stored to.
template <typename T>
struct PointOut {
  T* to;
  bool wanted;
  math_t<T> value;
  OPGEN_DEVICE math_t<T>* lane(int) { return &value; }
  OPGEN_DEVICE void close() const {
    if (wanted) narrow(value, to);
  }
};
template <typename T, int V>
struct LanesOut {
  T* to;
  bool wanted;
  Values<T, V> values;
  OPGEN_DEVICE math_t<T>* lane(int i) { return &values.values[i]; }
  OPGEN_DEVICE void close() const {
    if (wanted) values.store(to);
  }
};

constexpr int never = -1;  // what an argument reads as that is never missing

template <typename T, int rank, int missing>
struct In {
  const Tensor<T, rank>& tensor;

  OPGEN_DEVICE bool sure() const { return true; }
  template <typename... Positions>
  OPGEN_DEVICE PointIn<T> at(Positions... positions) const {
    if constexpr (missing == never) {
      return {tensor.load(positions...)};
    } else {
      return {tensor.load_or(missing, positions...)};
    }
  }
  template <int V, bool all, typename First>
  OPGEN_DEVICE LanesIn<T, V> lanes(const First& first) const {
    if constexpr (missing == never) {
      return {load_pack<V>(tensor, first)};
    } else {
      return {load_pack_or<V, missing>(tensor, first)};
    }
  }
};
// The same of one that only goes into what nobody may want.
template <typename T, int rank, int missing>
struct InIf {
  const Tensor<T, rank>& tensor;
  bool wanted;

  OPGEN_DEVICE bool sure() const { return true; }
  template <typename... Positions>
  OPGEN_DEVICE PointIn<T> at(Positions... positions) const {
    if constexpr (missing == never) {
      return {tensor.load_if(wanted, positions...)};
    } else {
      return {tensor.load_if_or(missing, wanted, positions...)};
    }
  }
  template <int V, bool all, typename First>
  OPGEN_DEVICE LanesIn<T, V> lanes(const First& first) const {
    if constexpr (missing == never) {
      return {load_pack_if<V>(all || wanted, tensor, first)};
    } else {
      return {load_pack_if_or<V, missing>(all || wanted, tensor, first)};
    }
  }
};
// `spare`: it may have no memory.
template <typename T, int rank, bool spare>
struct Out {
  const Tensor<T, rank>& tensor;

  OPGEN_DEVICE bool sure() const { return !spare || tensor.given(); }
  template <typename... Positions>
  OPGEN_DEVICE PointOut<T> at(Positions... positions) const {
    return {tensor.at(positions...), sure(), {}};
  }
  template <int V, bool all, typename First>
  OPGEN_DEVICE LanesOut<T, V> lanes(const First& first) const {
    return {element(tensor, first), all || sure(), {}};
  }
};

template <typename T, int rank>
OPGEN_DEVICE In<T, rank, never> in(const Tensor<T, rank>& tensor) {
  return {tensor};
}
template <int missing, typename T, int rank>
OPGEN_DEVICE In<T, rank, missing> in_or(const Tensor<T, rank>& tensor) {
  return {tensor};
}
template <typename T, int rank>
OPGEN_DEVICE InIf<T, rank, never> in_if(bool wanted, const Tensor<T, rank>& tensor) {
  return {tensor, wanted};
}
template <int missing, typename T, int rank>
OPGEN_DEVICE InIf<T, rank, missing> in_if_or(bool wanted, const Tensor<T, rank>& tensor) {
  return {tensor, wanted};
}
template <typename T, int rank>
OPGEN_DEVICE Out<T, rank, false> out(const Tensor<T, rank>& tensor) {
  return {tensor};
}
template <typename T, int rank>
OPGEN_DEVICE Out<T, rank, true> spare_out(const Tensor<T, rank>& tensor) {
  return {tensor};
}

// What a step computes at V lanes of what is open. (A constructor in braces opens ports in their order.)
template <int V>
struct Computed {
  template <typename Step, typename... Open>
  OPGEN_DEVICE Computed(const Step& step, Open... open) {
    OPGEN_UNROLL
    for (int i = 0; i < V; ++i) step.compute(open.lane(i)...);
    (open.close(), ...);
  }
};

// V neighbouring points of a map; where outputs may be missing, what that takes is only done where one is.
struct AllSure {
  template <typename Step, typename... Ports>
  OPGEN_DEVICE bool operator()(const Step&, const Ports&... ports) const {
    return (ports.sure() && ...);
  }
};
template <int V, bool all, typename First>
struct Neighbours {
  First first;
  template <typename Step, typename... Ports>
  OPGEN_DEVICE void operator()(const Step& step, const Ports&... ports) const {
    Computed<V>{step, ports.template lanes<V, all>(first)...};
  }
};
template <int V, typename Step, typename First>
OPGEN_DEVICE void map_lanes(const Step& step, const First& first) {
  if (step.map(AllSure())) {
    step.map(Neighbours<V, true, First>{first});
  } else {
    step.map(Neighbours<V, false, First>{first});
  }
}
// One point, at some positions: where these are more than a place in the batch, a step finds them itself.
template <typename Step, typename = void>
constexpr bool has_point = false;
template <typename Step>
constexpr bool has_point<Step, std::void_t<decltype(&Step::point)>> = true;
template <typename Step, typename... Positions>
OPGEN_DEVICE void map_point(const Step& step, Positions... positions) {
  step.map([&](const Step&, const auto&... ports) { Computed<1>{step, ports.at(positions...)...}; });
}

}  // namespace rt
