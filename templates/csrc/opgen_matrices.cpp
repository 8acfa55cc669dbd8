// See opgen_matrices.h. A tile of the result, twelve rows by two vectors, is summed in registers: what is along it
// comes from a copy, side by side, that stays in the nearest cache for a block of inner places; what is down it is read
// where it stands, an element for each vector, or from a copy as well where it stands far apart or has 16 bits.
#include "opgen_matrices.h"

#if defined(__x86_64__) && !defined(USE_CUDA)

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "opgen_matrix_copies.h"
#include "opgen_step.h"

namespace opgen {

namespace {

constexpr int tile_rows = 12;                  // with two vectors in each, 24 of 32 registers
constexpr int64_t inner_bytes = 1024;          // of a row that is summed before the next: a tile's width fits in L1
constexpr int64_t block_bytes = 1 << 17;       // of a copy of rows
constexpr int64_t block_columns = 512;         // with a block of inner places, half of a common L2
constexpr int64_t most_units = 1 << 18;        // of a copy of columns
constexpr int64_t near_bytes = 1024;           // elements so far apart are read where they stand
constexpr int64_t least = 4;                   // rows and columns: fewer are read once, as fast by torch
constexpr int64_t deepest_of_bfloat16 = 4096;  // sums that are rounded once are copied whole: above, torch is as fast
constexpr int64_t deepest_of_half = 1 << 16;
constexpr int64_t products_for_thread = 1 << 19;
constexpr int64_t enough_parts = 64;  // for any number of threads

// Where a tile of the result goes: its rows or, turned over, its columns are lines that are `apart`. They come on top
// of what is there, or of a bias along them, or alone.
template <typename scalar_t>
struct Place {
  scalar_t* to;
  int64_t apart;
  bool turned, adds;
  const scalar_t* bias;
};

// A vector of a line, from a place along it.
template <typename scalar_t>
OPGEN_WIDE inline void put(const Place<scalar_t>& place, int64_t line, int64_t at, int64_t left,
                           Vector<Sum<scalar_t>> sum) {
  const uint32_t mask = first_lanes(left);
  scalar_t* to = place.to + line * place.apart + at;
  if (place.adds) sum += loaded(to, mask);
  if (place.bias != nullptr) sum += loaded(place.bias + at, mask);
  store(to, mask, sum);
}

// A line as long as a tile is wide, of which so many numbers are wanted. Those of 16 bits are there at once.
template <typename scalar_t>
OPGEN_WIDE inline void put_line(const Place<scalar_t>& place, int64_t line, int64_t wanted,
                                const Vector<Sum<scalar_t>>* sums) {
  constexpr int vector = lanes<Sum<scalar_t>>;
  if constexpr (is_summed<scalar_t>) {
#pragma GCC unroll 2
    for (int at = 0; at < tile_vectors; ++at) put(place, line, at * vector, wanted - at * vector, sums[at]);
  } else {
    Vector<float> first = sums[0], second = sums[1];
    if (place.bias != nullptr) {
      first += loaded(place.bias, first_lanes(wanted));
      second += loaded(place.bias + vector, first_lanes(wanted - vector));
    }
    store(place.to + line * place.apart, first_lanes(wanted), first, second);
  }
}

// sums += units of rows times a row of units.
OPGEN_WIDE inline void add_products(Vector<float>& sums, float x, Vector<float> row) {
  sums += (Vector<float>)_mm512_set1_ps(x) * row;
}
OPGEN_WIDE inline void add_products(Vector<double>& sums, double x, Vector<double> row) {
  sums += (Vector<double>)_mm512_set1_pd(x) * row;
}
OPGEN_WIDE inline void add_products(Vector<float>& sums, int32_t x, Vector<int32_t> row) {
  sums = (Vector<float>)_mm512_dpbf16_ps((__m512)sums, (__m512bh)_mm512_set1_epi32(x), (__m512bh)row);
}

template <typename scalar_t, int Rows>
OPGEN_WIDE void tile(int64_t inner, const Unit<scalar_t>* a, int64_t a_row, int64_t a_inner, const Unit<scalar_t>* b,
                     const Place<scalar_t>& place, int64_t columns) {
  using sum_t = Sum<scalar_t>;
  using unit_t = Unit<scalar_t>;
  Vector<sum_t> sums[Rows][tile_vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) sums[i][0] = sums[i][1] = Vector<sum_t>{};
  for (int64_t k = 0; k < inner; ++k) {
    const auto* row = reinterpret_cast<const Vector<unit_t>*>(b + k * width<scalar_t>);
    const Vector<unit_t> first = row[0], second = row[1];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      unit_t x;
      std::memcpy(&x, reinterpret_cast<const char*>(a) + i * a_row + k * a_inner, sizeof(x));
      add_products(sums[i][0], x, first);
      add_products(sums[i][1], x, second);
    }
  }
  constexpr int vector = lanes<sum_t>;
  if (!place.turned) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) put_line(place, i, columns, sums[i]);
    return;
  }
