// Streams on the CPU: rows of outer points against tiles of what flows past them. A tile is copied close together once
// and used by all rows of a run; sums are kept in registers along the innermost loop, in an order that no thread
// changes.
#pragma once

#include <new>

namespace rt {
inline namespace OPGEN_ISA {

constexpr int64_t tile_rows = 32;   // outer points that share a tile
constexpr int64_t tile_width = 64;  // points of a stream in a tile

// Part of a tensor: `width` elements from one row to the next.
template <typename T>
struct Tile {
  T* data;

  explicit Tile(int64_t size) : data(new (std::align_val_t(64)) T[static_cast<size_t>(size)]()) {}
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
  ~Tile() { operator delete[](data, std::align_val_t(64)); }

  OPGEN_INLINE T& operator[](int64_t i) const { return data[i]; }
  OPGEN_NOINLINE void fill(const Tensor<T>& tensor, int64_t at, int64_t rows, int64_t row_step, int64_t columns,
                           int64_t column_step, int64_t width) {
    if (row_step < column_step) {
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < rows; ++r) data[r * width + c] = load(tensor, at + r * row_step + c * column_step);
      }
    } else {
      for (int64_t r = 0; r < rows; ++r) gather(tensor, at + r * row_step, column_step, columns, data + r * width);
    }
  }
};

// Sums in the making: tile after tile adds to them, without loss (as `LongSum` does).
template <typename T>
struct Totals {
  T* high;
  T* low;

  OPGEN_INLINE void add(int64_t i, T value) const { add_exactly(high[i], low[i], value); }
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

// Those of the points of a tile.
template <typename T>
struct Dots : Totals<T> {
  alignas(64) T memory[2 * tile_width] = {};

  OPGEN_INLINE Dots() { static_cast<Totals<T>&>(*this) = {memory, memory + tile_width}; }
  Dots(const Dots&) = delete;
  Dots& operator=(const Dots&) = delete;
};

template <int Width, typename T, typename Body>
OPGEN_INLINE void sum_strip(int64_t begin, int64_t end, Totals<T> to, int64_t first, const Body& body) {
  alignas(64) T part[Width] = {};
  for (int64_t k = begin; k < end; ++k) {
#pragma GCC ivdep
    for (int i = 0; i < Width; ++i) part[i] += body(k, first + i);
  }
#pragma GCC ivdep
  for (int i = 0; i < Width; ++i) to.add(first + i, part[i]);
}

// to[i] += the sum of body(k, i) over k < count, for all i < size.
template <typename T, typename Body>
OPGEN_INLINE void sums(int64_t count, int64_t size, Totals<T> to, const Body& body) {
  for (int64_t begin = 0; begin < count; begin += tile_width) {
    const int64_t end = count - begin < tile_width ? count : begin + tile_width;
    int64_t i = 0;
    for (; i + 64 <= size; i += 64) sum_strip<64>(begin, end, to, i, body);
    for (; i + lane_count <= size; i += lane_count) sum_strip<lane_count>(begin, end, to, i, body);
    for (; i < size; ++i) {
      Fold<Sum, T> part;
      lanes<lane_count>(end - begin, [&](int64_t k, int lane) { part.add(lane, body(begin + k, i)); });
      to.add(i, part.value());
    }
  }
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

}  // namespace OPGEN_ISA
}  // namespace rt
