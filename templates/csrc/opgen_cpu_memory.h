// What kernels read and write on the CPU: elements of tensors, runs of them in place or through a buffer, positions
// that are read from data. The tensors and loops themselves are in opgen_cpu.h.
#pragma once

namespace rt {
inline namespace OPGEN_SPACE {

// Of an element in memory.
template <typename T>
OPGEN_INLINE int64_t bytes_of(const Tensor<T>& tensor) {
  return tensor.narrow ? sizeof(uint16_t) : sizeof(T);
}

// What a run of values is read as. Conditions are words: of bytes, a vector would have more lanes than rows have
// points, and of bits there is none.
template <typename T>
constexpr bool is_lane = !std::is_same_v<T, bool>;
template <typename T>
using Lane = std::conditional_t<is_lane<T>, T, uint32_t>;

template <typename T>
inline Lane<T> element(const Tensor<T>& tensor, int64_t at) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (tensor.narrow) return widened(static_cast<const uint16_t*>(tensor.data)[at], tensor.source.dtype);
  }
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<const unsigned char*>(tensor.data)[at] != 0;  // bytes that are viewed as bool may be 2
  } else {
    return static_cast<const T*>(tensor.data)[at];
  }
}
template <typename T>
inline opmath<T> load(const Tensor<T>& tensor, int64_t at) {
  return static_cast<opmath<T>>(element(tensor, at));
}
template <typename T, typename V>
inline void store(const Tensor<T>& tensor, int64_t at, V value) {
  if (tensor.narrow) {
    if constexpr (sizeof(T) == sizeof(float)) {
      auto* to = static_cast<uint16_t*>(tensor.data);
      if (to != nullptr) to[at] = narrowed(static_cast<float>(value), tensor.source.dtype);
    }
    return;
  }
  static_cast<T*>(tensor.data)[at] = static_cast<T>(value);
}

// Every n-th element: of a few n known here, compilers make shuffles of vectors.
template <int64_t step, typename Memory, typename To>
OPGEN_INLINE void gather_apart(const Memory* from, int64_t size, To* to) {
  if constexpr (std::is_same_v<To, BFloat16>) {
    gather_apart<step>(reinterpret_cast<const uint16_t*>(from), size, reinterpret_cast<uint16_t*>(to));
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < size; ++i) to[i] = from[i * step];
  }
}

// Copies a run into a buffer, or from a buffer to where it belongs.
template <typename T, typename To>
OPGEN_NOINLINE void gather(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size, To* to) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (tensor.narrow)
      return widen(static_cast<const uint16_t*>(tensor.data) + at, step, size, tensor.source.dtype, to);
  }
  using Memory = std::conditional_t<is_lane<T>, T, unsigned char>;
  const Memory* from = static_cast<const Memory*>(tensor.data) + at;
  if (step == 0) {
    const Memory value = size > 0 ? *from : Memory(0);
    for (int64_t i = 0; i < size; ++i) to[i] = value;
  } else if (step == 1) {
    for (int64_t i = 0; i < size; ++i) to[i] = from[i];
  } else if (step == 2) {
    gather_apart<2>(from, size, to);
  } else {
    for (int64_t i = 0; i < size; ++i) to[i] = from[i * step];
  }
}
template <typename T>
OPGEN_NOINLINE void scatter(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size, const opmath<T>* from) {
  if (tensor.narrow) {
    if constexpr (sizeof(T) == sizeof(float)) {
      auto* to = static_cast<uint16_t*>(tensor.data);
      if (to != nullptr) narrow(from, size, tensor.source.dtype, to + at, step);
    }
    return;
  }
  T* to = static_cast<T*>(tensor.data) + at;
  if constexpr (is_stored<T>) {
    narrow(from, size, tensor.source.dtype, reinterpret_cast<uint16_t*>(to), step);
  } else {
    for (int64_t i = 0; i < size; ++i) to[i * step] = static_cast<T>(from[i]);
  }
}

// What all rows read of a tensor that is the same for them: one number if it stands still everywhere, as one does that
// stands for a missing argument; a short row of 16-bit floats is widened once.
template <typename T>
struct Still {
  bool still = true;
  Lane<T>* row = nullptr;
  alignas(64) Lane<T> buffer[block];

