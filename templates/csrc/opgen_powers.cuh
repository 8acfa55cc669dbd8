// The largest value of a row, and the sum of the exponentials of all relative to it.
//
// Rows that a team holds are gone along twice. Of those that pass by, a thread scales what it has added up whenever it
// meets a larger value, so that memory is read once.
#pragma once

#include "opgen_rows.cuh"

namespace rt {

// What stands at the places of a row, where that is computed.
template <typename F>
struct Valued {
  F value;
  template <typename At>
  OPGEN_DEVICE auto operator[](const At& at) const {
    return value(at);
  }
};
template <typename F>
OPGEN_DEVICE Valued<F> valued(const F& value) {
  return {value};
}

// Whether values are read as they are, of 16 bits: two of them are compared at a time.
template <typename Values, typename = void>
constexpr bool in_pairs = false;
template <typename Values>
constexpr bool in_pairs<Values, std::void_t<typename Values::Vector>> = sizeof(typename Values::Element) == 2;

template <typename T>
OPGEN_DEVICE uint32_t larger_of_pairs(uint32_t x, uint32_t y) {
#if defined(__CUDACC__)
  using Two = std::conditional_t<std::is_same_v<T, half_t>, __half2, __nv_bfloat162>;
  Two a, b;
  memcpy(&a, &x, sizeof(a));
  memcpy(&b, &y, sizeof(b));
  const Two larger = __hmax2_nan(a, b);
#else
  T larger[2];
  for (int i = 0; i < 2; ++i) narrow(max(widened<T>(x, i), widened<T>(y, i)), &larger[i]);
#endif
  uint32_t bits;
  memcpy(&bits, &larger, sizeof(bits));
  return bits;
}

// The largest value among vectors.
template <typename Values, typename T, int V, bool pairs = in_pairs<Values>>
struct Largest {
  Max<T> most;
  template <typename At>
  OPGEN_DEVICE void add(const Values& values, const At& first) {
    OPGEN_UNROLL
    for (int i = 0; i < V; ++i) most.add(values[first.lane_of(i)]);
  }
  OPGEN_DEVICE T value() const { return most.value; }
};
template <typename Values, typename T, int V>
struct Largest<Values, T, V, true> {
  using Element = std::remove_const_t<typename Values::Element>;
  typename Values::Vector most;
  OPGEN_DEVICE Largest() {
    const T none = -top<T>();
    Element pair[2];
    narrow_pair(none, none, pair);
    OPGEN_UNROLL
    for (uint32_t& word : most.words) memcpy(&word, pair, sizeof(word));
  }
  template <typename At>
  OPGEN_DEVICE void add(const Values& values, const At& first) {
    const typename Values::Vector next = values.vector(first);
    OPGEN_UNROLL
    for (int i = 0; i < V / 2; ++i) most.words[i] = larger_of_pairs<Element>(most.words[i], next.words[i]);
  }
  OPGEN_DEVICE T value() const {
    uint32_t word = most.words[0];
    OPGEN_UNROLL
    for (int i = 1; i < V / 2; ++i) word = larger_of_pairs<Element>(word, most.words[i]);
    return max(widened<Element>(word, false), widened<Element>(word, true));
  }
};

// The largest value of a row that is read as it is, among those of a thread.
template <typename Team, typename Values, typename T>
OPGEN_DEVICE void largest(int64_t count, const Values& values, Max<T>* most) {
  if constexpr (in_pairs<Values>) {
    Largest<Values, T, Team::lanes> found;
    Team::vectors(count, [&](const auto& first) { found.add(values, first); });
    most->add(found.value());
  } else {
    each<Team>(count, [&](auto at) { most->add(values[at]); });
  }
}

template <typename Team>
struct Powers {
  template <typename Near, bool finite, typename Values, typename T>
  static OPGEN_DEVICE void fold(int64_t count, const Values& values, Max<T>* most, Sum<T>* sum) {
    largest<Team>(count, values, most);
    join<Team>(most);
    const T shift = finite && !isfinite(most->value) ? T(0) : most->value;
    each<Team>(count, settled(sum), [&](auto at) { sum->add(Near::exp(values[at] - shift)); });
    sum->finish();
    join<Team>(sum);
  }
};
template <typename Lanes, int V>
struct Powers<Passing<Lanes, V>> {
  using Team = Passing<Lanes, V>;
  template <typename Near, bool finite, typename Values, typename T>
  static OPGEN_DEVICE void fold(int64_t count, const Values& values, Max<T>* most, Sum<T>* sum) {
    Running<T> running;
    Team::parts(count, [&](int64_t first, int64_t step, auto number) {
      constexpr int vectors = decltype(number)::value;
      Largest<Values, T, V> found;
      OPGEN_UNROLL
      for (int k = 0; k < vectors; ++k) found.add(values, PassingSpot{{0, 0, first + k * step}});
      const T here = found.value();
      if (!(here <= running.value)) sum->scale(running.raise(here));
      OPGEN_UNROLL
      for (int k = 0; k < vectors; ++k) {
        Team::at_vector(first + k * step, [&](auto at) { sum->add(Near::exp(values[at] - running.shift)); });
      }
      sum->settle();
    });
    most->add(running.value);
    join<Team>(most);
    sum->finish();
    sum->scale(running.raise(most->value));
    if (!finite && !isfinite(most->value)) sum->add(most->value - most->value);  // nan: infinities less infinities
    join<Team>(sum);
  }
};

// Both of a row, for all of its team; `finite`: relative to 0 where the largest value is not finite.
template <typename Team, typename Near, bool finite, typename Values, typename T>
OPGEN_DEVICE void powers(int64_t count, const Values& values, Max<T>* most, Sum<T>* sum) {
  Powers<Team>::template fold<Near, finite>(count, values, most, sum);
}

}  // namespace rt
