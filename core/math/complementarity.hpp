/// The small linear complementarity problem behind several contacts at once.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/elimination.hpp"

namespace graze {

/// How a contact comes out of 0 ≤ z ⊥ G z + q ≥ 0.
enum class Load : char {
  open,    ///< G z + q > 0
  none,    ///< both are zero but for rounding
  carries  ///< z > 0
};

/// Principal pivoting with the least index (Murty), which ends for every positive definite G, also with its
/// columns scaled, with the one solution. @return one per row; nothing when G is singular on the way
/// (contacts whose normals depend on each other) or no solution is found.
std::optional<std::vector<Load>> loads_of(const Eigen::MatrixXd& G, const Eigen::VectorXd& q);

/// Whether these contacts can hold side by side: G of normals that do not depend on each other.
bool independent(const Eigen::MatrixXd& G);

/// G of some contacts when others are held: G − across held⁻¹ back; what is left of a contact that depends on
/// these, is zero. @param across,back  responses of these to those that are held, and the other way round
Eigen::MatrixXd responses_beside(const Eigen::MatrixXd& G, const Eigen::MatrixXd& across,
                                 const Eigen::MatrixXd& held, const Eigen::MatrixXd& back);

/// Impulses of contacts, in the scalars of G and q.
template <class S>
struct Impulses {
  std::vector<bool> carries;
  std::vector<S> strength;  ///< zero where it does not
};

/// Which of them carry, by plain numbers. @return nothing as loads_of
std::optional<std::vector<Eigen::Index>> carriers_of(const Eigen::MatrixXd& G, const Eigen::VectorXd& q);

/// The Λ of 0 ≤ Λ ⊥ G Λ + q ≥ 0. @param deciding q as it counts for which of them carry. @return nothing as
/// loads_of
template <class S>
std::optional<Impulses<S>> impulses_of(const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>& G,
                                       const Eigen::Matrix<S, Eigen::Dynamic, 1>& q,
                                       const Eigen::VectorXd& deciding) {
  const auto set = carriers_of(values_of(G), deciding);
  if (!set) return std::nullopt;
  const std::size_t n = static_cast<std::size_t>(q.size());
  Impulses<S> impulses{std::vector<bool>(n, false), std::vector<S>(n, S(0))};
  const std::size_t count = set->size();
  std::vector<std::vector<S>> block(count, std::vector<S>(count));
  std::vector<S> speeds(count);
  for (std::size_t k = 0; k < count; ++k) {
    speeds[k] = -q((*set)[k]);
    for (std::size_t j = 0; j < count; ++j) block[k][j] = G((*set)[k], (*set)[j]);
  }
  eliminate(block, speeds);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = static_cast<std::size_t>((*set)[k]);
    impulses.carries[i] = true;
    impulses.strength[i] = speeds[k];
  }
  return impulses;
}

}  // namespace graze
