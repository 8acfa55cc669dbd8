// Rows: how a team of threads goes along one, and where what it reads stays meanwhile.
//
// A device function of a row is written once. In a team of `Strided` threads each of them takes every so-many-th
// element, from memory in every pass. In one of `Held` threads it takes vectors of 16 bytes of the operator's own type,
// which are read once, all of them ahead of the first pass, and stay in registers. `Passing` threads take such vectors
// of rows that are too long to be held, from memory in every pass.
#pragma once

#include "opgen_fold.cuh"
#include "opgen_vectors.cuh"

namespace rt {

// Sums that are settled together.
template <typename... Sums>
struct Settled {
  OPGEN_DEVICE void settle() const {}
};
template <typename Sum, typename... Rest>
struct Settled<Sum, Rest...> {
  Sum* sum;
  Settled<Rest...> rest;
  OPGEN_DEVICE void settle() const {
    sum->settle();
    rest.settle();
  }
};
OPGEN_DEVICE Settled<> settled() { return {}; }
template <typename Sum, typename... Rest>
OPGEN_DEVICE Settled<Sum, Rest...> settled(Sum* sum, Rest*... rest) {
  return {sum, settled(rest...)};
}

// --- Element by element
// -----------------------------------------------------------------------------------------------

template <typename T>
struct Row {
  T* data;
  int64_t stride;

  OPGEN_DEVICE math_t<T> operator[](int64_t i) const { return loaded(data + i * stride); }
  template <typename Value>
  OPGEN_DEVICE void set(int64_t i, Value value) const {
    narrow(static_cast<math_t<T>>(value), &data[i * stride]);
  }
};
// A missing argument reads as a number.
template <typename T, int missing>
struct RowOr : Row<T> {
  OPGEN_DEVICE math_t<T> operator[](int64_t i) const {
    return this->data == nullptr ? math_t<T>(missing) : Row<T>::operator[](i);
  }
};

template <typename Lanes>
struct Strided : Lanes {
  template <typename T>
  static OPGEN_DEVICE Row<T> read(const Row<T>& row, int64_t) {
    return row;
  }
  template <int missing, typename T>
  static OPGEN_DEVICE RowOr<T, missing> read_or(const Row<T>& row, int64_t) {
    return {row};
  }
  template <typename T>
  static OPGEN_DEVICE Row<T> write(const Row<T>& row) {
    return row;
  }
  template <typename... Sums, typename F>
  static OPGEN_DEVICE void each(int64_t count, const Settled<Sums...>& sums, const F& f) {
    int64_t i = Lanes::rank();
    if constexpr (sizeof...(Sums) == 0) {
      OPGEN_ROLLED
      for (; i < count; i += Lanes::size()) f(i);
    } else {
      for (int64_t stop = 0; stop < count; sums.settle()) {
        stop = stop + block_adds * Lanes::size() < count ? stop + block_adds * Lanes::size() : count;
        OPGEN_ROLLED
        for (; i < stop; i += Lanes::size()) f(i);
      }
    }
  }
};

// --- In vectors
// -------------------------------------------------------------------------------------------------------

// Where a thread stands in its part of a row: in which of its vectors, at which element.
struct Spot {
  int vector, lane;
  int64_t position;
  OPGEN_DEVICE operator int64_t() const { return position; }
  OPGEN_DEVICE Spot lane_of(int i) const { return {vector, i, position - lane + i}; }
};

// The same where vectors are not held.
struct PassingSpot : Spot {
  OPGEN_DEVICE PassingSpot lane_of(int i) const { return {Spot::lane_of(i)}; }
};

// Where the vector of a place starts, and which of its lanes a place is.
OPGEN_DEVICE int64_t first(int64_t at) { return at; }
OPGEN_DEVICE int64_t first(const Spot& at) { return at.position - at.lane; }
OPGEN_DEVICE int lane(int64_t) { return 0; }
OPGEN_DEVICE int lane(const Spot& at) { return at.lane; }

// Whether a place of a row is the one that a number tells. Where vectors are passed by there is one difference for all
// lanes of each; where they are held, registers are too few for those.
OPGEN_DEVICE bool is_at(int64_t at, int64_t place) { return at == place; }
OPGEN_DEVICE bool is_at(const PassingSpot& at, int64_t place) {
  const int64_t ahead = place - (at.position - at.lane);
  return (ahead == static_cast<int>(ahead) ? static_cast<int>(ahead) : -1) == at.lane;
}

// What is stored of a vector goes to memory with its last lane.
template <typename T, int V>
struct Written {
  T* data;
  Values<T, V> vector;
  template <typename Value>
  OPGEN_DEVICE void set(const Spot& at, Value value) {
    vector.set(at.lane, value);
    if (at.lane == V - 1) vector.store(data + (at.position - at.lane));
  }
};

// K vectors of V elements for each thread, whose neighbours have those beside them. Where rows are `whole`, every
// thread has all of its vectors: no pass has branches, and what two of them compute alike is computed once.
template <typename Lanes, int K, int V, bool whole>
struct Held : Lanes {
  static_assert(K * V <= block_adds || block_adds % V == 0, "a thread settles its sums behind whole vectors");
  static constexpr int64_t part = int64_t{K} * V;  // of a row, the most that a thread holds
  static constexpr int lanes = V;