  OPGEN_NOINLINE explicit Still(const Tensor<T>& tensor) {
    constexpr int64_t longest = 8192;
    const OpgenTensor& source = tensor.source;
    for (int64_t d = 0; d < source.ndim; ++d) {
      still = still && source.sizes[d] > 0 && (source.strides[d] == 0 || source.sizes[d] == 1);
    }
    if (still) {
      const Lane<T> value = element(tensor, 0);
      for (Lane<T>& lane : buffer) lane = value;
    } else if (tensor.narrow && source.ndim == 1 && source.strides[0] == 1 && source.sizes[0] <= longest) {
      row = new Lane<T>[static_cast<size_t>(source.sizes[0])];
      gather(tensor, 0, 1, source.sizes[0], row);
    }
  }
  Still(const Still&) = delete;
  Still& operator=(const Still&) = delete;
  ~Still() { delete[] row; }
};

// One value for all points of a run, in whole vectors: there is room for as many in a buffer.
template <typename Lane>
OPGEN_INLINE void repeat(Lane value, int64_t size, Lane* to) {
  constexpr int64_t lanes = 64 / sizeof(Lane);
  for (int64_t i = 0; i < size; i += lanes) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t k = 0; k < lanes; ++k) to[i + k] = value;
  }
}

// What a run reads: in place where it is contiguous, else gathered into a buffer first.
template <typename T>
struct Source {
  const Lane<T>* from;
  bool same;  // at all points
  alignas(64) Lane<T> buffer[block];

  OPGEN_INLINE Source(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size) : same(step == 0 || size == 1) {
    const bool direct = step == 1 && is_lane<T> && !tensor.narrow;
    from = direct ? static_cast<const Lane<T>*>(tensor.data) + at : buffer;
    if (direct) return;
    if (step == 0) {
      repeat(element(tensor, at), size, buffer);
    } else {
      gather(tensor, at, step, size, buffer);
    }
  }
  OPGEN_INLINE Source(const Still<T>& all, const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size)
      : same(step == 0 || size == 1) {
    const Lane<T>* row = tensor.narrow ? all.row : static_cast<const Lane<T>*>(tensor.data);
    const bool direct = step == 1 && is_lane<T> && row != nullptr;
    from = all.still ? all.buffer : direct ? row + at : buffer;
    if (!direct && !all.still) gather(tensor, at, step, size, buffer);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  OPGEN_INLINE opmath<T> operator[](int64_t i) const { return static_cast<opmath<T>>(from[i]); }
};

// The same with values that are widened ahead of the lanes, for those that choose: what they wait for is to be short.
template <typename T>
struct Widened : Source<T> {
  using Source<T>::Source;
};
template <>
struct Widened<BFloat16> {
  alignas(64) float from[block];

  OPGEN_INLINE Widened(const Tensor<BFloat16>& tensor, int64_t at, int64_t step, int64_t size) {
    gather(tensor, at, step, size, from);
  }
  Widened(const Widened&) = delete;
  Widened& operator=(const Widened&) = delete;
  OPGEN_INLINE float operator[](int64_t i) const { return from[i]; }
};

// One value for all points of a run, kept for the runs to come: most of them read the same.
template <typename T>
struct Held {
  Lane<T> value;
  int64_t filled = 0;
  alignas(64) Lane<T> buffer[block];

  OPGEN_INLINE const Lane<T>* of(Lane<T> wanted, int64_t size) {
    if (size <= filled && memcmp(&wanted, &value, sizeof value) == 0) return buffer;
    for (int64_t i = 0; i < size; ++i) buffer[i] = wanted;
    value = wanted;
    filled = size;
    return buffer;
  }
};

// What a run reads to find where something else stands: one number for all of its points is not written out for them.
template <typename T>
struct Numbers {
  const T* from;
  bool same;
  alignas(64) T buffer[block];

  OPGEN_INLINE Numbers(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size)
      : from(static_cast<const T*>(tensor.data) + at), same(step == 0 || size == 1) {
    if (same || step == 1) return;
    gather(tensor, at, step, size, buffer);
    from = buffer;
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  OPGEN_INLINE T operator[](int64_t i) const { return from[same ? 0 : i]; }
};

// What lanes of a run are told of where they are, ahead of them.
struct Told {
  alignas(64) int32_t values[block];  // numbers, of which lanes have vectors

