// Reductions: accumulators, and teams of threads that fold together.
//
// An accumulator is started at the value of an empty range, is fed with `add` and joined with `merge`. Joining is in
// a fixed order, so results are the same in every run. `of_lane` gives that of the lane whose number differs in `bits`.
//
// A sum of floats is rounded at every step. So that its error does not grow with the number of terms, `settle` follows
// every `block_adds` of them at the latest, and `finish` comes before `value` is read or joined with that of others.
#pragma once

#include "opgen_types.cuh"

namespace rt {

constexpr int64_t block_adds = 32;

// A sum in two numbers: what rounding takes from `high` is in `low`. (Without loss as long as nothing is infinite;
// what is, `high` holds alone.)
template <typename T>
OPGEN_DEVICE void add_exactly(T* high, T* low, T value) {
  const T sum = *high + value;
  const T back = sum - *high;
  *low += (*high - (sum - back)) + (value - back);
  *high = sum;
}
template <typename T>
OPGEN_DEVICE T total(T high, T low) {
  const T sum = high + low;
  return isfinite(sum) ? sum : high;
}

template <typename T>
struct Sum {
  T value = T(0);  // of the terms since `settle`
  T high = T(0);
  T low = T(0);
  OPGEN_DEVICE void add(T x) { value += x; }
  OPGEN_DEVICE void merge(const Sum& other) { value += other.value; }
  OPGEN_DEVICE void settle() {
    add_exactly(&high, &low, value);
    value = T(0);
  }
  OPGEN_DEVICE void finish() {
    if (high == T(0) && low == T(0)) return;  // nothing was settled, which a compiler knows of a few terms
    settle();
    value = total(high, low);
    high = low = T(0);
  }
  OPGEN_DEVICE void scale(T factor) {
    value *= factor;
    high *= factor;
    low *= factor;
  }
  OPGEN_DEVICE Sum of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits), T(0), T(0)}; }
};
// Integers are exact as they are.
template <>
struct Sum<int64_t> {
  int64_t value = 0;
  OPGEN_DEVICE void add(int64_t x) { value += x; }
  OPGEN_DEVICE void merge(const Sum& other) { value += other.value; }
  OPGEN_DEVICE Sum of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};

// A fold by itself whose terms are exact as they are.
template <typename Fold>
struct Unsettled : Fold {
  OPGEN_DEVICE void settle() const {}
  OPGEN_DEVICE void finish() const {}
};

template <typename T>
struct Prod {
  T value = T(1);
  OPGEN_DEVICE void add(T x) { value *= x; }
  OPGEN_DEVICE void merge(const Prod& other) { value *= other.value; }
  OPGEN_DEVICE Prod of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};

// The greatest number there is: infinity, or the greatest integer.
template <typename T>
OPGEN_DEVICE T top() {
  if constexpr (std::is_same_v<T, int64_t>) {
    return INT64_MAX;
  } else {
    return inf<T>();
  }
}

// nan wins.
template <typename T>
struct Max {
  T value = -top<T>();
  OPGEN_DEVICE void add(T x) { value = max(value, x); }
  OPGEN_DEVICE void merge(const Max& other) { add(other.value); }
  OPGEN_DEVICE Max of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};

template <typename T>
struct Min {
  T value = top<T>();
  OPGEN_DEVICE void add(T x) { value = min(value, x); }
  OPGEN_DEVICE void merge(const Min& other) { add(other.value); }
  OPGEN_DEVICE Min of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};

// A maximum in the making that sums are scaled by: what `raise` returns is how they change when it moves.
template <typename T>
struct Running {
  T value = -top<T>();
  T shift = T(0);
  OPGEN_DEVICE T raise(T x) {
    const T before = shift;
    const bool none = value == -top<T>();
    value = max(value, x);
    shift = isfinite(value) ? value : T(0);
    return none ? T(1) : exp(before - shift);
  }
};

struct Any {
  int32_t value = 0;
  OPGEN_DEVICE void add(bool x) { value |= x ? 1 : 0; }
  OPGEN_DEVICE void merge(const Any& other) { value |= other.value; }
  OPGEN_DEVICE Any of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};
struct All {
  int32_t value = 1;
  OPGEN_DEVICE void add(bool x) { value &= x ? 1 : 0; }
  OPGEN_DEVICE void merge(const All& other) { value &= other.value; }
  OPGEN_DEVICE All of_lane(unsigned mask, int bits) const { return {__shfl_xor_sync(mask, value, bits)}; }
};

