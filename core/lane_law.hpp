/// From the equations of one motion to its rows in a batch of lanes.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "core/lane_batch.hpp"
#include "core/linear_law.hpp"

namespace graze {

/// A motion as the kernels of the marching engine know it (core/lane_batch), time counted in cells.
struct LaneLaw {
  static constexpr int most_dofs = 4;
  static constexpr int most_contacts = 4;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_dofs, most_dofs>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2 * most_dofs, 1>;
  using Answer = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_dofs, 2 * most_harmonics>;

  int dofs = 0;
  int cells = 0;
  double cell = 0;                  ///< length of one
  std::vector<int> contacts;        ///< those that exist
  std::vector<int> orders;          ///< of the forces: frequency over that of the period
  Square to_free, from_free;        ///< positions to the kernel's coordinates and back
  Square stiffness, damping, mass;  ///< −M⁻¹K, −M⁻¹C and M in these coordinates
  Vector still;                     ///< where constant forces alone push to, in these coordinates
  Answer driven;             ///< what harmonic forces alone make: factors of cos, sin of each in columns
  Vector at_phase_zero;      ///< the motion that all forces alone make, there
  std::vector<double> rows;  ///< constants from LaneRows::step on

  /// Nothing where marching is not certain: another shape, energy that may grow, forces near resonance.
  static std::optional<LaneLaw> of(const LinearLaw& law);

  /// The kernel's state for positions and velocities of a system at phase zero, each position before its
  /// velocity; and back, at the beginning of any cell.
  Vector inside(const Eigen::VectorXd& x) const;
  void outside(const double* y, long stride, int at_cell, double* x) const;
  /// √(2E) of the third derivatives of a free motion from y on: they never grow.
  double vigour(Vector y) const;

 private:
  /// The motion that the forces alone make.
  Vector answer(int at_cell) const;
};

}  // namespace graze
