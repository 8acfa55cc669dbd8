// Streams on the CPU: rows of outer points against tiles of what flows past them. A tile is copied close together once
// and used by all rows of a run; sums are kept in registers along the innermost loop, in an order that no thread
// changes.
#pragma once

#include <new>

#include "opgen_cpu_memory.h"

namespace rt {
inline namespace OPGEN_SPACE {

constexpr int64_t tile_rows = 128;  // outer points that share a tile
constexpr int64_t tile_width = 64;  // points of a stream in a tile
// Rows of a tile that go through the other one together, as far as there are registers for their sums: what all of them
// read is loaded once.
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr int64_t row_group = 1;
#else
constexpr int64_t row_group = 4;
#endif
// Whether long sums are those of two vectors for each row: one would wait for itself.
#if defined(__AVX512F__)
constexpr bool pairs = true;
#else
constexpr bool pairs = false;
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define OPGEN_SHUFFLES
#endif
#endif

// The elements of a row of a tile, such that whole vectors cover it; what is behind its own is zero.
OPGEN_INLINE int64_t padded(int64_t size) { return (size + lane_count - 1) / lane_count * lane_count; }
// The group of rows that starts with `first`.
struct Group {
  int64_t first;
  int64_t last;  // behind it

  OPGEN_INLINE Group(int64_t first, int64_t rows)
      : first(first), last(rows - first < row_group ? rows : first + row_group) {}
  OPGEN_INLINE bool full() const { return last - first == row_group; }
};

// The transpose of four by four elements.
template <typename T>
OPGEN_INLINE void turn_square(const T* from, int64_t step, T* to, int64_t width) {
#if defined(OPGEN_SHUFFLES)
  typedef T Four __attribute__((vector_size(4 * sizeof(T))));
  Four a, b, c, d;
  memcpy(&a, from, sizeof(Four));
  memcpy(&b, from + step, sizeof(Four));
  memcpy(&c, from + 2 * step, sizeof(Four));
  memcpy(&d, from + 3 * step, sizeof(Four));
  const Four ac_low = __builtin_shufflevector(a, c, 0, 4, 1, 5);
  const Four ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const Four bd_low = __builtin_shufflevector(b, d, 0, 4, 1, 5);
  const Four bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ac_low, bd_low, 0, 4, 1, 5);
  b = __builtin_shufflevector(ac_low, bd_low, 2, 6, 3, 7);
  c = __builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5);
  d = __builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7);
  memcpy(to, &a, sizeof(Four));
  memcpy(to + width, &b, sizeof(Four));
  memcpy(to + 2 * width, &c, sizeof(Four));
  memcpy(to + 3 * width, &d, sizeof(Four));
#else
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) to[r * width + c] = from[c * step + r];
  }
#endif
}

// Part of a tensor: `width` elements from one row to the next.
template <typename T>
struct Tile {
  T* data;

  explicit Tile(int64_t size) : data(zeros(size)) {}
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
  ~Tile() { operator delete[](data, std::align_val_t(64)); }

  static OPGEN_NOINLINE T* zeros(int64_t size) { return new (std::align_val_t(64)) T[static_cast<size_t>(size)](); }
  OPGEN_INLINE T& operator[](int64_t i) const { return data[i]; }
  OPGEN_NOINLINE void fill(const Tensor<T>& tensor, int64_t at, int64_t rows, int64_t row_step, int64_t columns,
                           int64_t column_step, int64_t width) {
    if constexpr (std::is_floating_point_v<T>) {
      if (row_step == 1 && column_step > 1 && !tensor.narrow) {
        turn(static_cast<const T*>(tensor.data) + at, rows, columns, column_step, width);
        return;
      }
    }
    if (row_step < column_step) {
      T buffer[block];
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t first = 0; first < rows; first += block) {
          const int64_t count = rows - first < block ? rows - first : block;
          gather(tensor, at + first * row_step + c * column_step, row_step, count, buffer);
          for (int64_t r = 0; r < count; ++r) data[(first + r) * width + c] = buffer[r];
        }
      }
    } else {
      for (int64_t r = 0; r < rows; ++r) gather(tensor, at + r * row_step, column_step, columns, data + r * width);
    }
  }
  // The same where columns are contiguous in memory.
  OPGEN_INLINE void turn(const T* from, int64_t rows, int64_t columns, int64_t step, int64_t width) {
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      int64_t r = 0;
      for (; r + 4 <= rows; r += 4) turn_square(from + c * step + r, step, data + r * width + c, width);
      for (; r < rows; ++r) {
        for (int64_t k = c; k < c + 4; ++k) data[r * width + k] = from[k * step + r];
      }
    }
    for (; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) data[r * width + c] = from[c * step + r];
    }
  }
};

