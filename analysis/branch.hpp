/// Whole branches of periodic orbits: continued in both directions, joined, compared with attractors.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "analysis/continuation.hpp"

namespace graze {

struct Branch {
  std::vector<BranchPoint> points;  ///< along the branch
  std::vector<Bifurcation> bifurcations;
  std::string origin;  ///< where the start came from
  std::string begins;  ///< why it goes no further at its first point
  std::string ends;    ///< … at its last one
};

/// Continues from a start over the range of the options, first towards smaller parameters, then towards
/// greater ones; in one walk where that comes back to its beginning.
Branch continue_branch(const Family& family, const Solution& start, const ContinuationOptions& options);
/// Continues from a start that lies on a doubled branch, away from the point where it left: behind that point
/// come the same orbits again, half a turn later.
Branch continue_doubled(const Family& family, const Solution& start, const Bifurcation& from,
                        const ContinuationOptions& options);

/// How far an orbit (its states at phase zero, one turn of them) is from a branch at a parameter value: the
/// branch's own orbit there, refined by Newton's method, against the nearest of these states. Infinite where
/// the branch has no orbit of that length there.
double distance_to(const Family& family, const Branch& branch, double parameter,
                   const std::vector<Eigen::VectorXd>& orbit, int periods);

}  // namespace graze
