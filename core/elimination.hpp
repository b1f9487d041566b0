/// Linear systems whose entries are any number type, power series among them.
#pragma once

#include <cstddef>
#include <vector>

namespace graze {

/// Solves A x = b for symmetric positive definite A (row by row) by elimination without pivoting; A is
/// destroyed, b becomes x.
template <class T>
void eliminate(std::vector<std::vector<T>>& A, std::vector<T>& b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t i = p + 1; i < n; ++i) {
      const T share = A[i][p] / A[p][p];
      for (std::size_t j = p + 1; j < n; ++j) A[i][j] = A[i][j] - share * A[p][j];
      b[i] = b[i] - share * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t j = p + 1; j < n; ++j) b[p] = b[p] - A[p][j] * b[j];
    b[p] = b[p] / A[p][p];
  }
}

}  // namespace graze