// Sums in the making: tile after tile adds to them, without loss (as `LongSum` does).
template <typename T>
struct Totals {
  T* high;
  T* low;

  // A function of its own, that all kernels share: values come out of registers once for all points.
  template <int Rows, int Width>
  OPGEN_NOINLINE void add(int64_t first, int64_t step, const T (&values)[Rows][Width]) const {
#pragma GCC unroll 1
    for (int r = 0; r < Rows; ++r) {
      T* const here = high + first + r * step;
      T* const rest = low + first + r * step;
#pragma GCC ivdep
      for (int i = 0; i < Width; ++i) add_exactly(here[i], rest[i], values[r][i]);
    }
  }
  OPGEN_INLINE T operator[](int64_t i) const { return total(high[i], low[i]); }
  OPGEN_INLINE Totals from(int64_t first) const { return {high + first, low + first}; }
  OPGEN_INLINE void clear(int64_t size) const {
    for (int64_t i = 0; i < size; ++i) high[i] = low[i] = T(0);
  }
  OPGEN_INLINE void scale(int64_t size, T factor) const {
    for (int64_t i = 0; i < size; ++i) {
      high[i] *= factor;
      low[i] *= factor;
    }
  }
};

// Those of the rows of a tile.
template <typename T>
struct Sums : Totals<T> {
  Tile<T> memory;

  explicit Sums(int64_t size) : memory(2 * size) { static_cast<Totals<T>&>(*this) = {memory.data, memory.data + size}; }
};

// A value for every point of a tile, for each row of a group.
template <typename T>
struct Points {
  alignas(64) T memory[row_group * tile_width];
  int64_t first;  // row

  OPGEN_INLINE explicit Points(const Group& group) : first(group.first) {}
  Points(const Points&) = delete;
  Points& operator=(const Points&) = delete;
  OPGEN_INLINE T& operator()(int64_t r, int64_t i) { return memory[(r - first) * tile_width + i]; }
};

// part[r][i] = the sum of body(row + r, k, at + i) over k from begin to end, which stays in registers.
template <int Rows, int Width, typename T, typename Body>
OPGEN_INLINE void sum_strip(T (&part)[Rows][Width], int64_t row, int64_t begin, int64_t end, int64_t at,
                            const Body& body) {
  for (int r = 0; r < Rows; ++r) {
    for (int i = 0; i < Width; ++i) part[r][i] = T(0);
  }
  for (int64_t k = begin; k < end; ++k) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      if constexpr (Width > lane_count) {
#pragma GCC ivdep
        for (int i = 0; i < Width; ++i) part[r][i] += body(row + r, k, at + i);
      } else {  // unrolled before it is vectorised, it would stay scalar
#pragma GCC ivdep
#pragma GCC unroll 1
        for (int i = 0; i < Width; ++i) part[r][i] += body(row + r, k, at + i);
      }
    }
  }
}

