// How the host runs a kernel. A generated file describes it as data in its struct: `launch` says how points map to
// threads, and how many there are, `fields` which argument of the call each member is, in their order. Everything that
// is done with these is here, once.
#pragma once

#include <algorithm>
#include <utility>

#include "opgen_columns.cuh"

namespace rt {

// A product of integers of a call, of the elements of its batch, and of fixed numbers.
struct Count {
  int64_t factor = 0;
  bool batch = false;
  int size = 0;
  int numbers[OPGEN_MAX_DIMS] = {};
  Field last = fixed(1);  // of its factors

  int64_t of(const OpgenCall& call) const {
    int64_t product = batch ? factor * batch_count(call) : factor;
    for (int i = 0; i < size; ++i) product *= call.ints[numbers[i]];
    return product;
  }
  int64_t last_of(const OpgenCall& call) const {
    if (last.kind == Field::the_elements) return batch_count(call);
    return last.kind == Field::a_fixed ? last.number : call.ints[last.number];
  }
};

constexpr Count times(Count count, int factor) {
  count.factor *= factor;
  count.last = fixed(factor);
  return count;
}
constexpr Count times(Count count, const Field& field) {
  count.last = field;
  if (field.kind == Field::the_elements) {
    count.batch = true;
  } else {
    count.numbers[count.size++] = field.number;
  }
  return count;
}
template <typename... Parts>
constexpr Count count(Parts... parts) {
  Count whole = {1};
  ((whole = times(whole, parts)), ...);
  return whole;
}

// --- Launchers
// --------------------------------------------------------------------------------------------------------

// Every point on its own; `room` says how many numbers each of them needs, of the type that is computed in.
template <int Rooms>
struct Map {
  Count points;
  Count room[Rooms > 0 ? Rooms : 1] = {};

  constexpr bool wants_room() const { return Rooms > 0; }
  template <typename Step>
  int64_t bytes(const OpgenCall& call) const {
    int64_t width = 0;
    for (const Count& count : room) width += count.of(call);
    return points.of(call) * width * static_cast<int64_t>(sizeof(typename Step::opmath_t));
  }
  template <int V>
  bool counts_small(const OpgenCall& call) const {
    return points.of(call) < small;
  }
  template <typename Step>
  int run(const OpgenCall& call, const Step& step) const {
    return map<1>(call, step, points.of(call));
  }
};

// Whether some counts are those of whole vectors.
template <int V, int Size>
bool whole(const OpgenCall& call, const Count& lanes, const Count (&parts)[Size]) {
  bool fit = lanes.of(call) % V == 0;
  for (const Count& part : parts) fit = fit && part.of(call) % V == 0;
  return fit;
}

// As many neighbours at a time as there are elements in a vector, where what these read and store is; `lanes`: how many
// are neighbours; `parts`: what else has to be a number of vectors, as distances between rows that a point reads.
struct Lines {
  Count points;
  Count lanes;
  Count parts[4] = {};

  constexpr bool wants_room() const { return false; }
  template <typename Step>
  int64_t bytes(const OpgenCall&) const {
    return 0;
  }
  template <int V>
  bool counts_small(const OpgenCall& call) const {
    return lanes.of(call) < small && points.of(call) / V < small;
  }
  template <typename Step>
  int run(const OpgenCall& call, const Step& step) const {
    return map<1>(call, step, points.of(call));
  }
  template <int V>
  bool fits(const OpgenCall& call) const {
    return whole<V>(call, lanes, parts);
  }
  template <int V, typename Step>
  int run_held(const OpgenCall& call, const Step& step) const {
    return map<V>(call, step, points.of(call));
  }
};

// Every point on its own, in the order of memory, 16 bytes at a time where all tensors are flat; `Bytes`: those of an
// element.
template <int Bytes>
struct Flat : Map<0> {
  bool flat_is_small(const OpgenCall& call) const { return points.of(call) * Bytes / 16 < small; }
  template <typename Step>
  int run_flat(const OpgenCall& call, const Step& step) const {
    return map_vectors<16 / Bytes>(call, step, points.of(call));
  }
  template <int V, typename Step, typename Arguments>
  int run_places(const OpgenCall& call, const Step& step, const Arguments& args) const {
    return map_in_places<V>(call, step, args.template batch<Made<Step>::rank>());
  }
};

// A team for each point, whose threads share the loops of some lengths out. `nested`: some of these are several loops,
// with vectors along the last one, which are not held.
template <int Lengths, bool nested = false>
struct Rows {
  Count points;
  Count lengths[Lengths] = {};
  bool light = false;  // so little is computed that a thread has registers for much of a row
  bool once = false;   // rows that are not held are read once
  bool joins = false;  // what another kernel folds across rows
  bool plain = false;  // nothing but arithmetic is computed along them

