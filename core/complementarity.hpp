/// The small linear complementarity problem behind several contacts at once.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/dual.hpp"
#include "core/elimination.hpp"

namespace graze {

/// Which contacts carry: the set S with  z_S = −G_SS⁻¹ q_S ≥ 0  and  (G z + q) ≥ 0 off S,
/// that is  0 ≤ z ⊥ G z + q ≥ 0.
///
/// Principal pivoting with the least index (Murty), which ends for every positive definite G, also with its
/// columns scaled, with the one solution. @return flags per row (true: in S); nothing when G is singular on
/// the way (contacts whose normals depend on each other) or no solution is found.
std::optional<std::vector<bool>> carrying_contacts(const Eigen::MatrixXd& G, const Eigen::VectorXd& q);

/// Impulses of contacts, in the scalars of G and q.
template <class S>
struct Impulses {
  std::vector<bool> carries;
  std::vector<S> strength;  ///< zero where it does not
};

/// The Λ of 0 ≤ Λ ⊥ G Λ + q ≥ 0. @param deciding q as it counts for which of them carry. @return nothing as
/// carrying_contacts
template <class S>
std::optional<Impulses<S>> impulses_of(const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>& G,
                                       const Eigen::Matrix<S, Eigen::Dynamic, 1>& q,
                                       const Eigen::VectorXd& deciding) {
  const auto carries = carrying_contacts(values_of(G), deciding);
  if (!carries) return std::nullopt;
  std::vector<Eigen::Index> set;
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    if ((*carries)[static_cast<std::size_t>(k)]) set.push_back(k);
  }
  std::vector<std::vector<S>> block;
  std::vector<S> speeds;
  for (const Eigen::Index k : set) {
    speeds.push_back(-q(k));
    std::vector<S>& row = block.emplace_back();
    for (const Eigen::Index j : set) row.push_back(G(k, j));
  }
  eliminate(block, speeds);
  Impulses<S> impulses{*carries, std::vector<S>(carries->size(), S(0))};
  for (std::size_t k = 0; k < set.size(); ++k) {
    impulses.strength[static_cast<std::size_t>(set[k])] = speeds[k];
  }
  return impulses;
}

}  // namespace graze
