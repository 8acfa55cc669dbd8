// Reductions on the CPU. A fold over lanes (a row) keeps one partial value per lane and combines them in a fixed order,
// so that the result depends neither on threads nor on the instruction set; a fold per point (columns) needs no more.
//
// A sum of floats is rounded at every step. So that its error does not grow with the number of terms, a lane adds up
// only so many of them in one number (`few_adds`), as many such sums in the next one, and what these come to in two
// numbers, without loss.
#pragma once

namespace rt {
inline namespace OPGEN_SPACE {

constexpr int lane_count = 16;
constexpr int row_lanes = 2 * lane_count;  // of the fold of a row: two sums that do not wait for each other

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
// What is folded comes second, so that the next value does not wait for whether it is a number.
struct Max {
  template <typename T>
  static T identity() {
    return lowest<T>();
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return max(b, a);
  }
};
struct Min {
  template <typename T>
  static T identity() {
    return highest<T>();
  }
  template <typename T>
  static OPGEN_INLINE T combine(T a, T b) {
    return min(b, a);
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

// The halves of a few values joined, then the halves of what is left; each step has its own size, lest a compiler make
// loops through memory of them.
template <int Lanes, typename Op, typename T>
OPGEN_INLINE T joined(const T* partial) {
  if constexpr (Lanes == 1) {
    return partial[0];
  } else {
    T half[Lanes / 2];
#pragma GCC unroll 1
    for (int lane = 0; lane < Lanes / 2; ++lane) half[lane] = Op::combine(partial[lane], partial[lane + Lanes / 2]);
    return joined<Lanes / 2, Op>(half);
  }
}
// All of a row of so many points: a short one has not come to all of its lanes.
template <typename Op, typename T, int Lanes>
OPGEN_INLINE T joined(const T (&partial)[Lanes], int64_t points = INT64_MAX) {
  if constexpr (Lanes == row_lanes) {
    if (points <= Lanes / 4) return joined<Lanes / 4, Op>(static_cast<const T*>(partial));
    if (points < Lanes) return joined<Lanes / 2, Op>(static_cast<const T*>(partial));
  }
  return joined<Lanes, Op>(static_cast<const T*>(partial));
}

// One partial value per lane.
template <typename Op, typename T, int Lanes = row_lanes>
struct Fold {
  alignas(64) T partial[Lanes];

  OPGEN_INLINE Fold() { reset(); }
  OPGEN_INLINE explicit Fold(int64_t lanes) {  // so many columns
    for (int64_t lane = 0; lane < lanes; ++lane) partial[lane] = Op::template identity<T>();
  }
  OPGEN_INLINE void reset() {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] = Op::template identity<T>();
  }
  OPGEN_INLINE void add(int64_t lane, T value) { partial[lane] = Op::combine(partial[lane], value); }
  OPGEN_INLINE void merge(const Fold& other) {
    for (int lane = 0; lane < Lanes; ++lane) add(lane, other.partial[lane]);
  }
  OPGEN_INLINE T operator[](int64_t lane) const { return partial[lane]; }
  OPGEN_INLINE T value(int64_t points = INT64_MAX) const { return joined<Op>(partial, points); }
};

// A sum in two numbers: what rounding takes from `high` is in `low`. (Without loss as long as nothing is infinite;
// what is, `high` holds alone.)
template <typename T>
OPGEN_INLINE void add_exactly(T& high, T& low, T value) {
  const T sum = high + value;
  const T back = sum - high;
  low += (high - (sum - back)) + (value - back);
  high = sum;
}
template <typename T>
OPGEN_INLINE T total(T high, T low) {
  const T sum = high + low;
  return isfinite(sum) ? sum : high;
}

// The two numbers of a sum as far apart again as they can be: what rounding took came to more than the last digit.
template <typename T>
OPGEN_INLINE void part(T& high, T& low) {
  const T sum = high + low;
  const T rest = low - (sum - high);
  const bool sure = isfinite(sum);
  high = sure ? sum : high;
  low = sure ? rest : low;
}

// The sum of floats: the caller says after every run of points how many there were (`ran`), and after the last one that
// this was all (`finish`), where single lanes are read. Short sums never leave `partial`, so the rest is out of line.
template <typename T, int Lanes>
struct LongSum {
  static constexpr int64_t few_adds = 16;
  static constexpr bool whole = Lanes == row_lanes;  // lanes of one row; else a lane is a column, and a run a row

  alignas(64) T partial[Lanes];
  alignas(64) T block[Lanes];  // the sum of what was in `partial`, if `blocks`
  alignas(64) T high[Lanes];   // the sum of what was in `block`, if `spilled`
  alignas(64) T low[Lanes];
  int64_t adds = 0;    // to a lane since `partial` was emptied
  int64_t blocks = 0;  // since `block` was emptied
  int64_t columns = 0;
  bool spilled = false;

  OPGEN_INLINE LongSum() {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] = T(0);
  }
  OPGEN_INLINE explicit LongSum(int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) partial[lane] = T(0);
  }
  OPGEN_INLINE void add(int64_t lane, T value) { partial[lane] += value; }
  OPGEN_INLINE void ran(int64_t points, int64_t rows = 1) {
    adds += whole ? (points + Lanes - 1) / Lanes : rows;
    if constexpr (!whole) columns = points > columns ? points : columns;
    if constexpr (whole) {
      if (adds >= few_adds && (adds > few_adds || blocks > 0 || spilled)) empty();  // a row of one run has no blocks
    } else {
      if (adds >= few_adds) empty();
    }
  }
  OPGEN_INLINE void finish() {
    if (spilled) {
      collect();
    } else if (blocks > 0) {
      for (int64_t lane = 0; lane < used(); ++lane) partial[lane] += block[lane];
      blocks = 0;
    }
  }
  OPGEN_INLINE T operator[](int64_t lane) const { return partial[lane]; }
  OPGEN_INLINE T value(int64_t points = INT64_MAX) {
    finish();
    return joined<Sum>(partial, points);
  }
  OPGEN_NOINLINE void merge(const LongSum& other) {
    columns = other.columns > columns ? other.columns : columns;
    take(other.partial);
    if (other.blocks > 0) take(other.block);
    if (!other.spilled) return;
    take(other.high);
    take(other.low);
  }
  OPGEN_INLINE void scale(T factor) {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] *= factor;
    for (int64_t lane = 0; blocks > 0 && lane < used(); ++lane) block[lane] *= factor;
    for (int64_t lane = 0; spilled && lane < used(); ++lane) {
      high[lane] *= factor;
      low[lane] *= factor;
    }
  }