  constexpr bool wants_room() const { return false; }
  template <typename Step>
  int64_t bytes(const OpgenCall&) const {
    return 0;
  }
  int64_t longest(const OpgenCall& call) const {
    int64_t most = 0;
    for (const Count& length : lengths) most = std::max(most, length.of(call));
    return most;
  }
  template <int V>
  bool counts_small(const OpgenCall& call) const {
    return points.of(call) < small && longest(call) < small;
  }
  template <typename Step>
  int run(const OpgenCall& call, const Step& step) const {
    return rows(call, step, points.of(call), longest(call));
  }
  // Where rows are side by side: enough of them for a thread to have each.
  template <typename Step>
  int run_beside(const OpgenCall& call, const Step& step) const {
    return rows(call, step, points.of(call), points.of(call) < enough_rows ? longest(call) : 1);
  }

  // Whether rows are made of vectors of V elements; and then runs them so.
  template <int V>
  bool fits(const OpgenCall& call) const {
    bool fit = true;
    for (const Count& length : lengths) fit = fit && (nested ? length.last_of(call) : length.of(call)) % V == 0;
    return fit;
  }
  template <int V, typename Step>
  int run_held(const OpgenCall& call, const Step& step) const {
    int64_t shortest = longest(call);
    for (const Count& length : lengths) {
      if (length.factor != 0) shortest = std::min(shortest, length.of(call));
    }
    if constexpr (nested) {
      return passing_rows<V>(call, step, points.of(call), longest(call));
    } else {
      return held_rows<V>(call, step, points.of(call), longest(call), shortest);
    }
  }
};

// Folds of some length, across points or for one point; `lanes` and `parts` are those of lines.
template <bool Across>
struct Columns {
  Count points;
  Count length;
  Count lanes = {};
  Count parts[4] = {};

