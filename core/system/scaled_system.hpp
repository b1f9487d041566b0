/// A system told in other units: of each state, of lengths and of time.
#pragma once

#include <Eigen/Core>
#include <memory>

#include "core/system/system.hpp"

namespace graze {

/// What counts as 1. Powers of two, so that nothing is rounded.
struct Units {
  Eigen::VectorXd state;  ///< of each state; no entries: 1 of all
  double length = 1;      ///< of gaps
  double time = 1;

  /// Whether everything is told as it is.
  bool none() const { return state.size() == 0; }
  /// A state told in these units, and back; one without entries stays so.
  Eigen::VectorXd in(const Eigen::VectorXd& x) const {
    return none() || x.size() == 0 ? x : x.cwiseQuotient(state);
  }
  Eigen::VectorXd out(const Eigen::VectorXd& x) const {
    return none() || x.size() == 0 ? x : x.cwiseProduct(state);
  }
};

/// The same section.
Section in_units(Section section, const Units& units);

/// A system whose states, times, gaps, speeds and accelerations, with all derivatives, are those of another
/// one in these units; parameters, forces and energies are as they are. nullptr: nullptr.
std::unique_ptr<System> in_units(std::unique_ptr<System> system, const Units& units);

}  // namespace graze
