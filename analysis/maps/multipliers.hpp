/// Eigenvalues of products of matrices whose entries may span many orders of magnitude.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <span>
#include <vector>

namespace graze {

/// Eigenvalues of a matrix, greatest modulus first; none where it is not finite.
std::vector<std::complex<double>> eigenvalues(const Eigen::MatrixXd& matrix);

/// Eigenvalues of F_K ⋯ F_2 F_1 (square factors of one size), greatest modulus first, without forming the
/// product: orthogonal iteration F_k Q_{k−1} = Q_k R_k until the R_k are block triangular in common.
/// Directions that some factor sends to exactly zero rows (a contact that sticks) give multipliers that are
/// exactly zero.
std::vector<std::complex<double>> product_eigenvalues(std::span<const Eigen::MatrixXd> factors);

/// By what an orbit with these multipliers, greatest first, magnifies errors in a turn; at least 1.
double growth_of(const std::vector<std::complex<double>>& multipliers);

/// Whether all multipliers lie in the unit circle.
bool is_stable(const std::vector<std::complex<double>>& multipliers);

}  // namespace graze
