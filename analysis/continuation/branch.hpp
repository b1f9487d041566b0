/// Whole branches of periodic orbits: continued in both directions, joined, compared with attractors.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/continuation/continuation.hpp"

namespace graze {

struct Branch {
  std::vector<BranchPoint> points;  ///< along the branch
  std::vector<Bifurcation> bifurcations;
  std::string origin;  ///< where the start came from
  std::string begins;  ///< why it goes no further at its first point
  std::string ends;    ///< … at its last one
};

/// How branches are walked along.
struct Walk {
  ContinuationOptions options;
  /// Why to go no further than a point, because it lies where a walk has been before; "" otherwise. May be
  /// asked from two threads.
  std::function<std::string(const BranchPoint&)> known = [](const BranchPoint&) { return std::string(); };
  int threads = 1;
};

/// Continues from a start over the range of the options, first towards smaller parameters, then towards
/// greater ones; in one walk where that comes back to its beginning.
Branch continue_branch(const Family& family, const Solution& start, const Walk& walk);
/// Continues from a start that lies on a doubled branch, away from the point where it left: behind that point
/// come the same orbits again, half a turn later.
Branch continue_doubled(const Family& family, const Solution& start, const Bifurcation& from,
                        const Walk& walk);

/// How far an orbit (its states at phase zero, one turn of them) is from a piece of a branch at a parameter
/// value: the branch's own orbit there, refined by Newton's method, against the nearest of these states.
/// Infinite where it has no orbit of that length there.
/// Only places are looked at where the orbit is so near to the line between two points, of its size, and not
/// much further from it than they are apart.
inline constexpr double standing_near = 5e-2;
double distance_to(const Family& family, std::span<const BranchPoint> points, double parameter,
                   const std::vector<Eigen::VectorXd>& orbit, int periods, double near = standing_near);
/// For a walk, which is asked at every point: a branch that it has come to it meets again and again.
inline constexpr double walking_near = 2e-3;

/// Distance, as a share of the orbit's size, up to which an orbit lies on a branch.
inline constexpr double on_branch = 1e-9;

}  // namespace graze