  constexpr bool wants_room() const { return true; }
  template <typename Step>
  int64_t bytes(const OpgenCall& call) const {
    constexpr auto size = static_cast<int64_t>(sizeof(typename Step::Folds));
    const int64_t alone = columns_workspace<Across, 1>(call, points.of(call), length.of(call), size);
    if (lanes.factor == 0) return alone;
    return std::max(alone, columns_workspace<Across, 8>(call, points.of(call), length.of(call), size));
  }
  template <int V>
  bool counts_small(const OpgenCall& call) const {
    return points.of(call) < small && length.of(call) < small;
  }
  template <typename Step>
  int run(const OpgenCall& call, const Step& step) const {
    return columns<Across, 1>(call, step, points.of(call), length.of(call));
  }
  template <int V>
  bool fits(const OpgenCall& call) const {
    return whole<V>(call, lanes, parts);
  }
  template <int V, typename Step>
  int run_held(const OpgenCall& call, const Step& step) const {
    return columns<Across, V>(call, step, points.of(call), length.of(call));
  }
};

// A fold of all there is, in the order of memory, 16 bytes at a time where all tensors are flat; `Bytes`: those of an
// element.
template <int Bytes>
struct Whole : Columns<false> {
  bool flat_is_small(const OpgenCall&) const { return true; }
  template <typename Step>
  int run_flat(const OpgenCall& call, const Step& step) const {
    constexpr int V = 16 / Bytes;
    const int64_t count = this->length.of(call);
    return columns<false, 1>(call, InVectors<V, Step>{step, count / V}, 1, count / V + count % V);
  }
};

// --- Kernels
// ----------------------------------------------------------------------------------------------------------

// Whether places in the batch matter to a kernel, which is then made for batches of one dim, and for all others.
template <typename Step>
constexpr bool has_places() {
  for (const Field& field : Step::fields) {
    if (field.kind == Field::the_batch) return true;
  }
  return false;
}

// Whether all of its tensors have the dims of the batch and no others.
template <typename Step>
constexpr bool of_batch() {
  for (const Field& field : Step::fields) {
    if (field.kind == Field::a_tensor && (field.rank != 1 || field.batch_at != 0)) return false;
  }
  return has_places<Step>();
}

template <typename Launcher>
constexpr bool in_order = false;
template <int Bytes>
constexpr bool in_order<Flat<Bytes>> = true;
template <int Bytes>
constexpr bool in_order<Whole<Bytes>> = true;
template <typename>
constexpr bool is_map = false;
template <int Bytes>
constexpr bool is_map<Flat<Bytes>> = true;
template <typename>
constexpr bool is_rows = false;
template <int Lengths, bool nested>
constexpr bool is_rows<Rows<Lengths, nested>> = true;

// Doubles are not read in vectors, of which two fit into one, and their rows are not held: they are too large and
// computed too slowly for it. Rows that are not held, also those of odd sizes and strides, have one kernel for batches
// of all kinds.
template <template <typename, int> class Part, typename scalar_t>
int launch_made(const OpgenCall& call) {
  using Simple = Part<scalar_t, 1>;
  using General = Part<scalar_t, max_batch>;
  using Launcher = std::remove_const_t<decltype(Simple::launch)>;
  const Arguments<tensors_of(Simple::fields)> args(call, Simple::fields.data());
  if (args.status() != OPGEN_OK) return args.status();
  constexpr int vector = 16 / sizeof(scalar_t);
  const Launcher& launch = Simple::launch;
  if constexpr (in_order<Launcher> && vector > 2) {
    const bool flat = args.rank() <= 1 && args.flat() && launch.flat_is_small(call);
    if (flat) return launch.run_flat(call, made<Simple>(call, args));
  }
  if constexpr (is_map<Launcher> && vector > 2 && of_batch<Simple>()) {
    if (args.rank() > 1 && args.template in_vectors<vector>()) {
      return General::launch.template run_places<vector>(call, made<General>(call, args), args);
    }
  }
  const bool simple = args.rank() <= 1 && args.small_positions();
  if constexpr (has_rows<Simple> && vector > 2) {
    const bool held = simple && args.rows_of_vectors() && launch.template fits<vector>(call);
    if (held && launch.template counts_small<vector>(call)) {
      return launch.template run_held<vector>(call, made<Simple, vector>(call, args));
    }
  }
  if constexpr (has_places<Simple>()) {
    if (simple && launch.template counts_small<1>(call)) {
      if constexpr (has_rows<Simple> && is_rows<Launcher>) {
        if (args.rows_side_by_side()) return launch.run_beside(call, made<Simple>(call, args));
      }
      return launch.run(call, made<Simple>(call, args));
    }
  }
  return General::launch.run(call, made<General>(call, args));
}

template <template <typename, int> class Part>
int launch_as(const OpgenCall& call) {
  return OPGEN_DISPATCH(call.dtype, scalar_t, (launch_made<Part, scalar_t>(call)));
}

// The parts of a kernel, one after the other.
template <template <typename, int> class... Parts>
int run(const OpgenCall* call) {
  int status = OPGEN_OK;
  static_cast<void>((((status = launch_as<Parts>(*call)) == OPGEN_OK) && ...));
  return status;
}

inline size_t bytes_of(int64_t dtype) {
  switch (dtype) {
    case OPGEN_BOOL:
      return 1;
    case OPGEN_FLOAT16:
    case OPGEN_BFLOAT16:
      return 2;
    case OPGEN_FLOAT32:
      return 4;
    default:
      return 8;
  }
}

// Parts that add to a tensor which is filled with zeros first.
inline int zeroed(const OpgenCall& call, int number) {
  const OpgenTensor& tensor = *call.tensors[number];
  size_t bytes = bytes_of(tensor.dtype);
  for (int64_t d = 0; d < tensor.ndim; ++d) bytes *= static_cast<size_t>(tensor.sizes[d]);
  if (bytes == 0) return OPGEN_OK;
  return static_cast<int>(cudaMemsetAsync(tensor.data, 0, bytes, static_cast<cudaStream_t>(call.stream)));
}
template <int number, template <typename, int> class... Parts>
int run_onto_zeros(const OpgenCall* call) {
  const int status = zeroed(*call, number);
  return status == OPGEN_OK ? run<Parts...>(call) : status;
}

// Of two kernels that do the same, the second where the batch is empty.
template <template <typename, int> class Part, template <typename, int> class Alone>
int run_either(const OpgenCall* call) {
  return batch_count(*call) == 1 ? run<Alone>(call) : run<Part>(call);
}

// Bytes of workspace that the parts can use, one after the other; those for doubles are enough for any dtype.
template <template <typename, int> class... Parts>
int64_t workspace(const OpgenCall* call) {
  int64_t most = 0;
  for (const int64_t bytes : {Parts<double, 1>::launch.template bytes<Parts<double, 1>>(*call)...}) {
    most = bytes > most ? bytes : most;
  }
  return most;
}

template <template <typename, int> class Part, template <typename, int> class Alone>
int64_t workspace_of_either(const OpgenCall* call) {
  return batch_count(*call) == 1 ? workspace<Alone>(call) : workspace<Part>(call);
}

// A kernel as an entry of the table.
template <template <typename, int> class... Parts>
constexpr OpgenCudaStep kernel() {
  constexpr bool room = (Parts<double, 1>::launch.wants_room() || ...);
  return {run<Parts...>, room ? workspace<Parts...> : nullptr};
}

template <int number, template <typename, int> class... Parts>
constexpr OpgenCudaStep onto_zeros() {
  return {run_onto_zeros<number, Parts...>, kernel<Parts...>().workspace};
}

template <template <typename, int> class Part, template <typename, int> class Alone>
constexpr OpgenCudaStep either() {
  return {run_either<Part, Alone>, workspace_of_either<Part, Alone>};
}

}  // namespace rt
