/// Eigenvalues, singular vectors and orthogonal factors of plain matrices, in one place as core/math/dense.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace graze {

/// Eigenvalues of a square matrix that is finite, each as often as it is one, in no particular order; not a
/// number where the iteration does not end.
Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& A);

/// Eigenvalues, and an eigenvector of length one for each, in columns.
struct Eigensystem {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};
/// Of a square matrix that is finite; nothing where the iteration does not end.
std::optional<Eigensystem> eigensystem_of(const Eigen::MatrixXd& A);

/// U and V of A = U S Vᵀ, square, the greatest singular values first: the last columns of V span the null
/// space.
Eigen::MatrixXd left_singular_vectors(const Eigen::MatrixXd& A);
Eigen::MatrixXd right_singular_vectors(const Eigen::MatrixXd& A);

/// A = Q R by reflections: orthonormal columns, as many as A has (no more than rows), and an upper triangle.
struct OrthogonalFactors {
  Eigen::MatrixXd q, r;
};
OrthogonalFactors orthogonal_factors(const Eigen::MatrixXd& A);

}  // namespace graze
