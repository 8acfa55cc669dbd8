// Reductions on the CPU. A fold over lanes (a row) keeps one partial value per lane and combines them in a fixed order,
// so that the result depends neither on threads nor on the instruction set; a fold per point (columns) needs no more.
#pragma once

namespace rt {
inline namespace OPGEN_ISA {

constexpr int lane_count = 16;

struct Sum {
  template <typename T>
  static T identity() {
    return T(0);
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return a + b;
  }
};
struct Prod {
  template <typename T>
  static T identity() {
    return T(1);
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return a * b;
  }
};
struct Max {
  template <typename T>
  static T identity() {
    return lowest<T>();
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return max(a, b);
  }
};
struct Min {
  template <typename T>
  static T identity() {
    return highest<T>();
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return min(a, b);
  }
};
struct Any {
  template <typename T>
  static T identity() {
    return T(0);
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return a | b;
  }
};
struct All {
  template <typename T>
  static T identity() {
    return T(1);
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return a & b;
  }
};

// One partial value per lane.
template <typename Op, typename T, int Lanes = lane_count>
struct Fold {
  alignas(64) T partial[Lanes];

  OPGEN_INLINE Fold() { reset(); }
  OPGEN_INLINE void reset() {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] = Op::template identity<T>();
  }
  OPGEN_INLINE void add(int64_t lane, T value) { partial[lane] = Op::combine(partial[lane], value); }
  OPGEN_INLINE void merge(const Fold& other) {
    for (int lane = 0; lane < Lanes; ++lane) add(lane, other.partial[lane]);
  }
  OPGEN_INLINE void scale(T factor) {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] *= factor;
  }
  OPGEN_INLINE T operator[](int64_t lane) const { return partial[lane]; }
  OPGEN_INLINE T value() const {
    T part[Lanes];
    for (int lane = 0; lane < Lanes; ++lane) part[lane] = partial[lane];
    for (int half = Lanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) part[lane] = Op::combine(part[lane], part[lane + half]);
    }
    return part[0];
  }
};

// The first position of the largest (or smallest) value; nan counts as larger (smaller) than anything.
template <bool Largest>
struct Best {
  template <typename T>
  static OPGEN_INLINE bool better(T a, T b) {
    return isnan(a) ? !isnan(b) : Largest ? a > b : a < b;
  }
};

template <typename Op, typename T, int Lanes = lane_count>
struct Arg {
  T partial[Lanes];
  int64_t position[Lanes];

  OPGEN_INLINE Arg() { reset(); }
  OPGEN_INLINE void reset() {
    for (int lane = 0; lane < Lanes; ++lane) position[lane] = -1;
  }
  OPGEN_INLINE void add(int64_t lane, T value, int64_t at) {
    if (position[lane] >= 0 && !Op::better(value, partial[lane])) return;
    partial[lane] = value;
    position[lane] = at;
  }
  OPGEN_INLINE void merge(const Arg& other) {
    for (int lane = 0; lane < Lanes; ++lane) take(lane, other.partial[lane], other.position[lane]);
  }
  OPGEN_INLINE void take(int64_t lane, T value, int64_t at) {
    if (at < 0) return;
    const bool ahead = position[lane] < 0 || Op::better(value, partial[lane]);
    const bool level = !ahead && !Op::better(partial[lane], value) && at < position[lane];
    if (!ahead && !level) return;
    partial[lane] = value;
    position[lane] = at;
  }
  OPGEN_INLINE int64_t operator[](int64_t lane) const { return position[lane]; }
  OPGEN_INLINE int64_t value() const {
    Arg all = *this;
    for (int lane = 1; lane < Lanes; ++lane) all.take(0, all.partial[lane], all.position[lane]);
    return all.position[0];
  }
};

}  // namespace OPGEN_ISA
}  // namespace rt