 private:
  OPGEN_INLINE int64_t used() const { return whole ? Lanes : columns; }
  OPGEN_NOINLINE void empty() {
    adds = 0;
    for (int64_t lane = 0; lane < used(); ++lane) {
      block[lane] = blocks > 0 ? block[lane] + partial[lane] : partial[lane];
      partial[lane] = T(0);
    }
    if (++blocks == few_adds) spill();
  }
  OPGEN_NOINLINE void spill() {
    blocks = 0;
    take(block);
    for (int64_t lane = 0; lane < used(); ++lane) part(high[lane], low[lane]);
  }
  OPGEN_NOINLINE void take(const T (&values)[Lanes]) {
    for (int lane = 0; !spilled && lane < Lanes; ++lane) high[lane] = low[lane] = T(0);
    spilled = true;
    for (int64_t lane = 0; lane < used(); ++lane) add_exactly(high[lane], low[lane], values[lane]);
  }
  OPGEN_NOINLINE void collect() {
    if (blocks > 0) take(block);
    take(partial);
    for (int64_t lane = 0; lane < used(); ++lane) partial[lane] = total(high[lane], low[lane]);
    blocks = 0;
    spilled = false;
  }
};
template <int Lanes>
struct Fold<Sum, float, Lanes> : LongSum<float, Lanes> {
  using LongSum<float, Lanes>::LongSum;
};
template <int Lanes>
struct Fold<Sum, double, Lanes> : LongSum<double, Lanes> {
  using LongSum<double, Lanes>::LongSum;
};

// The first position of the largest (or smallest) value; nan counts as larger (smaller) than anything.
template <bool Largest>
struct Best {
  using Fold = std::conditional_t<Largest, Max, Min>;

  template <typename T>
  static OPGEN_INLINE bool better(T a, T b) {
    return (Largest ? a > b : a < b) | (isnan(a) & !isnan(b));
  }
  template <typename T>
  static OPGEN_INLINE bool level(T a, T b) {
    return (a == b) | (isnan(a) & isnan(b));
  }
};

// Without branches, so that lanes stay vectors: both halves of a pair are chosen by one comparison.
template <typename Op, typename T, int Lanes = row_lanes>
struct Arg {
  alignas(64) T partial[Lanes];
  alignas(64) int64_t position[Lanes];  // -1 where nothing came yet

  OPGEN_INLINE Arg() { reset(); }
  OPGEN_INLINE explicit Arg(int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) partial[lane] = Op::Fold::template identity<T>();
    for (int64_t lane = 0; lane < lanes; ++lane) position[lane] = -1;
  }
  OPGEN_INLINE void reset() {
    for (int lane = 0; lane < Lanes; ++lane) partial[lane] = Op::Fold::template identity<T>();
    for (int lane = 0; lane < Lanes; ++lane) position[lane] = -1;
  }
  OPGEN_INLINE void add(int64_t lane, T value, int64_t at) {
    set(lane, (position[lane] < 0) | Op::better(value, partial[lane]), value, at);
  }
  OPGEN_INLINE void merge(const Arg& other) {
    for (int lane = 0; lane < Lanes; ++lane) {
      const T value = other.partial[lane];
      const int64_t at = other.position[lane];
      const bool first = Op::level(value, partial[lane]) & (at < position[lane]);
      set(lane, (at >= 0) & ((position[lane] < 0) | Op::better(value, partial[lane]) | first), value, at);
    }
  }
  OPGEN_INLINE int64_t operator[](int64_t lane) const { return position[lane]; }
  OPGEN_INLINE int64_t value(int64_t points = INT64_MAX) const {
    const T best = joined<typename Op::Fold>(partial, points);
    int64_t first[Lanes];
    for (int lane = 0; lane < Lanes; ++lane) {
      const bool is_best = Op::level(partial[lane], best) & (position[lane] >= 0);
      first[lane] = is_best ? position[lane] : INT64_MAX;
    }
    const int64_t at = joined<Min>(first, points);
    return at == INT64_MAX ? -1 : at;
  }

 private:
  OPGEN_INLINE void set(int64_t lane, bool ahead, T value, int64_t at) {
    partial[lane] = ahead ? value : partial[lane];
    position[lane] = ahead ? at : position[lane];
  }
};

}  // namespace OPGEN_SPACE
}  // namespace rt
