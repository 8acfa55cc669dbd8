// Sums across rows within the kernel of these rows, which reads the same memory. A thread that holds some places of a
// row adds up what it has there in all rows that its team goes along; then the sums of the teams are joined, in their
// order.
#pragma once

#include "opgen_launch.cuh"

namespace rt {

// Sums at the places that a thread holds, of so few rows that nothing has to be settled.
template <typename Team, int Count, typename T>
struct Joined;
template <typename Lanes, int K, int V, bool whole, int Count, typename T>
struct Joined<Held<Lanes, K, V, whole>, Count, T> {
  using Team = Held<Lanes, K, V, whole>;
  T values[Count][K * V] = {};

  struct Cell {
    T* value;
    OPGEN_DEVICE void add(T x) const { *value += x; }
  };
  OPGEN_DEVICE Cell at(int sum, const Spot& at) { return {&values[sum][at.vector * V + at.lane]}; }

  // One row for each sum.
  OPGEN_DEVICE void store(T* rows, int64_t length) const {
    OPGEN_UNROLL
    for (int n = 0; n < Count; ++n) {
      OPGEN_UNROLL
      for (int k = 0; k < K; ++k) {
        if (!Team::there(k, length)) continue;
        Pack<T, V> pack;
        memcpy(pack.words, &values[n][k * V], sizeof(pack));
        put_pack<T, V>(pack, rows + n * length + Team::start(k));
      }
    }
  }
};

// What a kernel of columns folds, of sums alone.
template <typename Columns>
constexpr int sums_of = sizeof(typename Columns::Folds) / sizeof(Sum<typename Columns::opmath_t>);

template <typename Team, int Count, typename Step>
__global__ void __launch_bounds__(Team::most, 1)
    rows_across(Step step, int64_t rows, int64_t length, int chunks, typename Step::opmath_t* partial) {
  using Rows = NumberOf<Step>;
  const Rows team = static_cast<Rows>(blockIdx.x) * Team::count() + Team::number();
  const Rows teams = static_cast<Rows>(gridDim.x) * Team::count();
  Rows row = team;
  OPGEN_ROLLED
  for (int chunk = 0; chunk < chunks; ++chunk) {
    Joined<Team, Count, typename Step::opmath_t> joined;
    OPGEN_ROLLED
    for (int i = 0; i < block_adds && row < static_cast<Rows>(rows); ++i, row += teams) {
      step.template row<Team>(row, &joined);
    }
    joined.store(partial + (static_cast<int64_t>(chunk) * teams + team) * Count * length, length);
  }
}

// These sums as a fold of their number.
template <typename Columns>
struct OfTeams {
  using Folds = typename Columns::Folds;
  using T = typename Columns::opmath_t;
  static constexpr std::array<Field, 0> fields = {};
  Columns step;
  const T* partial;
  int64_t points;

  OPGEN_DEVICE void fold(int64_t point, int64_t team, Folds* folds) const {
    add(partial + team * sums_of<Columns> * points + point, folds, std::make_index_sequence<sums_of<Columns>>());
  }
  OPGEN_DEVICE void finish(int64_t point, const Folds& folds) const { step.finish(point, folds); }

 private:
  template <size_t... N>
  OPGEN_DEVICE void add(const T* at, Folds* folds, std::index_sequence<N...>) const {
    folds->merge(Folds{Sum<T>{at[static_cast<int64_t>(N) * points]}...});
  }
};

// How rows are given to teams: blocks of so many threads, whose sums are so many times of so many rows.
struct Shares {
  int threads;
  int64_t blocks;
  int chunks;
  int64_t sums;
};

// As many blocks as a device has at a time, which are done together.
template <typename Team, int Count, typename Step>
Shares shared_out(const OpgenCall& call, int threads, int teams) {
  const int64_t rows = Step::launch.points.of(call);
  int at_a_time = 0;
  auto kernel = rows_across<Team, Count, Step>;
  const auto status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_a_time, kernel, threads, 0);
  if (status != cudaSuccess || at_a_time < 1) at_a_time = 1;
  const int64_t blocks = std::min(processors(call) * at_a_time, ceil_div(rows, teams));
  const int64_t chunks = blocks == 0 ? 0 : ceil_div(rows, blocks * teams * block_adds);
  return {threads, blocks, static_cast<int>(chunks), blocks * teams * chunks};
}

// Bytes of registers that a thread has for its places of rows and sums: of a kernel of many threads, of one whose rows
// are whole, so that all is computed at once, and of one that is both.
constexpr int most_bytes = 384, most_whole = 256, most_long = 192;

// `f` with the team for rows of some length, and how many threads and teams a block has; -1 where there is none.
// `Bytes`: those at a place; `plain`: nothing but arithmetic takes registers besides.
template <int V, int Bytes, bool plain, typename F>
int64_t with_team(int64_t length, const F& f) {
  constexpr int few = Bytes * 2 * V <= most_bytes - 64 ? 2 * V : 0;
  constexpr int many = plain && Bytes * 4 * V <= most_bytes ? 4 * V : 0;
  if (length <= 8 * few) return f(Held<Lanes<8>, 2, V, false>(), 128, 16);
  const int threads = threads_for(length, few, Long::most);
  const bool whole = plain && length == int64_t{threads} * few;
  if (length <= Block::most * few) {
    if constexpr (plain && Bytes * 2 * V <= most_whole) {
      if (whole) return f(Held<Block, 2, V, true>(), threads, 1);
    }
    return f(Held<Block, 2, V, false>(), threads, 1);
  }
  if (length <= Long::most * few) {
    if constexpr (plain && Bytes * 2 * V <= most_long) {
      if (whole) return f(Held<Long, 2, V, true>(), threads, 1);
    }
    return f(Held<Long, 2, V, false>(), threads, 1);
  }
  if constexpr (many > 0) {
    if (length <= Long::most * many) return f(Held<Long, 4, V, false>(), threads, 1);
  }
  return -1;
}