#pragma GCC unroll 2
  for (int at = 0; at < tile_vectors; ++at) {
#pragma GCC unroll 2
    for (int first = 0; first < Rows; first += vector) {
      Vector<sum_t> lines[vector] = {};
#pragma GCC unroll 16
      for (int i = 0; i < vector; ++i) {
        if (first + i < Rows) lines[i] = sums[first + i][at];
      }
      turn_over<sum_t>(lines);
      const int64_t left = columns - at * vector;
#pragma GCC unroll 16
      for (int k = 0; k < vector; ++k) {
        if (k < left) put(place, at * vector + k, first, Rows - first, lines[k]);
      }
    }
  }
}

template <typename scalar_t, int Rows = tile_rows>
OPGEN_WIDE void tile_of(int64_t rows, int64_t inner, const Unit<scalar_t>* a, int64_t a_row, int64_t a_inner,
                        const Unit<scalar_t>* b, const Place<scalar_t>& place, int64_t columns) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return tile_of<scalar_t, Rows - 1>(rows, inner, a, a_row, a_inner, b, place, columns);
  }
  tile<scalar_t, Rows>(inner, a, a_row, a_inner, b, place, columns);
}

// Memory of this thread, which stays: a large piece anew for each call would be given by the system page by page.
enum Copy { of_b, of_a, copies };
template <typename unit_t>
unit_t* room(Copy copy, int64_t count) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static thread_local std::unique_ptr<void, Free> held[copies];
  static thread_local int64_t sizes[copies] = {};
  const int64_t bytes = rounded_up(count * static_cast<int64_t>(sizeof(unit_t)), vector_bytes);
  if (sizes[copy] < bytes) {
    held[copy].reset(std::aligned_alloc(vector_bytes, bytes));
    sizes[copy] = held[copy] == nullptr ? 0 : bytes;
    if (held[copy] == nullptr) throw std::bad_alloc();
  }
  return static_cast<unit_t*>(held[copy].get());
}

// Some rows by some columns of one product.
struct Part {
  int64_t batch, first_row, last_row, first_column, last_column;
};

// Whether a tile can read its rows where they stand.
template <typename scalar_t>
bool is_read_in_place(const MatrixProduct& m) {
  if (!is_unit<scalar_t>) return false;
  if (m.a.column == 1) return m.inner % places<scalar_t> == 0;
  return places<scalar_t> == 1 && m.a.row == 1 && m.a.column * static_cast<int64_t>(sizeof(scalar_t)) <= near_bytes;
}

// How many inner places are summed before the next: of 16 bits all of them, as they are rounded once.
template <typename scalar_t>
int64_t at_a_time(const MatrixProduct& m) {
  return is_summed<scalar_t> ? std::min<int64_t>(inner_bytes / sizeof(scalar_t), m.inner) : m.inner;
}
template <typename scalar_t>
int64_t deepest(const MatrixProduct& m) {
  return parts_of(at_a_time<scalar_t>(m), places<scalar_t>);
}

template <typename scalar_t>
OPGEN_WIDE void multiply(const MatrixProduct& m, const Part& part) {
  using unit_t = Unit<scalar_t>;
  constexpr int64_t size = sizeof(scalar_t), unit_bytes = sizeof(unit_t), step = places<scalar_t>;
  constexpr int64_t across = width<scalar_t>, down = tile_rows;
  const auto* a = static_cast<const scalar_t*>(m.a.data) + part.batch * m.a.batch;
  const auto* b = static_cast<const scalar_t*>(m.b.data) + part.batch * m.b.batch + part.first_column * m.b.column;
  auto* to = static_cast<scalar_t*>(m.to.data) + part.batch * m.to.batch + part.first_column * m.to.column;
  const auto* bias = static_cast<const scalar_t*>(m.bias);
  const int64_t columns = part.last_column - part.first_column;
  const int64_t most = at_a_time<scalar_t>(m), deep = deepest<scalar_t>(m);
  const bool in_place = is_read_in_place<scalar_t>(m);
  const int64_t a_row = in_place ? m.a.row * size : unit_bytes;
  const int64_t a_inner = in_place ? m.a.column * step * size : down * unit_bytes;
  const int64_t block = std::max(down, block_bytes / unit_bytes / deep / down * down);
  auto* b_copy = room<unit_t>(of_b, rounded_up(columns, across) * deep);
  const int64_t tallest = rounded_up(std::min(block, part.last_row - part.first_row), down);
  auto* a_copy = in_place ? nullptr : room<unit_t>(of_a, tallest * deep);
  for (int64_t k = 0; k < m.inner; k += most) {
    const int64_t inner = std::min(most, m.inner - k), depth = parts_of(inner, step);
    for (int64_t j = 0; j < columns; j += across) {
      copy<scalar_t, width<scalar_t>>(b + j * m.b.column + k * m.b.row, m.b.column, m.b.row,
                                      std::min(across, columns - j), inner, b_copy + j * depth);
    }
    for (int64_t top = part.first_row; top < part.last_row; top += block) {
      const int64_t bottom = std::min(top + block, part.last_row);
      for (int64_t i = top; i < bottom && !in_place; i += down) {
        copy<scalar_t, tile_rows>(a + i * m.a.row + k * m.a.column, m.a.row, m.a.column, std::min(down, bottom - i),
                                  inner, a_copy + (i - top) * depth);
      }
      for (int64_t j = 0; j < columns; j += across) {
        for (int64_t i = top; i < bottom; i += down) {
          const auto* there = reinterpret_cast<const unit_t*>(a + i * m.a.row + k * m.a.column);
          const bool turned = m.to.column != 1;
          const scalar_t* added = bias == nullptr || k > 0 ? nullptr : bias + (turned ? i : part.first_column + j);
          const Place<scalar_t> place{to + i * m.to.row + j * m.to.column, turned ? m.to.column : m.to.row, turned,
                                      k > 0, added};
          tile_of<scalar_t>(std::min(down, bottom - i), depth, in_place ? there : a_copy + (i - top) * depth, a_row,
                            a_inner, b_copy + j * depth, place, std::min(across, columns - j));
        }
      }
    }
  }
}

