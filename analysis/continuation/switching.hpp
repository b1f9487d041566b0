/// From one branch to another that meets it.
#pragma once

#include <optional>
#include <vector>

#include "analysis/continuation/continuation.hpp"

namespace graze {

/// First points of the branches that cross at a branch point (kind branch_point: both directions of the
/// other branch) or leave at a period doubling (kind period_doubling: the orbit of twice the period).
std::vector<Solution> switched(const Family& family, const Bifurcation& at,
                               const ContinuationOptions& options);

/// The orbit at such a point, at a period doubling passed through twice.
struct WayAcross {
  Itinerary itinerary;
  Anchor anchor;
  Eigen::VectorXd u;          ///< unknowns of Shooting
  Eigen::VectorXd direction;  ///< of these, to the orbits of the other branch; arclength one
};
/// `range`: of the parameter. Where the point has no tangent it is a period doubling.
std::optional<WayAcross> way_across(const Family& family, const Bifurcation& at, double range);

}  // namespace graze