  static OPGEN_DEVICE int start(int k) { return (k * Lanes::size() + Lanes::rank()) * V; }
  static OPGEN_DEVICE bool there(int k, int64_t count) {  // rows are short
    return whole || start(k) < static_cast<int>(count);
  }

  template <typename T>
  struct Read {
    using Element = T;
    using Vector = Pack<T, V>;
    Vector vectors[K];
    OPGEN_DEVICE const Vector& vector(const Spot& at) const { return vectors[at.vector]; }
    OPGEN_DEVICE math_t<T> operator[](const Spot& at) const { return vector(at).get(at.lane); }
  };

  template <typename T>
  static OPGEN_DEVICE Read<T> read(const Row<T>& row, int64_t count) {
    Read<T> held;
    OPGEN_UNROLL
    for (int k = 0; k < K; ++k) {
      if (there(k, count)) {
        held.vectors[k] = *reinterpret_cast<const Pack<T, V>*>(row.data + start(k));
      } else {
        held.vectors[k] = {};
      }
    }
    return held;
  }
  template <int missing, typename T>
  static OPGEN_DEVICE Read<T> read_or(const Row<T>& row, int64_t count) {
    if (row.data != nullptr) return read(row, count);
    Read<T> held;
    OPGEN_UNROLL
    for (int k = 0; k < K; ++k) held.vectors[k] = pack_of<T, V, missing>();
    return held;
  }
  template <typename T>
  static OPGEN_DEVICE Written<T, V> write(const Row<T>& row) {
    return {row.data, {}};
  }
  // `f` at the first place of each vector.
  template <typename F>
  static OPGEN_DEVICE void vectors(int64_t count, const F& f) {
    OPGEN_UNROLL
    for (int k = 0; k < K; ++k) {
      if (there(k, count)) f(Spot{k, 0, start(k)});
    }
  }
  template <typename... Sums, typename F>
  static OPGEN_DEVICE void each(int64_t count, const Settled<Sums...>& sums, const F& f) {
    OPGEN_UNROLL
    for (int k = 0; k < K; ++k) {
      if (k > 0 && k * V % block_adds == 0) sums.settle();
      if (!there(k, count)) continue;
      OPGEN_UNROLL
      for (int i = 0; i < V; ++i) f(Spot{k, i, start(k) + i});
    }
  }
};

// Some vectors of V elements, then all that are left: passes over a part have no branches.
template <typename Lanes, int V>
struct Passing : Lanes {
  static constexpr int lanes = V, together = 4;
  static_assert(together * V <= block_adds, "a thread settles its sums behind them only");

  template <typename T>
  struct Read {
    using Element = T;
    using Vector = Pack<T, V>;
    const T* data;
    OPGEN_DEVICE Vector vector(const Spot& at) const { return fixed_pack<T, V>(data + (at.position - at.lane)); }
    OPGEN_DEVICE math_t<T> operator[](const Spot& at) const { return vector(at).get(at.lane); }
  };
  template <typename T>
  struct ReadOr {
    const T* data;
    int64_t mask;
    OPGEN_DEVICE math_t<T> operator[](const Spot& at) const {
      return fixed_pack<T, V>(data + ((at.position - at.lane) & mask)).get(at.lane);
    }
  };