// Calls strip(rows, width, row, at) for all rows of a group and places up to a padded size; `count`: the terms of a
// sum.
template <typename Strip>
OPGEN_INLINE void strips(int64_t count, const Group& group, int64_t size, const Strip& strip) {
  using std::integral_constant;
  constexpr integral_constant<int, 1> one;
  if (row_group > 1 && group.full()) {
    constexpr integral_constant<int, row_group> rows;
    int64_t at = 0;
    if constexpr (pairs) {
      for (; count >= lane_count && at + 2 * lane_count <= size; at += 2 * lane_count)
        strip(rows, integral_constant<int, 2 * lane_count>(), group.first, at);
    }
    for (; at < size; at += lane_count) strip(rows, integral_constant<int, lane_count>(), group.first, at);
    return;
  }
  for (int64_t r = group.first; r < group.last; ++r) {
    int64_t at = 0;
    for (; at + 64 <= size; at += 64) strip(one, integral_constant<int, 64>(), r, at);
    for (; at < size; at += lane_count) strip(one, integral_constant<int, lane_count>(), r, at);
  }
}

// Adds a strip to sums. What is handed over is a copy: the strip itself would stay in memory while it is summed.
template <int Rows, int Width, typename T>
OPGEN_INLINE void add_strip(const Totals<T>& to, int64_t first, int64_t step, const T (&part)[Rows][Width]) {
  alignas(64) T values[Rows][Width];
  for (int r = 0; r < Rows; ++r) {
#pragma GCC ivdep
    for (int i = 0; i < Width; ++i) values[r][i] = part[r][i] + T(0);
  }
  to.add(first, step, values);
}

template <int Rows, int Width, typename T, typename Body>
OPGEN_INLINE void dot_strip(int64_t count, int64_t row, int64_t at, Points<T>& to, const Body& body) {
  alignas(64) T part[Rows][Width];
  alignas(64) T sums[2][Rows * Width];
  const Totals<T> totals = {sums[0], sums[1]};
  if (count <= tile_width) {
    sum_strip(part, row, 0, count, at, body);
    for (int r = 0; r < Rows; ++r) {
#pragma GCC ivdep
      for (int i = 0; i < Width; ++i) to(row + r, at + i) = part[r][i];
    }
    return;
  }
  totals.clear(Rows * Width);
  for (int64_t begin = 0; begin < count; begin += tile_width) {
    sum_strip(part, row, begin, count - begin < tile_width ? count : begin + tile_width, at, body);
    add_strip(totals, 0, Width, part);
  }
  for (int r = 0; r < Rows; ++r) {
#pragma GCC ivdep
    for (int i = 0; i < Width; ++i) to(row + r, at + i) = totals[r * Width + i];
  }
}
// to(r, i) = the sum of body(r, k, i) over k < count, for the rows of a group and all points of a tile.
template <typename T, typename Body>
OPGEN_INLINE void dots(int64_t count, const Group& group, Points<T>& to, const Body& body) {
  strips(count, group, tile_width,
         [&](auto rows, auto width, int64_t row, int64_t at) { dot_strip<rows(), width()>(count, row, at, to, body); });
}

template <int Rows, int Width, typename T, typename Body>
OPGEN_INLINE void weigh_strip(int64_t count, int64_t row, int64_t at, int64_t size, Totals<T> to, const Body& body) {
  alignas(64) T part[Rows][Width];
  sum_strip(part, row, 0, count, at, body);
  add_strip(to, row * size + at, size, part);
}
// to[r * size + i] += the sum of body(r, k, i) over k < count, for the rows of a group and all i below a padded size.
template <typename T, typename Body>
OPGEN_INLINE void weigh(int64_t count, const Group& group, int64_t size, const Totals<T>& to, const Body& body) {
  strips(count, group, size, [&](auto rows, auto width, int64_t row, int64_t at) {
    weigh_strip<rows(), width()>(count, row, at, size, to, body);
  });
}

// A maximum in the making that sums are scaled by: what `raise` returns is how they change when it moves.
template <typename T>
struct Running {
  T top = lowest<T>();
  T shift = T(0);

  OPGEN_INLINE T raise(T other) {
    const T before = shift;
    const bool none = top == lowest<T>();
    top = max(top, other);
    shift = isfinite(top) ? top : T(0);
    return none ? T(1) : exp(before - shift);
  }
  OPGEN_INLINE T value() const { return top; }
};

}  // namespace OPGEN_SPACE
}  // namespace rt
