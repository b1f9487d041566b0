/// From the equations of one motion to its rows in a batch of lanes.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/lanes/batch.hpp"
#include "core/lanes/modes.hpp"
#include "core/system/linear_law.hpp"

namespace graze {

/// Modes of the free motion with each set of compliant stops engaged, kept from motion to motion.
using LaneModesOfSets = std::vector<LaneModes>;

/// A motion as the kernels of the marching engine know it (core/lane_batch), time counted in cells; with
/// compliant stops, in one of their sets.
struct LaneLaw {
  static constexpr int most_dofs = LaneModes::most_dofs;
  static constexpr int most_contacts = 4;
  static constexpr std::size_t most_sets = 27;
  using Vector = LaneModes::Vector;
  using Big = LaneModes::Big;
  using Form = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3 * most_dofs, 1>;
  using Answer = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_dofs, 2 * most_harmonics>;

  int dofs = 0;
  bool classical = false;  ///< rows are those of classical damping
  std::int64_t mode = 0;   ///< of a motion in this set
  int cells = 0;
  double cell = 0;            ///< length of one
  std::vector<int> contacts;  ///< those that exist
  std::vector<int> orders;    ///< of the forces: frequency over that of the period
  Vector decay, square;       ///< of the modes
  Big from_modes, to_modes;   ///< to positions and velocities of the system, each of them after its position
  Vector still;               ///< where constant forces alone push to
  Answer driven;              ///< what harmonic forces alone make: factors of cos, sin of each in columns
  Vector at_phase_zero;       ///< the motion that all forces alone make, there
  std::vector<double> rows;   ///< LaneRows::constants and on
  std::vector<double> more;   ///< SetRows; nothing where all stops are rigid

  /// One for each set of what compliant stops do, that with all of them open first. Nothing where marching is
  /// not certain: another shape, energy that may grow, forces near resonance. `modes` are those of the last
  /// motion before, made anew where this one has others.
  static std::vector<LaneLaw> of(const LinearLaw& law, LaneModesOfSets& modes);

  LaneShape shape(bool carries) const {
    return {
        dofs,         static_cast<int>(contacts.size()), static_cast<int>(orders.size()), classical, carries,
        !more.empty()};
  }

  /// The modes for positions and velocities of a system, each position before its velocity, at the beginning
  /// of a cell; and back, anywhere.
  Vector inside(const Eigen::VectorXd& x, int at_cell) const;
  void outside(const double* z, long stride, double at_cell, double* x) const;
  /// The same of a change of a state.
  Vector tangent_inside(const Eigen::VectorXd& x) const { return to_modes * x; }
  Vector tangent_outside(const double* z, long stride) const;
  /// √Σ(q''''² + k q'''²) of a free motion from z on: it never grows.
  double vigour(const Vector& z) const;
  /// What stands between a motion at the beginning of a cell and the next event of contact i (of those that
  /// exist), over the size of the numbers in it.
  double clearance(std::size_t i, const Vector& z, int at_cell) const;

 private:
  struct Setting;
  static std::optional<LaneLaw> in(const Setting& setting);
  LaneLaw before_contacts() const;
  void add_contacts(const Setting& setting);
  struct Contact;
  Contact contact(const Setting& setting, std::size_t i) const;
  void add_set(const Setting& setting, std::span<const Contact> list);
  void add_way_to(const LaneLaw& next);
  /// The motion that the forces alone make.
  Vector answer(double at_cell) const;
  Vector derivative(const Vector& z) const;
  /// vigour² = Σ αq² + βqp + γp², rounded up: all α, all β, all γ.
  Form vigour_form() const;
  double vigour(const Form& form, const Vector& z) const;
};

}  // namespace graze