// The position of the first extreme; the first nan wins over everything. `position` is -1 while nothing was added.
template <typename T, bool Largest>
struct ArgExtreme {
  T best = T(0);
  int64_t value = -1;
  OPGEN_DEVICE void add(T x, int64_t position) {
    const bool better = Largest ? x > best : x < best;
    const bool tie = x == best || (isnan(x) && isnan(best));
    const bool wins = (isnan(x) && !isnan(best)) || (better && !isnan(best)) || (tie && position < value);
    if (value < 0 || wins) {
      best = x;
      value = position;
    }
  }
  OPGEN_DEVICE void merge(const ArgExtreme& other) {
    if (other.value >= 0) add(other.best, other.value);
  }
  OPGEN_DEVICE ArgExtreme of_lane(unsigned mask, int bits) const {
    return {__shfl_xor_sync(mask, best, bits), __shfl_xor_sync(mask, value, bits)};
  }
};
template <typename T>
using ArgMax = ArgExtreme<T, true>;
template <typename T>
using ArgMin = ArgExtreme<T, false>;

// Width lanes of one warp, a power of two; teams of one warp are independent of each other.
template <int Width>
struct Lanes {
  static constexpr int most = 256;  // threads of a block

  static constexpr OPGEN_DEVICE int size() { return Width; }
  static OPGEN_DEVICE int rank() { return static_cast<int>(threadIdx.x) % Width; }
  // Which team of its block this is, and of how many.
  static OPGEN_DEVICE int number() { return static_cast<int>(threadIdx.x) / Width; }
  static OPGEN_DEVICE int count() { return static_cast<int>(blockDim.x) / Width; }

  template <typename Fold>
  static OPGEN_DEVICE void join(Fold* fold) {
    constexpr unsigned lanes = Width == 32 ? 0xffffffffu : (1u << Width % 32) - 1;
    const unsigned mask = lanes << (threadIdx.x % 32 / Width * Width);
    OPGEN_UNROLL
    for (int bits = Width / 2; bits > 0; bits /= 2) fold->merge(fold->of_lane(mask, bits));
  }
};

// The whole block, of as many warps as it was launched with.
template <int Most>
struct BlockOf {
  static constexpr int most = Most;  // threads

  static OPGEN_DEVICE int size() { return static_cast<int>(blockDim.x); }
  static OPGEN_DEVICE int rank() { return static_cast<int>(threadIdx.x); }
  static constexpr OPGEN_DEVICE int number() { return 0; }
  static constexpr OPGEN_DEVICE int count() { return 1; }

  template <typename Fold>
  static OPGEN_DEVICE void join(Fold* fold) {
    OPGEN_SHARED(Fold, cells, most / 32);
    Lanes<32>::join(fold);
    if (size() == 32) return;
    if (rank() % 32 == 0) cells[rank() / 32] = *fold;
    __syncthreads();
    *fold = cells[0];
    OPGEN_ROLLED
    for (int warp = 1; warp < size() / 32; ++warp) fold->merge(cells[warp]);
    __syncthreads();
  }
};

using Block = BlockOf<256>;

// As many threads as a block has side by side: all it has, or one, with the others behind it.
struct Side {
  static constexpr int most = Block::most;

  static OPGEN_DEVICE int size() { return static_cast<int>(blockDim.x); }
  static OPGEN_DEVICE int rank() { return static_cast<int>(threadIdx.x); }
  static OPGEN_DEVICE int number() { return static_cast<int>(threadIdx.y); }
  static OPGEN_DEVICE int count() { return static_cast<int>(blockDim.y); }

  template <typename Fold>
  static OPGEN_DEVICE void join(Fold* fold) {
    if (size() > 1) Block::join(fold);
  }
};

// Folds that are joined at the same time.
template <typename First, typename... Others>
struct Several {
  First first;
  Several<Others...> others;
  OPGEN_DEVICE Several(const First* own, const Others*... rest) : first(*own), others(rest...) {}
  OPGEN_DEVICE Several(const First& own, const Several<Others...>& rest) : first(own), others(rest) {}
  OPGEN_DEVICE void merge(const Several& other) {
    first.merge(other.first);
    others.merge(other.others);
  }
  OPGEN_DEVICE Several of_lane(unsigned mask, int bits) const {
    return {first.of_lane(mask, bits), others.of_lane(mask, bits)};
  }
  OPGEN_DEVICE void put(First* own, Others*... rest) const {
    *own = first;
    others.put(rest...);
  }
};
template <typename First>
struct Several<First> {
  First first;
  OPGEN_DEVICE explicit Several(const First* own) : first(*own) {}
  OPGEN_DEVICE Several(const First& own) : first(own) {}
  OPGEN_DEVICE void merge(const Several& other) { first.merge(other.first); }
  OPGEN_DEVICE Several of_lane(unsigned mask, int bits) const { return first.of_lane(mask, bits); }
  OPGEN_DEVICE void put(First* own) const { *own = first; }
};

template <typename Team, typename Fold>
OPGEN_DEVICE void join(Fold* fold) {
  Team::join(fold);
}
template <typename Team, typename First, typename Second, typename... Others>
OPGEN_DEVICE void join(First* first, Second* second, Others*... others) {
  Several<First, Second, Others...> all(first, second, others...);
  Team::join(&all);
  all.put(first, second, others...);
}

}  // namespace rt