// Of some fields, how many are tensors that a kernel goes along.
template <size_t Size>
constexpr int rows_of(const std::array<Field, Size>& fields) {
  int found = 0;
  for (const Field& field : fields) found += field.kind == Field::a_tensor && field.along >= 0;
  return found;
}

template <typename Team, typename Step, typename Columns>
int launch_across(const OpgenCall& call, const Step& step, const Columns& columns, int64_t points, const Shares& by) {
  using T = typename Step::opmath_t;
  constexpr int count = sums_of<Columns>;
  const int64_t rows = Step::launch.points.of(call);
  auto* partial = static_cast<T*>(call.workspace);
  auto kernel = rows_across<Team, count, Step>;
  OPGEN_LAUNCH(kernel, grid_of(by.blocks), by.threads, 0, call.stream, step, rows, points, by.chunks, partial);
  const int status = launched();
  if (status != OPGEN_OK) return status;
  return launch_folds<32, 32, 1>(call, OfTeams<Columns>{columns, partial, points}, points, by.sums, 1);
}

// A kernel and the sums across its rows, together where these are held.
template <template <typename, int> class Alone, template <typename, int> class Columns,
          template <typename, int> class Rows, typename scalar_t>
struct Across {
  using Step = Rows<scalar_t, 1>;
  using Sums = Columns<scalar_t, max_batch>;
  static constexpr int V = 16 / sizeof(scalar_t), count = sums_of<Sums>;
  static constexpr int place = rows_of(Step::fields) * sizeof(scalar_t) + count * sizeof(typename Step::opmath_t);

  // What the sums of teams take, which is less than 0 where rows are not held.
  static int64_t bytes(const OpgenCall& call) {
    const int64_t width = Sums::launch.points.of(*call.columns) * count * sizeof(typename Step::opmath_t);
    return width *
           with_team<V, place, Step::launch.plain>(Step::launch.longest(call), [&](auto team, int threads, int teams) {
             return shared_out<decltype(team), count, Step>(call, threads, teams).sums;
           });
  }

  static int run(const OpgenCall& call, const OpgenCall& columns) {
    if constexpr (V > 2) {
      const Arguments<tensors_of(Step::fields)> args(call, Step::fields.data());
      const auto& launch = Step::launch;
      const bool simple = args.status() == OPGEN_OK && args.rank() <= 1 && args.small_positions();
      const bool held = simple && args.rows_of_vectors() && launch.template fits<V>(call);
      const int64_t room = bytes(call);
      if (held && launch.template counts_small<V>(call) && 0 < room && room <= call.workspace_bytes) {
        return together(call, columns, args);
      }
    }
    const int status = launch_made<Alone, scalar_t>(call);
    return status == OPGEN_OK ? launch_made<Columns, scalar_t>(columns) : status;
  }

  template <typename Args>
  static int together(const OpgenCall& call, const OpgenCall& columns, const Args& args) {
    const int64_t points = Sums::launch.points.of(columns);
    const auto step = made<Step, V>(call, args);
    const auto sums = made<Sums>(columns);
    return static_cast<int>(
        with_team<V, place, Step::launch.plain>(Step::launch.longest(call), [&](auto team, int threads, int teams) {
          using Team = decltype(team);
          const Shares by = shared_out<Team, count, Step>(call, threads, teams);
          return int64_t{launch_across<Team>(call, step, sums, points, by)};
        }));
  }
};

template <template <typename, int> class Alone, template <typename, int> class Columns,
          template <typename, int> class Rows>
int run_across(const OpgenCall* call) {
  if (call->columns == nullptr) return run<Alone>(call);
  OpgenCall columns = *call->columns;
  columns.workspace = call->workspace;
  columns.workspace_bytes = call->workspace_bytes;
  columns.processors = call->processors;
  columns.stream = call->stream;
  return OPGEN_DISPATCH(call->dtype, scalar_t, (Across<Alone, Columns, Rows, scalar_t>::run(*call, columns)));
}

template <template <typename, int> class Columns, template <typename, int> class Rows>
int64_t workspace_across(const OpgenCall* call) {
  if (call->columns == nullptr) return 0;
  const int64_t wide = Across<Rows, Columns, Rows, float>::bytes(*call);
  const int64_t narrow = Across<Rows, Columns, Rows, half_t>::bytes(*call);
  return std::max({workspace<Columns>(call->columns), wide, narrow});
}

// A kernel, and where the call wants it one that folds across its rows, as an entry of the table. A map has other rows
// than its points.
template <template <typename, int> class Alone, template <typename, int> class Columns,
          template <typename, int> class Rows = Alone>
constexpr OpgenCudaStep across() {
  return {run_across<Alone, Columns, Rows>, workspace_across<Columns, Rows>};
}

}  // namespace rt
