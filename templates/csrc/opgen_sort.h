// The order of elements along a dim: equal ones as they stand, what is no number last. Torch's own where a device
// sorts.
//
// On a CPU elements become integers that grow with them. Short rows are sorted by comparing these, long ones by their
// bytes, the lowest first.
#pragma once

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "opgen_dispatch.h"

namespace opgen {

#if defined(USE_CUDA)

inline Tensor argsort(const Tensor& elements, int64_t dim) {
  std::array<StableIValue, 4> stack{boxed(elements), boxed(std::optional<bool>(true)), boxed(dim), boxed(false)};
  call_dispatcher("aten::sort", "stable", stack);
  const Tensor values = torch::stable::detail::to<Tensor>(stack[0]);  // ours to let go
  return torch::stable::detail::to<Tensor>(stack[1]);
}

#else

namespace order {

// Elements as integers that grow with them.
inline int32_t key_of(float x) {
  if (x != x) return std::numeric_limits<int32_t>::max();
  x += 0.0f;  // no negative zero
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max());
}
inline int64_t key_of(double x) {
  if (x != x) return std::numeric_limits<int64_t>::max();
  x += 0.0;
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits ^ (bits >> 63 & std::numeric_limits<int64_t>::max());
}
inline int64_t key_of(int64_t x) { return x; }

template <typename Key>
struct Placed {
  Key key, place;
  bool operator<(const Placed& other) const { return key != other.key ? key < other.key : place < other.place; }
};

constexpr int64_t few = 48, some = 96;  // elements of a row
constexpr int64_t lanes = 64;           // rows side by side

// Of so few elements it is counted how many come before each.
template <typename Key, typename T>
void ranks(const T* from, int64_t* to, int64_t first, int64_t last, int64_t size, int64_t step) {
  Key keys[few][lanes] = {}, rank[few][lanes];
  for (int64_t r = first; r < last; r += lanes) {
    const int64_t width = std::min(lanes, last - r);
    const auto start = [&](int64_t lane) { return (r + lane) / step * size * step + (r + lane) % step; };
    for (int64_t lane = 0; lane < width; ++lane) {
      const T* own = from + start(lane);
      for (int64_t k = 0; k < size; ++k) keys[k][lane] = key_of(own[k * step]);
    }
    for (int64_t k = 0; k < size; ++k) {
      Key counted[lanes] = {};
      for (int64_t before = 0; before < k; ++before) {
        for (int64_t lane = 0; lane < lanes; ++lane) {
          const Key swapped = keys[before][lane] > keys[k][lane];
          rank[before][lane] += swapped;
          counted[lane] += 1 - swapped;
        }
      }
      std::copy(counted, counted + lanes, rank[k]);
    }
    for (int64_t lane = 0; lane < width; ++lane) {
      int64_t* own = to + start(lane);
      for (int64_t k = 0; k < size; ++k) own[rank[k][lane] * step] = k;
    }
  }
}

// Goes back and forth between the row and `other`; returns where the result is.
template <typename Key>
Placed<Key>* by_bytes(Placed<Key>* row, Placed<Key>* other, int64_t size) {
  constexpr int bytes = sizeof(Key);
  const auto digit = [](Key key, int byte) { return (key ^ std::numeric_limits<Key>::min()) >> 8 * byte & 255; };
  std::array<std::array<int64_t, 256>, bytes> counts{};
  for (int64_t k = 0; k < size; ++k) {
    for (int b = 0; b < bytes; ++b) ++counts[b][digit(row[k].key, b)];
  }
  for (int b = 0; b < bytes; ++b) {
    std::array<int64_t, 256>& at = counts[b];
    if (at[digit(row[0].key, b)] == size) continue;  // all alike
    int64_t before = 0;
    for (int64_t& count : at) before += std::exchange(count, before);
    for (int64_t k = 0; k < size; ++k) other[at[digit(row[k].key, b)]++] = row[k];
    std::swap(row, other);
  }
  return row;
}

// Rows whose elements are `step` apart, and as far apart in the result.
template <typename Key, typename T>
void rows(const T* from, int64_t* to, int64_t first, int64_t last, int64_t size, int64_t step) {
  if (size <= few) return ranks<Key>(from, to, first, last, size, step);
  std::vector<Placed<Key> > memory(size > some ? 2 * size : size);
  for (int64_t r = first; r < last; ++r) {
    const int64_t start = r / step * size * step + r % step;
    Placed<Key>* row = memory.data();
    for (int64_t k = 0; k < size; ++k) row[k] = {key_of(from[start + k * step]), static_cast<Key>(k)};
    if (size > some) {
      row = by_bytes(row, row + size, size);
    } else {
      std::sort(row, row + size);
    }
    for (int64_t k = 0; k < size; ++k) to[start + k * step] = static_cast<int64_t>(row[k].place);
  }
}

template <typename Key, typename T>
void run(const Tensor& elements, const Tensor& places, int64_t size, int64_t step) {
  const T* from = static_cast<const T*>(elements.const_data_ptr());
  int64_t* to = static_cast<int64_t*>(places.mutable_data_ptr());
  const int64_t grain = std::max<int64_t>(1, 8192 / size);
  torch::stable::parallel_for(0, elements.numel() / size, grain,
                              [=](int64_t first, int64_t last) { rows<Key>(from, to, first, last, size, step); });
}

}  // namespace order

inline Tensor argsort(const Tensor& elements, int64_t dim) {
  const Tensor from = packed(elements);
  const Sizes sizes = sizes_of(from);
  const Tensor places = torch::stable::new_empty(from, {sizes.data(), sizes.size()}, ScalarType::Long);
  if (from.numel() == 0) return places;
  const size_t at = static_cast<size_t>(dim < 0 ? dim + from.dim() : dim);
  int64_t step = 1;
  for (size_t k = at + 1; k < sizes.size(); ++k) step *= sizes[k];
  switch (from.scalar_type()) {
    case ScalarType::Float:
      if (sizes[at] <= std::numeric_limits<int32_t>::max()) {
        order::run<int32_t, float>(from, places, sizes[at], step);
      } else {
        order::run<int64_t, float>(from, places, sizes[at], step);
      }
      break;
    case ScalarType::Double:
      order::run<int64_t, double>(from, places, sizes[at], step);
      break;
    default:
      order::run<int64_t, int64_t>(from, places, sizes[at], step);
  }
  return places;
}

#endif  // USE_CUDA

}  // namespace opgen
