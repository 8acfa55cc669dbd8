// Lanes that read numbers where all that may stand still along a run does: nothing is written out for them then.
#pragma once

#include "opgen_cpu_line.h"

namespace rt {
inline namespace OPGEN_SPACE {

// What a run reads that may stand still along it, written out for its lanes only where they read runs.
template <typename T>
struct Resting {
  Held<T>& held;
  const Lane<T>* from = nullptr;
  opmath<T> value = opmath<T>(0);  // of all lanes, where they are the same
  bool same;

  OPGEN_INLINE Resting(Held<T>& held, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size)
      : held(held), same(step == 0 || size == 1) {
    if (same) {
      value = load(tensor, at);
    } else if (step == 1 && is_lane<T> && !tensor.narrow) {
      from = static_cast<const Lane<T>*>(tensor.data) + at;
    } else {
      gather(tensor, at, step, size, held.buffer);
      held.filled = 0;
      from = held.buffer;
    }
  }
  OPGEN_INLINE void write_out(int64_t size) {
    if (same) from = held.of(static_cast<Lane<T>>(value), size);
  }
  OPGEN_INLINE opmath<T> operator[](int64_t i) const { return static_cast<opmath<T>>(from[i]); }
};

// The same, written out ahead of lanes that are not alone in reading it.
template <typename T>
struct Steady : Resting<T> {
  OPGEN_INLINE Steady(Held<T>& held, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size)
      : Resting<T>(held, tensor, at, step, size) {
    this->write_out(size);
  }
};

// As `Resting`, at positions that loops do not move along.
template <typename T>
struct RestingLine : Line<T> {
  Held<T>& held;
  opmath<T> value = opmath<T>(0);  // of all lanes, where they are the same

  template <typename... Places>
  OPGEN_INLINE RestingLine(OpgenHost& host, Held<T>& held, const Tensor<T>& tensor, const Stretch& s, opmath<T> fill,
                           const Places&... places)
      : held(held) {
    Stretch moved = s;
    if (s.period == 1) (moved.move(places), ...);
    this->same = s.period == 1 && moved.whole() && (moved.step == 0 || moved.size == 1);
    if (this->same) {
      value = load(tensor, moved.at);
    } else {
      this->read(host, nullptr, tensor, s, fill, Always(), places...);
    }
  }
  OPGEN_INLINE void write_out(int64_t size) {
    if (this->same) this->from = held.of(static_cast<Lane<T>>(value), size);
  }
};

// One number at all lanes.
template <typename T>
struct Number {
  T value;

  OPGEN_INLINE T operator[](int64_t) const { return value; }
};
template <typename Source>
OPGEN_INLINE auto number(const Source& source) {
  return Number<decltype(source.value)>{source.value};
}

// Calls lanes(sources...), with numbers in their place where all of them are the same along a run.
template <typename Lanes, typename... Sources>
OPGEN_INLINE void at_rest(int64_t size, const Lanes& lanes, Sources&... sources) {
  if ((sources.same && ...)) return lanes(number(sources)...);
  (sources.write_out(size), ...);
  lanes(sources...);
}

}  // namespace OPGEN_SPACE
}  // namespace rt
