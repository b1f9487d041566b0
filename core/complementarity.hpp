/// The small linear complementarity problem behind several contacts at once.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

namespace graze {

/// Which contacts carry: the set S with  z_S = −G_SS⁻¹ q_S ≥ 0  and  (G z + q) ≥ 0 off S,
/// that is  0 ≤ z ⊥ G z + q ≥ 0.
///
/// Principal pivoting with the least index (Murty), which ends for every positive definite G, also with its
/// columns scaled, with the one solution. @return flags per row (true: in S); nothing when G is singular on
/// the way (contacts whose normals depend on each other) or no solution is found.
std::optional<std::vector<bool>> carrying_contacts(const Eigen::MatrixXd& G, const Eigen::VectorXd& q);

}  // namespace graze
