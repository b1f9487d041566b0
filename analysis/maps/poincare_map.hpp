/// The map from one meeting with a section to the next, in coordinates on the section, with its Jacobian.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/system/system.hpp"

namespace graze {

/// P: section → section. Coordinates: on a stroboscopic section the state; on the others the state without
/// the one entry that the section fixes and, when the forcing is periodic, the time since phase zero. Entries
/// along which the system is alike everywhere are left out, angles count within a turn (Symmetry): an orbit
/// closes when it comes back but for these, and the multipliers 1 that belong to them do not occur. The
/// number of coordinates is dimension().
class PoincareMap {
 public:
  PoincareMap(System& system, const Section& section) : system_(system), section_(section) {}

  System& system() const { return system_; }
  int dimension() const;
  /// One iterate.
  Outcome iterate(HybridState& state, Observer* observer = nullptr) const {
    return system_.advance(state, section_, observer);
  }
  /// One iterate; `directions` (dimension x any) are replaced by their images under DP.
  Outcome iterate(HybridState& state, Eigen::MatrixXd& directions) const;

  /// Coordinates of a state on the section.
  Eigen::VectorXd coordinates(const HybridState& state) const;
  /// The state with these coordinates, on the section and near `like`, of which it takes what the coordinates
  /// leave out; unsettled.
  HybridState at(const Eigen::VectorXd& coordinates, const HybridState& like) const;
  /// b − a in coordinates; phases differ by at most half a period, angles by half a turn.
  Eigen::VectorXd difference(const HybridState& b, const HybridState& a) const;

 private:
  bool fixes_time() const {
    return section_.kind == Section::Kind::stroboscopic || section_.kind == Section::Kind::time;
  }
  bool has_phase() const { return !fixes_time() && system_.period() > 0; }
  bool is_free(int state) const { return system_.symmetry(state) == Symmetry::shift; }
  /// Entries of the state that are coordinates, where `dependent` is not one.
  std::vector<int> kept(int dependent) const;
  /// Index of the state's entry that the section determines from the others, −1: none.
  int dependent(const HybridState& state) const;
  /// Derivative of the section's function with respect to the state.
  Eigen::RowVectorXd gradient(const HybridState& state) const;

  System& system_;
  Section section_;
};

}  // namespace graze
