// Folds of windows: runs of columns at positions that move evenly with the columns and with the points that are folded.
// Where no point of a few leaves its tensor, these go through a few vectors of columns, as rows do that positions name;
// the columns at both edges come one by one.
#pragma once

#include <initializer_list>

#include "opgen_cpu_line.h"
#include "opgen_cpu_rows.h"

namespace rt {
inline namespace OPGEN_SPACE {

// Whether some accesses move from a column to the next element and others stand still, and elements are read as they
// are in memory.
template <typename... T>
OPGEN_INLINE bool side_by_side(std::initializer_list<int64_t> along, std::initializer_list<int64_t> still,
                               const Tensor<T>&... tensors) {
  bool all = (!tensors.narrow && ...);
  for (int64_t step : along) all = all && step == 1;
  for (int64_t step : still) all = all && step == 0;
  return all;
}

// The columns at which a position is in range at all of a few points: `at(i, k)` is where column i stands at point k.
template <typename At>
OPGEN_INLINE void clip_few(Span& span, int64_t count, int64_t size, const At& at) {
  span.clip(size, [&](int64_t i) { return at(i, 0); });
  if (count > 1) span.clip(size, [&](int64_t i) { return at(i, count - 1); });
}

// One value, which is read as a run of columns is.
template <typename T>
struct Alone {
  T value;
  OPGEN_INLINE T operator[](int64_t) const { return value; }
};

// What an access is at a few points, whose columns lie side by side in memory; a span is left with those at which it is
// in range at all of the points.
template <typename T>
struct FewLines : FewRuns<T> {
  template <typename... Places>
  OPGEN_INLINE FewLines(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t count, Span& span,
                        const Places&... places)
      : FewRuns<T>(tensor, at, step) {
    (move(count, span, places), ...);
  }
  template <Leaves leaves, typename At>
  OPGEN_INLINE void move(int64_t count, Span& span, const Place<leaves, At>& place) {
    const int64_t start = place.at(0, 0);
    this->first += start * place.stride;
    if (count > 1) this->step += (place.at(0, 1) - start) * place.stride;
    if constexpr (leaves != Leaves::never) clip_few(span, count, place.size, place.at);
  }
  // At one column and point.
  template <typename... Places>
  OPGEN_INLINE Alone<opmath<T>> alone(OpgenHost& host, int64_t i, int64_t k, opmath<T> fill,
                                      const Places&... places) const {
    const bool in = (is_inside(host, places, i, k) && ...);
    return {in ? static_cast<opmath<T>>(this->first[k * this->step + i]) : fill};
  }
  template <Leaves leaves, typename At>
  static OPGEN_INLINE bool is_inside(OpgenHost& host, const Place<leaves, At>& place, int64_t i, int64_t k) {
    if constexpr (leaves == Leaves::never) return true;
    if constexpr (leaves == Leaves::quietly) return within(place.at(i, k), place.size);
    return inside(host, place.at(i, k), place.size, place.number, place.axis);
  }
};

// Calls body(i, k) for the columns before and behind a span, at each of a few points.
template <typename Body>
OPGEN_INLINE void at_edges(const Span& span, int64_t size, int64_t count, const Body& body) {
  if (span.count == size) return;
  const int64_t begin = span.count == 0 ? size : span.first, end = span.first + span.count;
  for (int64_t n = 0; n < size - span.count; ++n) {
    const int64_t i = n < begin ? n : n - begin + end;
    for (int64_t k = 0; k < count; ++k) body(i, k);
  }
}

}  // namespace OPGEN_SPACE
}  // namespace rt
