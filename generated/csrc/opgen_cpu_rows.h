// Folds of rows that positions name, column by column. A few rows at a time go through a few vectors of columns, whose
// values stay in registers meanwhile; where the rows start is found, and checked, ahead of that.
#pragma once

#include "opgen_cpu_ahead.h"
#include "opgen_cpu_fold.h"
#include "opgen_cpu_line.h"
#include "opgen_cpu_rest.h"

namespace rt {
inline namespace OPGEN_SPACE {

constexpr int few_rows = 16;    // as many as a sum of floats adds up in one number
constexpr int rows_ahead = 32;  // of those that positions name, far apart: each is waited for as long as 32 take
#if defined(__AVX512F__)
constexpr int wide = 512;  // bytes that eight registers hold
#elif defined(__AVX2__)
constexpr int wide = 256;
#else
constexpr int wide = 128;
#endif

// Whether `count` points are folded by rows: some accesses are at columns side by side, some stand still at all of
// them, and elements are read as they are in memory.
template <typename Run, int Beside, typename... T>
OPGEN_INLINE bool by_rows(const Run& columns, int64_t count, const int (&beside)[Beside], const Tensor<T>&... tensors) {
  bool all = count > 1 && (!tensors.narrow && ...);
  for (int access : beside) all = all && columns.step[access] == 1;
  return all;
}
template <typename Run, int Beside, int Still, typename... T>
OPGEN_INLINE bool by_rows(const Run& columns, int64_t count, const int (&beside)[Beside], const int (&still)[Still],
                          const Tensor<T>&... tensors) {
  bool all = by_rows(columns, count, beside, tensors...);
  for (int access : still) all = all && columns.step[access] == 0;
  return all;
}

// So many columns of a fold, of several at once, stay in registers.
template <typename scalar_t>
constexpr int most_columns(int folds) {
  return wide / static_cast<int>(sizeof(opmath<scalar_t>)) / (folds > 2 ? 4 : folds);
}
// The same where these are all columns of a row, in whole vectors.
template <typename scalar_t, int Folds, typename Run, int Beside, typename... T>
OPGEN_INLINE bool by_short_rows(const Run& columns, int64_t count, const int (&beside)[Beside],
                                const Tensor<T>&... tensors) {
  const bool few = columns.size >= lane_count && columns.size <= most_columns<scalar_t>(Folds);
  return few && by_rows(columns, count, beside, tensors...);
}
template <typename scalar_t, int Folds, typename Run, int Beside, int Still, typename... T>
OPGEN_INLINE bool by_short_rows(const Run& columns, int64_t count, const int (&beside)[Beside],
                                const int (&still)[Still], const Tensor<T>&... tensors) {
  const bool few = columns.size >= lane_count && columns.size <= most_columns<scalar_t>(Folds);
  return few && by_rows(columns, count, beside, still, tensors...);
}

// A row in memory.
template <typename T>
struct Row {
  const Lane<T>* from;

  OPGEN_INLINE opmath<T> operator[](int64_t i) const { return static_cast<opmath<T>>(from[i]); }
};

// What an access is at a few points: it moves evenly from one to the next.
template <typename T>
struct Few {
  const Lane<T>* first;
  int64_t step;

  OPGEN_INLINE Few(const Tensor<T>& tensor, int64_t at, int64_t step)
      : first(static_cast<const Lane<T>*>(tensor.data) + at), step(step) {}
  template <int Columns>
  OPGEN_INLINE void ask(int64_t, int64_t) const {}
};
// A number,
template <typename T>
struct FewValues : Few<T> {
  using Few<T>::Few;
  OPGEN_INLINE opmath<T> operator()(int64_t k) const { return static_cast<opmath<T>>(this->first[k * this->step]); }
};
// one that is read as a run is,
template <typename T>
struct FewNumbers : FewValues<T> {
  using FewValues<T>::FewValues;
  OPGEN_INLINE Number<opmath<T>> operator()(int64_t k) const { return {FewValues<T>::operator()(k)}; }
};
// a run of columns,
template <typename T>
struct FewRuns : Few<T> {
  using Few<T>::Few;
  OPGEN_INLINE Row<T> operator()(int64_t k) const { return {this->first + k * this->step}; }
};
// or a run of columns in rows that positions name. Where one of these is out of range, there are zeros instead.
template <typename T>
struct FewRows : Few<T> {
  using Few<T>::first;
  using Few<T>::step;
  int64_t stride;  // of the axis that positions are along
  const int64_t* positions;
  int64_t along;        // from one to the next
  const int64_t* next;  // what the loops come to some rows after these, to be asked for meanwhile
  int64_t next_along;

  OPGEN_INLINE FewRows(OpgenHost& host, const Tensor<T>& tensor, int64_t number, int64_t axis, int64_t at, int64_t step,
                       const Ahead& ahead, int64_t now, int64_t along, int64_t count)
      : Few<T>(tensor, at, step),
        stride(tensor.stride(axis)),
        positions(ahead.positions + now),
        along(along),
        next(positions),
        next_along(along) {
    const int64_t then = now + rows_ahead * ahead.step, last = then + (count - 1) * ahead.step;
    if (within(then, ahead.last + 1) && within(last, ahead.last + 1)) {
      next = ahead.positions + then;
      next_along = ahead.step;
    }
    uint64_t most = 0;  // what is below zero is more than any size
    for (int64_t k = 0; along == 1 && k < count; ++k) most = larger(most, positions[k]);
    for (int64_t k = 0; along != 1 && k < count; ++k) most = larger(most, positions[k * along]);
    const int64_t size = tensor.size(axis);
    if (most >= static_cast<uint64_t>(size)) leave_out(host, number, axis, size, count);
  }
  static OPGEN_INLINE uint64_t larger(uint64_t most, int64_t position) {
    return static_cast<uint64_t>(position) > most ? static_cast<uint64_t>(position) : most;
  }
  OPGEN_NOINLINE void leave_out(OpgenHost& host, int64_t number, int64_t axis, int64_t size, int64_t count) {
    static const Lane<T> zeros[block] = {};
    for (int64_t k = 0; k < count; ++k) inside(host, positions[k * along], size, number, axis);
    first = zeros;
    step = stride = along = 0;
    positions = next;
  }
  OPGEN_INLINE Row<T> operator()(int64_t k) const { return {first + k * step + positions[k * along] * stride}; }
  // Positions that are out of range are asked for as well, which does no harm.
  template <int Columns>
  OPGEN_INLINE void ask(int64_t k, int64_t column) const {
    constexpr uint64_t line = 64, bytes = Columns * sizeof(T);
    const uint64_t away = static_cast<uint64_t>(next[k * next_along]) * static_cast<uint64_t>(stride);
    const uint64_t row = reinterpret_cast<uint64_t>(first + column) + away * sizeof(T);
    for (uint64_t b = 0; b < bytes; b += line) __builtin_prefetch(reinterpret_cast<const void*>(row + b));
  }
};

// Columns are copied as vectors take them.
template <int Columns, int Step, int Begin = 0, typename T>
OPGEN_INLINE void copy_columns(const T* from, T* to) {
#pragma GCC unroll 1
  for (int lane = Begin; lane < Begin + Step; ++lane) to[lane] = from[lane];
  if constexpr (Begin + Step < Columns) copy_columns<Columns, Step, Begin + Step>(from, to);
}

// What lanes are given at a few columns: of a source, what it is at a point;
template <typename Source, int Columns, int Step>
struct Given {
  const Source& source;

  OPGEN_INLINE Given(const Source& source, int64_t) : source(source) {}
  OPGEN_INLINE auto operator()(int64_t k) const { return source(k); }
  OPGEN_INLINE void ask(int64_t k, int64_t first) const { source.template ask<Columns>(k, first); }
  OPGEN_INLINE void leave(int64_t) const {}
};
// of a fold, what it has come to there, in registers.
template <typename Op, typename T, int Most, int Columns, int Step>
struct Given<Fold<Op, T, Most>, Columns, Step> {
  T* whole;
  alignas(64) T partial[Columns];

  OPGEN_INLINE Given(Fold<Op, T, Most>& fold, int64_t first) : whole(fold.partial + first) {
    copy_columns<Columns, Step>(whole, partial);
  }
  OPGEN_INLINE Given& operator()(int64_t) { return *this; }
  OPGEN_INLINE void ask(int64_t, int64_t) const {}
  OPGEN_INLINE void add(int64_t lane, T value) { partial[lane] = Op::combine(partial[lane], value); }
  // Columns that are before `begin` have been folded already.
  OPGEN_INLINE void leave(int64_t begin) const {
    if (begin == 0) return copy_columns<Columns, Step>(partial, whole);
    for (int64_t lane = begin; lane < Columns; ++lane) whole[lane] = partial[lane];
  }
};
template <typename Op, typename T, int Most>
OPGEN_INLINE Fold<Op, T, Most>& given(Fold<Op, T, Most>& fold, int64_t) {
  return fold;
}
template <typename Source>
OPGEN_INLINE auto given(const Source& source, int64_t k) {
  return source(k);
}
template <typename Source>
constexpr int is_fold = 0;
template <typename Op, typename T, int Most>
constexpr int is_fold<Fold<Op, T, Most>> = 1;

template <int Columns, int Step, int Begin = 0, typename Lanes, typename... Values>
OPGEN_INLINE void fold_row(int64_t first, const Lanes& lanes, Values&&... values) {
#pragma GCC ivdep
#pragma GCC unroll 1
  for (int lane = Begin; lane < Begin + Step; ++lane) lanes(first + lane, lane, values...);
  if constexpr (Begin + Step < Columns) fold_row<Columns, Step, Begin + Step>(first, lanes, values...);
}
template <int Columns, int Step, typename Lanes, typename... All>
OPGEN_INLINE void fold_given(int64_t first, int64_t begin, int64_t count, const Lanes& lanes, All&&... given) {
  for (int64_t k = 0; k < count; ++k) {
    (given.ask(k, first), ...);
    fold_row<Columns, Step>(first, lanes, given(k)...);
  }
  (given.leave(begin), ...);
}
// A function of its own, so that nothing else needs its registers.
template <int Columns, int Step, typename Lanes, typename... Args>
OPGEN_NOINLINE OPGEN_FLATTEN void fold_columns(int64_t first, int64_t begin, int64_t count, const Lanes& lanes,
                                               Args&... args) {
  fold_given<Columns, Step>(first, begin, count, lanes,
                            Given<std::remove_const_t<Args>, Columns, Step>(args, first)...);
}

// Calls lanes(i, lane, args...) at columns of a few points; the arguments are folds, and sources of what is read.
template <typename scalar_t, typename Lanes, typename... Args>
OPGEN_INLINE void fold_rows(const Span& columns, int64_t count, const Lanes& lanes, Args&... args) {
  constexpr int pair = 2 * lane_count, step = is_stored<scalar_t> ? pair : lane_count;
  constexpr int folds = (is_fold<std::remove_const_t<Args>> + ...);
  constexpr int most = most_columns<scalar_t>(folds);
  if (columns.count < lane_count) {
    for (int64_t k = 0; k < count; ++k) {
      each(columns, [&](int64_t i) { lanes(i, i, given(args, k)...); });
    }
    return;
  }
  int64_t i = columns.first;
  const int64_t end = columns.first + columns.count;
  for (; most > pair && i + most <= end; i += most) fold_columns<most, step>(i, 0, count, lanes, args...);
  if constexpr (most / 2 > pair) {
    for (; i + most / 2 <= end; i += most / 2) fold_columns<most / 2, step>(i, 0, count, lanes, args...);
  }
  for (; i + pair <= end; i += pair) fold_columns<pair, step>(i, 0, count, lanes, args...);
  for (; i < end; i += lane_count) {
    const int64_t left = end - i < lane_count ? end - i : lane_count;
    fold_columns<lane_count, lane_count>(i + left - lane_count, lane_count - left, count, lanes, args...);
  }
}

}  // namespace OPGEN_SPACE
}  // namespace rt
