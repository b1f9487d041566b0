/// Orbits whose events cross the place where the turn begins.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "analysis/shooting.hpp"

namespace graze {

/// An orbit told with an event at the other end of the turn.
struct Turned {
  Itinerary itinerary;
  Eigen::VectorXd start;
  std::vector<double> durations;
};

/// Of an orbit whose first event has come before its beginning, or its last one behind its end; nothing when
/// neither has, or it cannot be followed.
std::optional<Turned> turned(const Shooting& shooting, const Eigen::VectorXd& u);

}  // namespace graze
