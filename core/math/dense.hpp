/// Linear systems of plain numbers, solved in one place: Eigen's decompositions take long to compile.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace graze {

/// x of A x = b by elimination with row pivoting; A must be regular.
Eigen::VectorXd linear_solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
Eigen::MatrixXd linear_solve(const Eigen::MatrixXd& A, const Eigen::MatrixXd& b);

/// Whether A is regular: the reciprocal of its condition, estimated, above 1e-14.
bool is_regular(const Eigen::MatrixXd& A);

/// As linear_solve; nothing when A is not regular.
std::optional<Eigen::VectorXd> solve_regular(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// x of A x = b by elimination with row and column pivoting; A may be singular, pivots below 1e-12 of the
/// greatest count as zero: one of the solutions.
Eigen::VectorXd solve_any(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// As linear_solve; where A is singular (reciprocal condition below 1e-16, each row and column divided by its
/// size) the shortest of the least-squares solutions, in these sizes.
Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

/// det A of a square matrix.
double determinant(const Eigen::MatrixXd& A);

/// The u with A u = 0, in columns that span them; what is below `threshold` of the greatest pivot counts as
/// zero. No columns where there is none.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& A, double threshold);

/// Whether a symmetric matrix has a Cholesky factor.
bool has_root(const Eigen::MatrixXd& A);

/// Whether a matrix is positive definite, far enough from singular to be solved with.
bool is_positive_definite(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace graze
