// SIMT emulation: compiles a CUDA source as C++ and runs its kernels on the CPU, one fiber per CUDA thread.
//
// Meant for tests. It runs the threads of a block in an order drawn from OPGEN_SIMT_SEED (so a missing barrier shows up
// as a wrong result under some seed; without one every launch has an order of its own), fills shared memory with a
// poison pattern before every block, and aborts with a message on what a GPU would leave undefined or hang on: a
// barrier that only a part of a block or warp reaches, a barrier met at two source lines at once, a shuffle from a lane
// that does not take part.
//
// What a source must do to be emulated: launch with OPGEN_LAUNCH, declare shared memory with OPGEN_SHARED or
// OPGEN_DYNAMIC_SHARED, and take CUDA's functions through opgen_rt.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "opgen_simt_api.h"
#include "opgen_simt_context.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace opgen_simt {

constexpr int warp_size = 32;
constexpr unsigned char poison = 0xc7;

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
  std::fprintf(stderr, "opgen_simt: %s (%s:%d)\n", what, file, line);
  std::fflush(stderr);
  std::abort();
}

// --- Threads, warps and blocks
// ----------------------------------------------------------------------------------------

enum class State { ready, at_block_barrier, at_warp_barrier, done };

struct Site {
  const char* file = "";
  int line = 0;
  bool operator==(const Site& other) const { return line == other.line && std::strcmp(file, other.file) == 0; }
};

struct Thread {
  Context context;
  State state = State::ready;
  dim3 index;
  int number = 0;  // within the block
  Site site;       // of the barrier it waits at
  unsigned mask = 0;
  uint64_t posted = 0;  // what it hands to the other lanes
  uint64_t shared = 0;  // what it handed over when all lanes of the mask had arrived
};

// A kernel with its arguments, as each thread calls it.
struct Body {
  void (*run)(const void* kernel) = nullptr;
  const void* kernel = nullptr;
};

// The block that is running. One at a time, on the calling host thread.
struct Block {
  std::vector<Thread> threads;
  std::vector<std::unique_ptr<char[]>> stacks;
  std::map<const void*, std::vector<std::max_align_t>> shared;
  std::vector<std::max_align_t> dynamic;
  size_t dynamic_bytes = 0;
  Context scheduler;
  Thread* current = nullptr;
  Body body;
  dim3 index, size, grid;
  uint64_t random = 0;
  uint64_t launches = 0;
};

inline Block& block() {
  static thread_local Block the_block;
  return the_block;
}

inline uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <typename T>
void shuffle(std::vector<T>& items, uint64_t& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[next_random(random) % i]);
}

// Where a launch starts to draw: the same place each time with a seed, so that equal launches agree.
inline uint64_t start(uint64_t launch) {
  const char* text = std::getenv("OPGEN_SIMT_SEED");
  return text == nullptr ? launch : std::strtoull(text, nullptr, 10) * 0x2545f4914f6cdd1du;
}

inline void wait(State state, const char* file, int line) {
  Block& b = block();
  Thread& t = *b.current;
  t.state = state;
  t.site = {file, line};
  switch_context(t.context, b.scheduler);
}

// What a failed assertion does: the launch ends where it is.
inline void stop(const char* why, const char* file, int line) {
  std::fprintf(stderr, "opgen_simt: %s (%s:%d)\n", why, file, line);
  last_error() = cudaErrorAssert;
  Block& b = block();
  switch_context(b.current->context, b.scheduler);
}

inline void run_thread() {
  Block& b = block();
  b.body.run(b.body.kernel);
  b.current->state = State::done;
  switch_context(b.current->context, b.scheduler);
}

inline void* shared_memory(const void* key, size_t bytes) {
  auto& cells = block().shared[key];
  if (cells.empty()) {
    cells.resize((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t) + 1);
    std::memset(cells.data(), poison, cells.size() * sizeof(std::max_align_t));
  }
  return cells.data();
}

// --- Barriers --------------------------------------------------------------------------------------------------------

