/// Linear systems whose entries are any number type, power series among them. Few templates stand behind
/// these, where Eigen's decompositions of dual numbers are most of what a source takes to compile.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <cstddef>
#include <vector>

namespace graze {

/// Solves A x = b for symmetric positive definite A (row by row), or such a one with its columns scaled, by
/// elimination without pivoting; A is destroyed, b becomes x. The entries of b are numbers, or rows of them.
template <class T, class Entry>
void eliminate(std::vector<std::vector<T>>& A, std::vector<Entry>& b) {
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

/// The inverse of a symmetric positive definite matrix.
template <class S, int Size>
Eigen::Matrix<S, Size, Size> inverse_of(const Eigen::Matrix<S, Size, Size>& matrix) {
  if constexpr (Size != Eigen::Dynamic) {
    return matrix.inverse();  // by Cramer's rule
  } else {
    const std::size_t n = static_cast<std::size_t>(matrix.rows());
    std::vector<std::vector<S>> A(n);
    std::vector<Eigen::Matrix<S, 1, Size>> rows;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      A[static_cast<std::size_t>(i)].assign(matrix.row(i).begin(), matrix.row(i).end());
      rows.push_back(Eigen::Matrix<S, 1, Size>::Unit(matrix.rows(), i));
    }
    eliminate(A, rows);
    Eigen::Matrix<S, Size, Size> inverse(matrix.rows(), matrix.rows());
    for (Eigen::Index i = 0; i < inverse.rows(); ++i) inverse.row(i) = rows[static_cast<std::size_t>(i)];
    return inverse;
  }
}

}  // namespace graze
