// Loops for one operator each, float32, contiguous memory and nothing else: what a person writes who knows all of that.
// Vectors are of 16 numbers, which a compiler splits where registers are shorter.
#include <stdint.h>
#include <string.h>

#include <cmath>

namespace {

typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(64)));
constexpr int64_t lanes = 16;
constexpr int64_t few = 256;  // rows that are added up before their sum is added to another one

inline Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
inline void store(float* to, Vector x) { *reinterpret_cast<Vector*>(to) = x; }
inline Vector all(float x) { return Vector{} + x; }
inline Vector least(Vector a, Vector b) { return a < b ? a : b; }
inline Vector most(Vector a, Vector b) { return a > b ? a : b; }

// Cephes' polynomial behind a reduction by ln 2 in two parts; what is beyond the exponents of floats ends there.
inline Vector exp_of(Vector x) {
  x = most(least(x, all(88.0f)), all(-87.0f));
  const Vector n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  const Vector r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const Vector y = p * r * r + r + 1.0f;
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  return y * reinterpret_cast<Vector>(power);
}
inline float sum_of(Vector x) {
  float total = 0;
  for (int64_t k = 0; k < lanes; ++k) total += x[k];
  return total;
}

}  // namespace

extern "C" {

// y = x * sigmoid(x)
void by_hand_silu(const float* x, float* y, int64_t count) {
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vector v = load(x + i);
    store(y + i, v / (1.0f + exp_of(-v)));
  }
  for (; i < count; ++i) y[i] = x[i] / (1.0f + std::exp(-x[i]));
}

// Rows that are multiples of two vectors: three passes over what the first one has brought into the cache. Scores are
// multiplied with what the operator divides them by.
void by_hand_softmax(const float* x, float* y, int64_t rows, int64_t size, float temperature) {
  const float factor = 1.0f / temperature;
  for (int64_t row = 0; row < rows; ++row, x += size, y += size) {
    Vector top = load(x), other = load(x + lanes);
    for (int64_t i = 2 * lanes; i < size; i += 2 * lanes) {
      top = most(load(x + i), top);
      other = most(load(x + i + lanes), other);
    }
    top = most(top, other);
    float highest = top[0];
    for (int64_t k = 1; k < lanes; ++k) highest = top[k] > highest ? top[k] : highest;
    Vector sum = {}, more = {};
    for (int64_t i = 0; i < size; i += 2 * lanes) {
      const Vector a = exp_of((load(x + i) - highest) * factor);
      const Vector b = exp_of((load(x + i + lanes) - highest) * factor);
      store(y + i, a);
      store(y + i + lanes, b);
      sum += a;
      more += b;
    }
    const float scale = 1.0f / sum_of(sum + more);
    for (int64_t i = 0; i < size; i += lanes) store(y + i, load(y + i) * scale);
  }
}

// Sums over all rows, of which each has 256 columns: they stay in registers, or in the first cache, for a few rows.
void by_hand_column_sum(const float* x, float* y, int64_t rows) {
  constexpr int64_t columns = 256 / lanes;
  Vector total[columns] = {};
  for (int64_t first = 0; first < rows; first += few) {
    const int64_t last = first + few < rows ? first + few : rows;
    Vector sum[columns] = {};
    for (int64_t row = first; row < last; ++row) {
#pragma GCC unroll 16
      for (int64_t c = 0; c < columns; ++c) sum[c] += load(x + row * 256 + c * lanes);
    }
    for (int64_t c = 0; c < columns; ++c) total[c] += sum[c];
  }
  for (int64_t c = 0; c < columns; ++c) store(y + c * lanes, total[c]);
}

// Rows of a table; -1 where a number is out of range.
int by_hand_embedding(const int64_t* ids, const float* table, float* y, int64_t count, int64_t rows, int64_t size) {
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<uint64_t>(ids[i]) >= static_cast<uint64_t>(rows)) return -1;
    memcpy(y + i * size, table + ids[i] * size, static_cast<size_t>(size) * sizeof(float));
  }
  return 0;
}

// Means of 2 by 2, side by side; rows that are multiples of two vectors.
void by_hand_avg_pool2d(const float* x, float* y, int64_t images, int64_t height, int64_t width) {
  constexpr Ints even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  constexpr Ints odd = even + 1;
  for (int64_t row = 0; row < images * (height / 2); ++row, x += 2 * width, y += width / 2) {
    for (int64_t i = 0; i < width; i += 2 * lanes) {
      const Vector a = load(x + i) + load(x + width + i);
      const Vector b = load(x + i + lanes) + load(x + width + i + lanes);
      store(y + i / 2, (__builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd)) * 0.25f);
    }
  }
}

}  // extern "C"
