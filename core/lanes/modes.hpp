/// The free motion of a linear system taken apart into its modes.
#pragma once

#include <Eigen/Core>

namespace graze {

/// Motions M x'' + C x' + K x = 0 as motions q'' + 2a q' + k q = 0, one per degree of freedom, with real a
/// and k >= 0 whatever the damping: with p = q' + a q and D = a² − k, q' = −a q + p and p' = D q − a p, so
/// that (q, p) moves by e^{−at} (C S; D S C), C = cosh √D t, S = sinh √D t / √D (cosines where D < 0).
struct LaneModes {
  static constexpr int most_dofs = 4;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_dofs, most_dofs>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2 * most_dofs, 1>;
  using Fine = Eigen::Matrix<long double, Eigen::Dynamic, 1, 0, most_dofs, 1>;
  using Big = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * most_dofs, 2 * most_dofs>;

  Square mass, damping, stiffness;  ///< whose modes they are
  /// Whether they are modes of motions whose energy does not grow, far enough from each other to lose no
  /// digits.
  bool sound = false;
  bool classical = false;  ///< damping does not mix the modes of the undamped system
  Square inverse_mass;
  Fine decay;       ///< a
  Fine square;      ///< D
  Big from_modes;   ///< all q, then all p, to positions, then velocities
  Big to_modes;     ///< and back
  double rate = 0;  ///< the greatest |a ± √D|

  LaneModes() = default;
  LaneModes(const Square& M, const Square& C, const Square& K);
  bool are_of(const Square& M, const Square& C, const Square& K) const;

 private:
  bool take_apart();
  bool take_damped(const Square& shapes, const Square& damped, const Vector& squares);
  void refine(Eigen::Index mode);
};

}  // namespace graze
