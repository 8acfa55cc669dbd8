// What runs of a kernel read and write where they are in memory as lanes take them, or wherever they are: a kernel
// describes its runs for both, and a call has one of them.
#pragma once

#include "opgen_cpu_rest.h"
#include "opgen_cpu_rows.h"

namespace rt {
inline namespace OPGEN_SPACE {

// Whether the runs of some accesses are side by side in memory, of the dtype that lanes take, and others stand still.
template <typename L, int Beside, typename... T>
OPGEN_INLINE bool in_place(const L& outer, const int (&beside)[Beside], const Tensor<T>&... tensors) {
  bool all = outer.rank > 0 && (!tensors.narrow && ...);
  for (int access : beside) all = all && outer.steps[outer.rank - 1][access] == 1;
  return all;
}
template <typename L, int Beside, int Still, typename... T>
OPGEN_INLINE bool in_place(const L& outer, const int (&beside)[Beside], const int (&still)[Still],
                           const Tensor<T>&... tensors) {
  bool all = in_place(outer, beside, tensors...);
  for (int access : still) all = all && outer.steps[outer.rank - 1][access] == 0;
  return all;
}

// A number that a run reads at all of its lanes.
template <typename T>
struct Rest {
  T value;
  static constexpr bool same = true;

  OPGEN_INLINE void write_out(int64_t) const {}
  OPGEN_INLINE T operator[](int64_t) const { return value; }
};
// Where a run stores.
template <typename T>
struct Target {
  T* to;

  template <typename V>
  OPGEN_INLINE void set(int64_t i, V value) const {
    to[i] = static_cast<T>(static_cast<opmath<T>>(value));
  }
};

struct InPlace {
  template <typename T>
  OPGEN_INLINE Row<T> source(const Tensor<T>& tensor, int64_t at, int64_t, int64_t) const {
    return {static_cast<const Lane<T>*>(tensor.data) + at};
  }
  template <typename T>
  OPGEN_INLINE Row<T> source(const Still<T>&, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) const {
    return source(tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Row<T> steady(const Held<T>&, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) const {
    return source(tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Rest<opmath<T>> resting(const Held<T>&, const Tensor<T>& tensor, int64_t at, int64_t, int64_t) const {
    return {static_cast<opmath<T>>(static_cast<const Lane<T>*>(tensor.data)[at])};
  }
  template <typename T>
  OPGEN_INLINE Target<T> sink(const Tensor<T>& tensor, int64_t at, int64_t, int64_t) const {
    return {static_cast<T*>(tensor.data) + at};
  }
};

struct Anywhere {
  template <typename T>
  OPGEN_INLINE Source<T> source(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) const {
    return Source<T>(tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Source<T> source(const Still<T>& all, const Tensor<T>& tensor, int64_t at, int64_t step,
                                int64_t size) const {
    return Source<T>(all, tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Steady<T> steady(Held<T>& held, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) const {
    return Steady<T>(held, tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Resting<T> resting(Held<T>& held, const Tensor<T>& tensor, int64_t at, int64_t step,
                                  int64_t size) const {
    return Resting<T>(held, tensor, at, step, size);
  }
  template <typename T>
  OPGEN_INLINE Sink<T> sink(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) const {
    return Sink<T>(tensor, at, step, size);
  }
};

// Hands out the points [begin, end) as runs that are one or the other.
template <typename L, typename Body>
OPGEN_INLINE void each_run(const L& outer, int64_t begin, int64_t end, bool in_place, const Body& body) {
  if (in_place) {
    outer.template runs<block>(begin, end, nullptr, [&](const auto& run) { body(run, InPlace()); });
  } else {
    outer.template runs<block>(begin, end, nullptr, [&](const auto& run) { body(run, Anywhere()); });
  }
}

}  // namespace OPGEN_SPACE
}  // namespace rt
