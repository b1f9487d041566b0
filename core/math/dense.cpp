#include "core/math/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

namespace graze {
namespace {

using Factored = Eigen::PartialPivLU<Eigen::MatrixXd>;

/// Reciprocal condition, about. (Eigen's estimate means nothing where a pivot is exactly zero.)
double condition(const Factored& matrix) {
  return (matrix.matrixLU().diagonal().array() != 0).all() ? matrix.rcond() : 0.0;
}

bool regular(const Factored& matrix) { return condition(matrix) > 1e-14; }

template <class Matrix>
bool is_definite(const Matrix& matrix) {
  const Eigen::LLT<Matrix> factor(matrix);
  return factor.info() == Eigen::Success && factor.rcond() > 1e-14;
}

/// Every diagonal outweighs what stands beside it: certainly definite, and not nearly singular (Gershgorin).
/// Most masses are so, and this is soon seen.
bool is_dominant(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  const double size = matrix.cwiseAbs().sum();
  for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
    const double others = matrix.col(i).cwiseAbs().sum() - std::abs(matrix(i, i));
    if (!(matrix(i, i) - others > 1e-12 * size)) return false;
  }
  return true;
}

/// Of each size the power of two next to it, by which one divides without rounding; 1 for zero.
Eigen::VectorXd powers_of_two(const Eigen::VectorXd& sizes) {
  return sizes.unaryExpr([](double size) { return size > 0 ? std::exp2(std::ilogb(size)) : 1.0; });
}

/// What is below `threshold` of the greatest pivot counts as zero.
Eigen::FullPivLU<Eigen::MatrixXd> ranked(const Eigen::MatrixXd& A, double threshold) {
  Eigen::FullPivLU<Eigen::MatrixXd> factors(A);
  factors.setThreshold(threshold);
  return factors;
}

}  // namespace

Eigen::VectorXd linear_solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return Factored(A).solve(b);
}

Eigen::MatrixXd linear_solve(const Eigen::MatrixXd& A, const Eigen::MatrixXd& b) {
  return Factored(A).solve(b);
}

bool is_regular(const Eigen::MatrixXd& A) { return regular(Factored(A)); }

std::optional<Eigen::VectorXd> solve_regular(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  const Factored factored(A);
  if (!regular(factored)) return std::nullopt;
  return factored.solve(b);
}

Eigen::VectorXd solve_any(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  constexpr double singular = 1e-12;
  return ranked(A, singular).solve(b);
}

Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  constexpr double singular = 1e-16;
  // Whether A is singular must not depend on the units of its rows and columns.
  const Eigen::VectorXd columns = powers_of_two(A.cwiseAbs().colwise().maxCoeff());
  const Eigen::MatrixXd narrowed = A * columns.cwiseInverse().asDiagonal();
  const Eigen::VectorXd rows = powers_of_two(narrowed.cwiseAbs().rowwise().maxCoeff());
  const Eigen::MatrixXd scaled = rows.cwiseInverse().asDiagonal() * narrowed;
  const Eigen::VectorXd right = b.cwiseQuotient(rows);
  const Factored factored(scaled);
  const Eigen::VectorXd y = condition(factored) > singular
                                ? Eigen::VectorXd(factored.solve(right))
                                : Eigen::VectorXd(scaled.completeOrthogonalDecomposition().solve(right));
  return y.cwiseQuotient(columns);
}

double determinant(const Eigen::MatrixXd& A) { return Factored(A).determinant(); }

Eigen::MatrixXd null_space(const Eigen::MatrixXd& A, double threshold) {
  const auto factors = ranked(A, threshold);
  if (factors.dimensionOfKernel() == 0) return Eigen::MatrixXd(A.cols(), 0);
  return factors.kernel();
}

bool has_root(const Eigen::MatrixXd& A) { return Eigen::LLT<Eigen::MatrixXd>(A).info() == Eigen::Success; }

bool is_positive_definite(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (is_dominant(matrix)) return true;
  constexpr int few = 4;  // as most sweeps have: nothing is allocated
  if (matrix.rows() > few) return is_definite<Eigen::MatrixXd>(matrix);
  return is_definite<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, few, few>>(matrix);
}

}  // namespace graze
