// How the host runs a kernel. A generated file describes it as data in its struct: `launch` says how points map to
// threads, and how many there are, `fields` which argument of the call each member is, in their order. Everything that
// is done with these is here, once.
#pragma once

#include <utility>

#include "opgen_rt.cuh"

namespace rt {

// A product of integers of a call, of the elements of its batch, and of fixed numbers.
struct Count {
  int64_t factor = 0;
  bool batch = false;
  int size = 0;
  int numbers[OPGEN_MAX_DIMS] = {};

  int64_t of(const OpgenCall& call) const {
    int64_t product = batch ? factor * batch_count(call) : factor;
    for (int i = 0; i < size; ++i) product *= call.ints[numbers[i]];
    return product;
  }
};

constexpr Count times(Count count, int64_t factor) {
  count.factor *= factor;
  return count;
}
constexpr Count times(Count count, const Field& field) {
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

// --- Members
// ----------------------------------------------------------------------------------------------------------

template <size_t Size>
constexpr int tensors_of(const std::array<Field, Size>& fields) {
  int found = 0;
  for (const Field& field : fields) found += field.kind == Field::a_tensor;
  return found;
}

template <typename T>
constexpr bool is_tensor = false;
template <typename T>
constexpr bool is_tensor<Tensor<T>> = true;

// The value of a member: what type it has says how the call is read.
template <int Count>
struct Actual {
  const Arguments<Count>& args;
  const OpgenCall& call;
  const Field& field;
  int at;

  template <typename T>
  operator T() const {
    if constexpr (is_tensor<T>) {
      return args.template tensor<typename T::Element>(at);
    } else if constexpr (std::is_same_v<T, Batch>) {
      return args.batch();
    } else if constexpr (std::is_same_v<T, Divider>) {
      return Divider(field.kind == Field::a_fixed        ? field.number
                     : field.kind == Field::the_elements ? batch_count(call)
                                                         : call.ints[field.number]);
    } else if constexpr (std::is_same_v<T, OpgenBadIndex*>) {
      return call.device_room;
    } else if constexpr (std::is_pointer_v<T>) {
      return static_cast<T>(call.workspace);
    } else if constexpr (std::is_same_v<T, bool>) {
      return call.ints[field.number] != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return call.ints[field.number];
    } else {
      return static_cast<T>(call.reals[field.number]);
    }
  }
};

template <typename Step, int Count, size_t... I>
Step filled(const Arguments<Count>& args, const OpgenCall& call, std::index_sequence<I...>) {
  return Step{Actual<Count>{args, call, Step::fields[I], static_cast<int>(I)}...};
}

// --- Launchers
// --------------------------------------------------------------------------------------------------------

// Every point on its own; `room` says how many numbers each of them needs, of the type that is computed in.
struct Map {
  Count points;
  Count room[4] = {};

  constexpr bool wants_room() const { return room[0].factor != 0; }
  template <typename Step>
  int64_t bytes(const OpgenCall& call) const {
    int64_t width = 0;
    for (const Count& count : room) width += count.of(call);
    return points.of(call) * width * static_cast<int64_t>(sizeof(typename Step::opmath_t));
  }
  template <typename Step, typename Arguments>
  int run(const OpgenCall& call, const Arguments&, const Step& step) const {
    return map(call, step, points.of(call));
  }
};

// The same in the order of memory, 16 bytes at a time, where all tensors are flat; `Bytes`: those of an element.
template <int Bytes>
struct Flat : Map {
  template <typename Step, typename Arguments>
  int run(const OpgenCall& call, const Arguments& args, const Step& step) const {
    const int64_t count = points.of(call);
    return args.flat() ? map_vectors<16 / Bytes>(call, step, count) : map(call, step, count);
  }
};

// A team for each point, whose threads share the loops of some lengths out.
struct Rows {
  Count points;
  Count lengths[4] = {};

  constexpr bool wants_room() const { return false; }
  template <typename Step>
  int64_t bytes(const OpgenCall&) const {
    return 0;
  }
  template <typename Step, typename Arguments>
  int run(const OpgenCall& call, const Arguments&, const Step& step) const {
    int64_t longest = 0;
    for (const Count& length : lengths) {
      const int64_t size = length.of(call);
      longest = size > longest ? size : longest;
    }
    return rows(call, step, points.of(call), longest);
  }
};

// Folds of some length, across points or for one point.
template <bool Across>
struct Columns {
  Count points;
  Count length;

  constexpr bool wants_room() const { return true; }
  template <typename Step>
  int64_t bytes(const OpgenCall& call) const {
    constexpr auto size = static_cast<int64_t>(sizeof(typename Step::Folds));
    return columns_workspace<Across>(call, points.of(call), length.of(call), size);
  }
  template <typename Step, typename Arguments>
  int run(const OpgenCall& call, const Arguments&, const Step& step) const {
    return columns<Across>(call, step, points.of(call), length.of(call));
  }
};

// --- Kernels
// ----------------------------------------------------------------------------------------------------------

template <typename Step>
int launch(const OpgenCall& call) {
  const Arguments<tensors_of(Step::fields)> args(call, Step::fields.data());
  if (args.status() != OPGEN_OK) return args.status();
  const auto step = filled<Step>(args, call, std::make_index_sequence<Step::fields.size()>());
  return Step::launch.run(call, args, step);
}

template <template <typename> class Part>
int launch_as(const OpgenCall& call) {
  return OPGEN_DISPATCH(call.dtype, scalar_t, launch<Part<scalar_t>>(call));
}

template <typename Step>
constexpr bool checks() {
  for (const Field& field : Step::fields) {
    if (field.kind == Field::a_report) return true;
  }
  return false;
}

// The parts of a kernel, one after the other.
template <template <typename> class... Parts>
int run(const OpgenCall* call) {
  const auto all = [](const OpgenCall& now) {
    int status = OPGEN_OK;
    static_cast<void>((((status = launch_as<Parts>(now)) == OPGEN_OK) && ...));
    return status;
  };
  if constexpr ((checks<Parts<double>>() || ...)) {
    return reporting(*call, all);
  } else {
    return all(*call);
  }
}

// Bytes of workspace that the parts can use, one after the other; those for doubles are enough for any dtype.
template <template <typename> class... Parts>
int64_t workspace(const OpgenCall* call) {
  int64_t most = 0;
  for (const int64_t bytes : {Parts<double>::launch.template bytes<Parts<double>>(*call)...}) {
    most = bytes > most ? bytes : most;
  }
  return most;
}

// A kernel as an entry of the table.
template <template <typename> class... Parts>
constexpr OpgenCudaStep kernel() {
  constexpr bool room = (Parts<double>::launch.wants_room() || ...);
  constexpr bool reports = (checks<Parts<double>>() || ...);
  return {run<Parts...>, room ? workspace<Parts...> : nullptr, reports ? 1 : 0};
}

}  // namespace rt
