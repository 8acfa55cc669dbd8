// What runs add to places that they may share with others.
#pragma once

#include "opgen_cpu_fold.h"
#include "opgen_cpu_line.h"

namespace rt {
inline namespace OPGEN_SPACE {

// What a run is going to add to places that it may share with others.
template <typename T>
struct Values {
  alignas(64) T buffer[block];

  template <typename V>
  OPGEN_INLINE void set(int64_t i, V value) {
    buffer[i] = static_cast<T>(value);
  }
};

template <typename Op, typename T>
OPGEN_INLINE void accumulate_side_by_side(T* to, const T* values, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = Op::combine(to[i], values[i]);
}
template <typename Op, typename T>
OPGEN_NOINLINE void accumulate_stretch(const Tensor<T>& tensor, const Stretch& s, const T* values) {
  const int64_t at = s.at + s.first * s.step;
  const int64_t count = s.last - s.first;
  values += s.lane + s.first * s.every;
  if (s.step == 1 && s.every == 1 && !tensor.narrow) {
    accumulate_side_by_side<Op>(static_cast<T*>(tensor.data) + at, values, count);
  } else if (s.step == 0 && count > 0) {
    Fold<Op, T> fold;
    lanes<lane_count, T>(count, [&](int64_t i, int lane) { fold.add(lane, values[i * s.every]); });
    accumulate<Op>(tensor, at, fold.value());
  } else {
    for (int64_t i = 0; i < count; ++i) accumulate<Op>(tensor, at + i * s.step, values[i * s.every]);
  }
}

template <typename Op, typename T, typename... Places>
OPGEN_INLINE void accumulate(OpgenHost& host, const Tensor<T>& tensor, const Stretch& s, const Values<T>& values,
                             const Places&... places) {
  if (s.period == 1) {  // as short rows are: no division, and no call where they lie in memory as they are
    Stretch whole = s;
    (whole.move(places), ...);
    if (!whole.whole()) {
      (whole.report(host, Always(), places), ...);
    } else if (whole.step == 1 && !tensor.narrow) {
      return accumulate_side_by_side<Op>(static_cast<T*>(tensor.data) + whole.at, values.buffer + whole.lane,
                                         whole.size);
    }
    return accumulate_stretch<Op>(tensor, whole, values.buffer);
  }
  const Slopes slopes(s, places...);
  for (int64_t lane = 0; lane < s.period && lane < s.size; ++lane) {
    Stretch part = s.part(lane);
    slopes.move(part, places...);
    if (!part.whole()) (part.report(host, Always(), places), ...);
    accumulate_stretch<Op>(tensor, part, values.buffer);
  }
  if (s.period > 0) return;
  Spots spots(host, s, Always(), places...);
  const T* from = values.buffer;
  T left[block];
  int64_t count = s.size;
  if (!spots.whole) {
    count = 0;
    for (int64_t i = 0; i < s.size; ++i) {
      const int64_t at = spots.at[i];
      spots.at[count] = at;
      left[count] = values.buffer[i];
      count += at >= 0;
    }
    from = left;
  }
  for (int64_t i = 0; i < count; ++i) accumulate<Op>(tensor, spots.at[i], from[i]);
}

}  // namespace OPGEN_SPACE
}  // namespace rt
