/// First points of curves over two parameters: from a located point of a branch, from a point of codimension
/// two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/continuation/curve.hpp"

namespace graze {

/// A point where a curve may begin.
struct CurveSeed {
  BifurcationKind kind = BifurcationKind::fold;
  int contact = -1;
  NearOrbit orbit;
  double second = 0;  ///< value of the second parameter
};

/// A located point of a branch, the second parameter being this.
CurveSeed seed_at(const Bifurcation& located, double second);

/// A curve's first point, or why there is none.
struct CurveStart {
  std::optional<CurveSolution> solution;
  std::string reason;
};

/// The point of the curve nearest to a seed.
CurveStart start_curve(const Plane& plane, const CurveSeed& seed);

/// Where a curve of doubled orbits (folds, Neimark-Sacker points or grazings) has come to orbits of half as
/// many periods: a generalized period doubling, a point where period doublings meet Neimark-Sacker points, or
/// a resonant grazing, on their curve. Nothing: it is not found there.
std::optional<Codim2> halves_meet_near(const CurveSolution& doubled, const CurveOptions& options);

/// First points of the curves of other kinds that meet a curve at a point of codimension two.
std::vector<CurveSolution> emanating(const Plane& plane, const Codim2& at);

}  // namespace graze
