/// The map from one meeting with a section to the next, in coordinates on the section, with its Jacobian.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "analysis/maps/shifts.hpp"
#include "core/system/system.hpp"

namespace graze {

/// P: section → section. Coordinates: on a stroboscopic section the state; on the others the state without
/// the one entry that the section fixes and, when the forcing is periodic, the time since phase zero. The
/// state counts but for System::shifts: of each one entry is left out and the others are taken as if that
/// were zero. Angles count within a turn (Symmetry). So an orbit closes when it comes back but for these, and
/// the multipliers 1 that belong to them do not occur. The number of coordinates is dimension().
class PoincareMap {
 public:
  PoincareMap(System& system, const Section& section);

  System& system() const { return system_; }
  int dimension() const;
  /// One iterate.
  Outcome iterate(HybridState& state, Observer* observer = nullptr) const {
    return system_.advance(state, section_, observer);
  }
  /// One iterate; `directions` (dimension x any) are replaced by their images under DP.
  Outcome iterate(HybridState& state, Eigen::MatrixXd& directions) const;
  /// Changes of coordinates, in columns, as changes of the state on the section and of its time; and back.
  Tangent lifted(const HybridState& state, const Eigen::MatrixXd& directions) const;
  Eigen::MatrixXd lowered(const HybridState& state, const Tangent& tangent) const;
  /// Whether coordinates have the time since phase zero among them.
  bool has_phase() const { return !fixes_time() && system_.period() > 0; }
  /// Whether System::shifts leave out coordinates.
  bool has_shifts() const { return !shifts_.none(); }

  /// Whether the motion from a state on the section stays there, to rounding of a size: it crosses none.
  bool rests(const HybridState& state, double size) const;

  /// Coordinates of a state on the section.
  Eigen::VectorXd coordinates(const HybridState& state) const;
  /// The state with these coordinates, on the section and near `like`, of which it takes what the coordinates
  /// leave out; unsettled.
  HybridState at(const Eigen::VectorXd& coordinates, const HybridState& like) const;
  /// Time since the beginning, of a state or of a recorded point.
  template <class State>
  double time_of(const State& s) const {
    return s.time + static_cast<double>(s.turns) * system_.period();
  }
  /// Whether time passes from a to b, beside the system's rate.
  bool takes_time(const HybridState& a, const HybridState& b) const;
  /// b − a in coordinates; phases differ by at most half a period, angles by half a turn.
  Eigen::VectorXd difference(const HybridState& b, const HybridState& a) const;

  /// size_of a state but for shifts. Like all that follows it has no unit of time in it: velocities count
  /// over the system's rate.
  double size(const HybridState& state) const { return size(state.x); }
  template <class Vector>
  double size(const Vector& x) const {
    return shifts_.none() ? greatest(x) : greatest(shifts_.unshifted(Eigen::VectorXd(x)));
  }
  /// Factors that make shares of a size of coordinates near `state`: velocities count over the system's rate,
  /// a phase times it.
  Eigen::VectorXd scales(const HybridState& state, double size) const;
  /// A difference of coordinates near `state` as a share of a size: its greatest entry.
  double share(const Eigen::VectorXd& difference, const HybridState& state, double size) const;
  /// How far b is from a, as a share of a size.
  double distance(const HybridState& b, const HybridState& a, double size) const {
    if (plain_) return (b.x - a.x).cwiseProduct(weight_).cwiseAbs().maxCoeff() / (size > 0 ? size : 1);
    return share(difference(b, a), b, size);
  }

 private:
  bool fixes_time() const {
    return section_.kind == Section::Kind::stroboscopic || section_.kind == Section::Kind::time;
  }
  bool is_plain() const;
  /// size_of, quickly.
  template <class Vector>
  double greatest(const Vector& x) const {
    return x.cwiseAbs().cwiseProduct(weight_).maxCoeff();
  }
  /// Entries of the state that are coordinates, where `dependent` is not one.
  std::vector<int> kept(int dependent) const;
  /// Index of the state's entry that the section determines from the others, −1: none.
  int dependent(const HybridState& state) const;
  /// Derivative of the section's function with respect to the state.
  Eigen::RowVectorXd gradient(const HybridState& state) const;

  System& system_;
  Section section_;
  Shifts shifts_;
  Eigen::VectorXd weight_;  ///< size_of a change of each entry by 1
  bool plain_ = false;      ///< coordinates are the states, without turns and shifts
};

}  // namespace graze
