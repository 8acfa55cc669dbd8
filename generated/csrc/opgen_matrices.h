// Products of matrices in vectors of 64 bytes, for processors on which torch's library of them takes shorter ones.
#pragma once

#include "opgen_describe.h"

namespace opgen {

// Where the elements of a matrix are; strides in elements.
struct Matrix {
  void* data;
  int64_t batch, row, column;
};

// to = a @ b + bias for each of a batch, all of one dtype: `a` has `rows` rows of `inner` elements, `b` has `inner`
// rows of `columns`. The bias, or null, has an element for each along which `to` lies side by side.
struct MatrixProduct {
  ScalarType type;
  int64_t batches, rows, columns, inner;
  Matrix a, b, to;
  const void* bias;

  // The same product of what is turned over: columns for rows.
  MatrixProduct turned() const;
};

// False where torch's own product is left to do it; else it is done, with equal bits for any number of threads.
bool multiplied(const MatrixProduct& product);

}  // namespace opgen
