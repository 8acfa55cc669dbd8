// How a binding describes what an operator takes: element types, declared shapes, and errors that show sizes.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "opgen_abi.h"
#include "opgen_numbers.h"

namespace opgen {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;
using Optional = std::optional<Tensor>;
using Sizes = std::vector<int64_t>;

template <typename Part>
std::string worded(const Part& part) {
  if constexpr (std::is_arithmetic_v<Part>) {
    return std::to_string(part);
  } else {
    return std::string(part);
  }
}

// (Without streams, which crash where a linker puts a copy of them into the library, beside those of torch.)
template <typename... Parts>
[[noreturn]] inline void fail(const Parts&... parts) {
  throw std::runtime_error((worded(parts) + ...));
}

// What a buffer holds: the operator's floating dtype, the dtype it computes in, int64 or bool; and what results may be
// stored in.
enum class Element {
  scalar,
  compute,
  int64,
  boolean,
  float64,
  float32,
  half,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  int32,
  int16,
  int8,
  uint8,
};

// An entry of a declared shape: the batch, a named dim (by its number in the plan), a fixed size, or one that is
// computed once the dims are known.
struct Entry {
  enum { the_batch, a_dim, a_size, a_computed } kind;
  int dim = 0;
  const char* name = "";
  int64_t size = 0;
};
constexpr Entry batch{Entry::the_batch};
constexpr Entry computed{Entry::a_computed};
constexpr Entry dim(int number, const char* name) { return {Entry::a_dim, number, name}; }
constexpr Entry fixed(int64_t size) { return {Entry::a_size, 0, "", size}; }

inline std::string shown(const int64_t* sizes, size_t count) {
  std::string text = "[";
  for (size_t d = 0; d < count; ++d) text += (d > 0 ? ", " : "") + std::to_string(sizes[d]);
  return text + "]";
}
inline std::string shown(const Tensor& tensor) { return shown(tensor.sizes().data(), tensor.sizes().size()); }

inline int64_t dtype_of(ScalarType type) {
  switch (type) {
    case ScalarType::Double:
      return OPGEN_FLOAT64;
    case ScalarType::Half:
      return OPGEN_FLOAT16;
    case ScalarType::BFloat16:
      return OPGEN_BFLOAT16;
    case ScalarType::Long:
      return OPGEN_INT64;
    case ScalarType::Bool:
      return OPGEN_BOOL;
    default:
      return OPGEN_FLOAT32;
  }
}
inline bool floating(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Half ||
         type == ScalarType::BFloat16;
}
inline ScalarType compute_type(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 ? ScalarType::Float : type;
}

// What a buffer of a call holds whose floats are of a type.
inline ScalarType type_of(Element element, ScalarType scalar) {
  switch (element) {
    case Element::scalar:
      return scalar;
    case Element::compute:
      return compute_type(scalar);
    case Element::int64:
      return ScalarType::Long;
    case Element::float64:
      return ScalarType::Double;
    case Element::float32:
      return ScalarType::Float;
    case Element::half:
      return ScalarType::Half;
    case Element::bfloat16:
      return ScalarType::BFloat16;
    case Element::float8_e4m3fn:
      return ScalarType::Float8_e4m3fn;
    case Element::float8_e5m2:
      return ScalarType::Float8_e5m2;
    case Element::int32:
      return ScalarType::Int;
    case Element::int16:
      return ScalarType::Short;
    case Element::int8:
      return ScalarType::Char;
    case Element::uint8:
      return ScalarType::Byte;
    default:
      return ScalarType::Bool;
  }
}

inline Sizes sizes_of(const Tensor& tensor) { return Sizes(tensor.sizes().begin(), tensor.sizes().end()); }

}  // namespace opgen
