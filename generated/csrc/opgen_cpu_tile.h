// Streams on the CPU: rows of outer points against tiles of what flows past them. A tile is copied close together once
// and used by all rows of a run; sums are kept in registers along the innermost loop, in an order that no thread
// changes.
#pragma once

#include <new>

namespace rt {
inline namespace OPGEN_ISA {

constexpr int64_t tile_rows = 32;   // outer points that share a tile
constexpr int64_t tile_width = 64;  // points of a stream in a tile

// Part of a tensor (or sums in the making): `width` elements from one row to the next.
template <typename T>
struct Tile {
  T* data;

  explicit Tile(int64_t size) : data(new (std::align_val_t(64)) T[static_cast<size_t>(size)]()) {}
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
  ~Tile() { operator delete[](data, std::align_val_t(64)); }

  OPGEN_INLINE T& operator[](int64_t i) const { return data[i]; }
  void clear(int64_t size) {
    for (int64_t i = 0; i < size; ++i) data[i] = T(0);
  }
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

template <int Width, typename T, typename Body>
OPGEN_INLINE void sum_strip(int64_t count, T* to, int64_t first, const Body& body) {
  alignas(64) T part[Width] = {};
  for (int64_t k = 0; k < count; ++k) {
#pragma GCC ivdep
    for (int i = 0; i < Width; ++i) part[i] += body(k, first + i);
  }
  for (int i = 0; i < Width; ++i) to[first + i] += part[i];
}

// to[i] += the sum of body(k, i) over k < count, for all i < size.
template <typename T, typename Body>
OPGEN_FLATTEN inline void sums(int64_t count, int64_t size, T* to, const Body& body) {
  int64_t i = 0;
  for (; i + 64 <= size; i += 64) sum_strip<64>(count, to, i, body);
  for (; i + lane_count <= size; i += lane_count) sum_strip<lane_count>(count, to, i, body);
  for (; i < size; ++i) {
    Fold<Sum, T> part;
    lanes<lane_count>(count, [&](int64_t k, int lane) { part.add(lane, body(k, i)); });
    to[i] += part.value();
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