  template <typename T>
  static OPGEN_DEVICE Read<T> read(const Row<T>& row, int64_t) {
    return {row.data};
  }
  template <int missing, typename T>
  static OPGEN_DEVICE ReadOr<T> read_or(const Row<T>& row, int64_t) {
    const bool none = row.data == nullptr;
    return {none ? many_of<T, missing>() : row.data, none ? 0 : -1};
  }
  template <typename T>
  static OPGEN_DEVICE Written<T, V> write(const Row<T>& row) {
    return {row.data, {}};
  }
  template <typename F>
  static OPGEN_DEVICE void at_vector(int64_t first, const F& f) {
    OPGEN_UNROLL
    for (int i = 0; i < V; ++i) f(PassingSpot{{0, i, first + i}});
  }
  // `f` at every part of a row: its first place, how far apart its vectors are, and how many it has.
  template <typename F>
  static OPGEN_DEVICE void parts(int64_t count, const F& f) {
    const int64_t step = int64_t{Lanes::size()} * V;
    int64_t first = int64_t{Lanes::rank()} * V;
    OPGEN_ROLLED
    for (; first + (together - 1) * step < count; first += together * step) {
      f(first, step, std::integral_constant<int, together>());
    }
    OPGEN_ROLLED
    for (; first < count; first += step) f(first, step, std::integral_constant<int, 1>());
  }
  template <typename F>
  static OPGEN_DEVICE void vectors(int64_t count, const F& f) {
    parts(count, [&](int64_t first, int64_t step, auto number) {
      OPGEN_UNROLL
      for (int k = 0; k < decltype(number)::value; ++k) f(PassingSpot{{0, 0, first + k * step}});
    });
  }
  template <typename... Sums, typename F>
  static OPGEN_DEVICE void each(int64_t count, const Settled<Sums...>& sums, const F& f) {
    parts(count, [&](int64_t first, int64_t step, auto number) {
      OPGEN_UNROLL
      for (int k = 0; k < decltype(number)::value; ++k) at_vector(first + k * step, f);
      if constexpr (decltype(number)::value > 1) sums.settle();
    });
  }
};

// --- What passes hand on
// ---------------------------------------------------------------------------------------------------

// Values that one pass computes, for later ones: by a function of the place, each time, where a row is not held.
template <typename Team, typename T, typename F>
struct Kept {
  F value;
  OPGEN_DEVICE T keep(int64_t at) const { return value(at); }
  OPGEN_DEVICE T operator[](int64_t at) const { return value(at); }
};
template <typename Lanes, int V, typename T, typename F>
struct Kept<Passing<Lanes, V>, T, F> {
  F value;
  OPGEN_DEVICE T keep(const Spot& at) const { return value(at); }
  OPGEN_DEVICE T operator[](const Spot& at) const { return value(at); }
};
// In registers: said to the compiler, which would rather compute them again.
template <typename Lanes, int K, int V, bool whole, typename T, typename F>
struct Kept<Held<Lanes, K, V, whole>, T, F> {
  F value;
  T values[K * V] = {};
  OPGEN_DEVICE T keep(const Spot& at) {
    T made = value(at);
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+f"(made));
#endif
    return values[at.vector * V + at.lane] = made;
  }
  OPGEN_DEVICE T operator[](const Spot& at) const { return values[at.vector * V + at.lane]; }
};
template <typename Team, typename T, typename F>
OPGEN_DEVICE Kept<Team, T, F> kept(const F& value) {
  return {value};
}

// What rows join for a kernel that folds across them: nothing, where that runs on its own.
struct Apart {
  struct Cell {
    template <typename Value>
    OPGEN_DEVICE void add(Value) const {}
  };
  template <typename At>
  OPGEN_DEVICE Cell at(int, const At&) const {
    return {};
  }
};

// --- What kernels call
// ------------------------------------------------------------------------------------------------

// `f` at every place of a pass, shared out among a team.
template <typename Team, typename F>
OPGEN_DEVICE void each(int64_t count, const F& f) {
  Team::each(count, settled(), f);
}
template <typename Team, typename... Sums, typename F>
OPGEN_DEVICE void each(int64_t count, const Settled<Sums...>& sums, const F& f) {
  Team::each(count, sums, f);
}

// The row of a tensor along one of its dims, where its position is 0.
template <int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE Row<T> row_of(const Tensor<T, rank>& tensor, Positions... positions) {
  constexpr auto step = static_cast<int64_t>(stride_of<T, rank>(1));
  return {tensor.data == nullptr ? nullptr : tensor.at(positions...), tensor.strides[Axis] / step};
}
template <typename Team, int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE auto read_row(int64_t count, const Tensor<T, rank>& tensor, Positions... positions) {
  return Team::read(row_of<Axis>(tensor, positions...), count);
}
template <typename Team, int Axis, int missing, typename T, int rank, typename... Positions>
OPGEN_DEVICE auto read_row_or(int64_t count, const Tensor<T, rank>& tensor, Positions... positions) {
  return Team::template read_or<missing>(row_of<Axis>(tensor, positions...), count);
}
template <typename Team, int Axis, typename T, int rank, typename... Positions>
OPGEN_DEVICE auto write_row(const Tensor<T, rank>& tensor, Positions... positions) {
  return Team::write(row_of<Axis>(tensor, positions...));
}

}  // namespace rt