inline void release_block_barrier(Block& b) {
  const Thread* waiting = nullptr;
  for (const Thread& t : b.threads) {
    if (t.state == State::at_block_barrier) waiting = &t;
  }
  if (waiting == nullptr) return;
  for (Thread& t : b.threads) {
    if (t.state == State::done) {
      fail("__syncthreads not reached by all threads: some have returned", waiting->site.file, waiting->site.line);
    }
    if (t.state == State::at_warp_barrier) {
      fail("deadlock: __syncthreads waits for a lane that waits for its warp", t.site.file, t.site.line);
    }
    if (!(t.site == waiting->site)) {
      fail("divergent __syncthreads: threads of one block wait at different barriers", t.site.file, t.site.line);
    }
  }
  for (Thread& t : b.threads) t.state = State::ready;
}

// Releases the lanes of one mask once all of them wait; returns whether it released any.
inline bool release_warp_barrier(Block& b, Thread& first) {
  const int base = first.number / warp_size * warp_size;
  const int count = std::min<int>(warp_size, static_cast<int>(b.threads.size()) - base);
  for (int lane = 0; lane < count; ++lane) {
    if ((first.mask >> lane & 1u) == 0) continue;
    Thread& t = b.threads[base + lane];
    if (t.state == State::done) {
      fail("warp operation waits for a lane that has returned", first.site.file, first.site.line);
    }
    if (t.state != State::at_warp_barrier) return false;
    if (!(t.site == first.site) || t.mask != first.mask) {
      fail("divergent warp operation: lanes of one mask wait at different places", t.site.file, t.site.line);
    }
  }
  for (int lane = 0; lane < count; ++lane) {
    if ((first.mask >> lane & 1u) == 0) continue;
    Thread& t = b.threads[base + lane];
    t.shared = t.posted;
    t.state = State::ready;
  }
  return true;
}

inline void run_block(Block& b) {
  b.shared.clear();
  b.dynamic.assign((b.dynamic_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t) + 1, {});
  std::memset(b.dynamic.data(), poison, b.dynamic.size() * sizeof(std::max_align_t));
  std::vector<int> order(b.threads.size());
  std::iota(order.begin(), order.end(), 0);
  for (Thread& t : b.threads) {
    t.state = State::ready;
    start_context(t.context, b.stacks[t.number].get(), run_thread);
  }
  for (;;) {
    shuffle(order, b.random);
    bool ran = false;
    for (int number : order) {
      Thread& t = b.threads[number];
      if (t.state != State::ready) continue;
      b.current = &t;
      switch_context(b.scheduler, t.context);
      if (last_error() != cudaSuccess) return;
      ran = true;
    }
    bool released = false;
    for (Thread& t : b.threads) {
      if (t.state == State::at_warp_barrier) released = release_warp_barrier(b, t) || released;
    }
    if (ran || released) {
      bool ready = released;
      for (const Thread& t : b.threads) ready = ready || t.state == State::ready;
      if (ready) continue;
    }
    release_block_barrier(b);
    bool ready = false;
    bool done = true;
    for (const Thread& t : b.threads) {
      ready = ready || t.state == State::ready;
      done = done && t.state == State::done;
      if (t.state == State::at_warp_barrier) {
        fail("deadlock: a warp operation is never reached by all lanes of its mask", t.site.file, t.site.line);
      }
    }
    if (done) return;
    if (!ready) fail("deadlock: no thread of the block can go on", __FILE__, __LINE__);
  }
}