  template <typename F>
  OPGEN_INLINE Told(int64_t size, bool same, const F& f) {
    if (same) {
      const int32_t value = f(0);
      for (int64_t i = 0; i < size; ++i) values[i] = value;
    } else {
      for (int64_t i = 0; i < size; ++i) values[i] = f(i);
    }
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  OPGEN_INLINE bool operator[](int64_t i) const { return values[i] != 0; }
};

// Apart from the lanes, as all that is gathered and scattered.
template <typename T>
OPGEN_NOINLINE void narrow_run(const opmath<T>* from, int64_t size, T* to) {
  if constexpr (is_stored<T>) narrow_computed(from, size, reinterpret_cast<uint16_t*>(to));
}

// Where a run stores: in place, or into a buffer that is scattered at the end. What is to be narrowed is, all of it
// together: among other things to do, a vector of that waits for too much.
template <typename T>
struct Sink {
  const Tensor<T>& tensor;
  opmath<T>* to;
  int64_t at;
  int64_t step;
  int64_t size;
  bool direct;
  alignas(64) opmath<T> buffer[block];

  OPGEN_INLINE Sink(const Tensor<T>& tensor, int64_t at, int64_t step, int64_t size)
      : tensor(tensor), at(at), step(step), size(size), direct(step == 1 && !is_stored<T> && !tensor.narrow) {
    to = direct ? static_cast<opmath<T>*>(tensor.data) + at : buffer;
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  OPGEN_INLINE ~Sink() {
    if (is_stored<T> && step == 1 && tensor.data != nullptr) {
      narrow_run(buffer, size, static_cast<T*>(tensor.data) + at);
    } else if (!direct) {
      scatter(tensor, at, step, size, buffer);
    }
  }
  template <typename V>
  OPGEN_INLINE void set(int64_t i, V value) {
    to[i] = static_cast<opmath<T>>(value);
  }
};

// Fills a tensor with zeros, as many at a time as lie side by side.
template <typename T>
void clear(const OpgenHost& host, const Tensor<T>& tensor) {
  const int64_t bytes = bytes_of(tensor);
  Loops<1> all;
  for (int64_t d = 0; d < tensor.source.ndim; ++d) all.dim(tensor.source.sizes[d], {tensor.source.strides[d]});
  if (tensor.data == nullptr) return;
  parallel(host, all.count, 1, [=](int64_t begin, int64_t end) {
    char* const to = static_cast<char*>(tensor.data);
    all.runs<int64_t{1} << 60>(begin, end, nullptr, [&](const auto& run) {
      const int64_t apart = run.size == 1 ? 1 : run.step[0];
      if (apart == 1) {
        memset(to + run.at[0] * bytes, 0, static_cast<size_t>(run.size * bytes));
      } else {
        for (int64_t i = 0; i < run.size; ++i)
          memset(to + (run.at[0] + i * apart) * bytes, 0, static_cast<size_t>(bytes));
      }
    });
  });
}

// What passes along a row hand on to each other, a value for each point; a short one needs no memory of its own.
template <typename T>
struct Kept {
  T* data;
  bool is_long;
  alignas(64) T near[block];

  explicit Kept(int64_t size) : data(near), is_long(size > block) {
    if (is_long) data = new T[static_cast<size_t>(size)];
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (is_long) delete[] data;
  }
  template <int Accesses>
  OPGEN_INLINE T* at(const Run<Accesses>& run) const {
    return data + run.first;
  }
};

template <typename Op, typename T, typename V>
OPGEN_INLINE void accumulate(const Tensor<T>& tensor, int64_t at, V value) {
  store(tensor, at, Op::combine(load(tensor, at), static_cast<opmath<T>>(value)));
}

// Whether a position read from data lies inside; the first that does not is reported and read as zero.
inline bool inside(OpgenHost& host, int64_t index, int64_t size, int64_t tensor, int64_t axis) {
  if (index >= 0 && index < size) return true;
  int64_t none = -1;
  if (__atomic_compare_exchange_n(&host.bad.tensor, &none, tensor, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    host.bad.axis = axis;
    host.bad.index = index;
    host.bad.size = size;
  }
  return false;
}
template <typename T>
inline opmath<T> pick(OpgenHost& host, const Tensor<T>& tensor, int64_t at, int64_t number, int64_t axis, int64_t index,
                      int64_t size) {
  return inside(host, index, size, number, axis) ? load(tensor, at + index * tensor.stride(axis)) : opmath<T>(0);
}
inline bool within(int64_t index, int64_t size) { return index >= 0 && index < size; }

}  // namespace OPGEN_SPACE
}  // namespace rt