// About how many cycles it takes: a tile takes as long when it is not full, and copies come on top.
template <typename scalar_t>
int64_t cost(const MatrixProduct& m) {
  const int64_t tiles = parts_of(m.rows, tile_rows) * parts_of(m.columns, width<scalar_t>), inner = m.inner;
  const int64_t copied = inner * m.columns / (m.b.column == 1 ? 8 : 2);
  const int64_t copied_too =
      is_read_in_place<scalar_t>(m) ? 0 : inner * m.rows / 2 * parts_of(m.columns, block_columns);
  return tiles * tile_rows * inner + copied + copied_too + (m.to.column == 1 ? 0 : m.rows * m.columns / 4);
}

// All of it, in parts of whole tiles.
template <typename scalar_t>
void multiply_all(const MatrixProduct& product) {
  const MatrixProduct other = product.turned();
  const MatrixProduct& m = cost<scalar_t>(other) < cost<scalar_t>(product) ? other : product;
  const int64_t tall = parts_of(m.rows, tile_rows), across_tile = width<scalar_t>;
  int64_t wide = most_units / deepest<scalar_t>(m) / across_tile * across_tile;
  wide = std::min(block_columns, std::max(across_tile, wide));
  while (wide > across_tile && m.batches * tall * parts_of(m.columns, wide) < enough_parts)
    wide = rounded_up(wide / 2, across_tile);
  const int64_t across = parts_of(m.columns, wide);
  const int64_t grain = 1 + products_for_thread / (tile_rows * std::min(wide, m.columns) * m.inner);
  torch::stable::parallel_for(0, m.batches * across * tall, grain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t row = at % tall, block = at / tall % across, batch = at / tall / across;
      const int64_t count = std::min(tall - row, end - at);
      multiply<scalar_t>(m, {batch, row * tile_rows, std::min((row + count) * tile_rows, m.rows), block * wide,
                             std::min((block + 1) * wide, m.columns)});
      at += count;
    }
  });
}

// MKL, which torch multiplies with, uses 64-byte vectors on processors of its maker alone.
bool is_here() {
  static const bool found = opgen_has_avx512() && __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel");
  return found;
}

}  // namespace

MatrixProduct MatrixProduct::turned() const {
  const auto over = [](const Matrix& m) { return Matrix{m.data, m.batch, m.column, m.row}; };
  return {type, batches, columns, rows, inner, over(b), over(a), over(to), bias};
}

bool multiplied(const MatrixProduct& product) {
  const bool lies_side_by_side = product.to.row == 1 || product.to.column == 1;
  if (!is_here() || !lies_side_by_side || std::min(product.rows, product.columns) < least) return false;
  if (product.type == ScalarType::BFloat16 && product.inner > deepest_of_bfloat16) return false;
  if (product.type == ScalarType::Half && product.inner > deepest_of_half) return false;
  switch (product.type) {
    case ScalarType::Float:
      multiply_all<float>(product);
      return true;
    case ScalarType::Double:
      multiply_all<double>(product);
      return true;
    case ScalarType::Half:
      multiply_all<Half>(product);
      return true;
    case ScalarType::BFloat16:
      multiply_all<BFloat16>(product);
      return true;
    default:
      return false;
  }
}

}  // namespace opgen

#else

namespace opgen {

bool multiplied(const MatrixProduct&) { return false; }

}  // namespace opgen

#endif