// Of no kernel's type: what is here is compiled once and not for each of hundreds.
inline void launch(dim3 grid, dim3 size, size_t dynamic_bytes, Body body) {
  Block& b = block();
  const unsigned count = size.x * size.y * size.z;
  if (count == 0 || count > 1024) fail("a block has between 1 and 1024 threads", __FILE__, __LINE__);
  if (grid.y > 65535 || grid.z > 65535) fail("grid.y and grid.z are at most 65535", __FILE__, __LINE__);
  b.threads.resize(count);
  while (b.stacks.size() < count) b.stacks.push_back(std::make_unique<char[]>(stack_bytes));
  for (unsigned i = 0; i < count; ++i) {
    b.threads[i].number = static_cast<int>(i);
    b.threads[i].index = dim3(i % size.x, i / size.x % size.y, i / size.x / size.y);
  }
  b.body = body;
  b.size = size;
  b.grid = grid;
  b.dynamic_bytes = dynamic_bytes;
  b.random = start(++b.launches);
  std::vector<uint64_t> order(static_cast<size_t>(grid.x) * grid.y * grid.z);
  std::iota(order.begin(), order.end(), uint64_t{0});
  shuffle(order, b.random);
  for (uint64_t i : order) {
    b.index = dim3(i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y);
    run_block(b);
    if (last_error() != cudaSuccess) return;
  }
}

// --- Warp operations -------------------------------------------------------------------------------------------------

inline int lane() { return block().current->number % warp_size; }

inline void meet(unsigned mask, uint64_t value, const char* file, int line) {
  Thread& t = *block().current;
  if ((mask >> lane() & 1u) == 0) fail("warp operation by a lane outside its own mask", file, line);
  t.mask = mask;
  t.posted = value;
  wait(State::at_warp_barrier, file, line);
}

template <typename T>
T exchange(unsigned mask, T value, int source, const char* file, int line) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most eight bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  meet(mask, bits, file, line);
  Block& b = block();
  const size_t other = b.current->number / warp_size * warp_size + source;
  if ((mask >> source & 1u) == 0 || other >= b.threads.size()) {
    fail("shuffle from a lane that does not take part", file, line);
  }
  T result;
  std::memcpy(&result, &b.threads[other].shared, sizeof(T));
  return result;
}

template <typename T>
T shuffle_xor(unsigned mask, T value, int bits, const char* file, int line) {
  return exchange(mask, value, (lane() ^ bits) % warp_size, file, line);
}

template <typename T>
T shuffle_from(unsigned mask, T value, int source, const char* file, int line) {
  return exchange(mask, value, source % warp_size, file, line);
}

}  // namespace opgen_simt

#define threadIdx (opgen_simt::block().current->index)
#define blockIdx (opgen_simt::block().index)
#define blockDim (opgen_simt::block().size)
#define gridDim (opgen_simt::block().grid)

#define OPGEN_STOP(why) opgen_simt::stop(why, __FILE__, __LINE__)

#define __syncthreads() opgen_simt::wait(opgen_simt::State::at_block_barrier, __FILE__, __LINE__)
#define __syncwarp(...) opgen_simt::meet(0xffffffffu, 0, __FILE__, __LINE__)
#define __shfl_xor_sync(mask, value, bits) opgen_simt::shuffle_xor(mask, value, bits, __FILE__, __LINE__)
#define __shfl_sync(mask, value, source) opgen_simt::shuffle_from(mask, value, source, __FILE__, __LINE__)

#define OPGEN_SHARED(type, name, count) \
  static char name##_key;               \
  type* name = static_cast<type*>(opgen_simt::shared_memory(&name##_key, sizeof(type) * (count)))
#define OPGEN_DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(opgen_simt::block().dynamic.data())

// Arguments are copied when the kernel is launched, as on a GPU.
#define OPGEN_LAUNCH(kernel, grid, size, bytes, stream, ...) \
  (static_cast<void>(stream), opgen_simt_launch(grid, size, bytes, kernel, __VA_ARGS__))

template <typename... Params, typename... Args>
void opgen_simt_launch(dim3 grid, dim3 size, size_t bytes, void (*kernel)(Params...), Args... args) {
  const auto called = [&] { kernel(args...); };
  const auto run = [](const void* f) { (*static_cast<decltype(called)*>(f))(); };
  opgen_simt::launch(grid, size, bytes, {run, &called});
}

// Threads of a block never run at the same time here, so an atomic is the plain operation.
template <typename T>
T atomicAdd(T* cell, T value) {
  const T old = *cell;
  *cell = old + value;
  return old;
}
template <typename T>
T atomicCAS(T* cell, T expected, T value) {
  const T old = *cell;
  if (old == expected) *cell = value;
  return old;
}
