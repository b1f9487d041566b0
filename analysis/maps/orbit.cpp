#include "analysis/maps/orbit.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"

namespace graze {
namespace {

/// One evaluation of P^n and DP^n.
struct Turn {
  Outcome outcome = Outcome::ok;
  HybridState end;
  Eigen::MatrixXd jacobian;
  Eigen::VectorXd defect;
  double residual = 0;
  double size = 0;
};

Turn turn(const PoincareMap& map, const HybridState& start, int n) {
  Turn t;
  t.end = start;
  t.size = map.size(start);
  t.jacobian = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  for (int k = 0; k < n && t.outcome == Outcome::ok; ++k) {
    t.outcome = map.iterate(t.end, t.jacobian);
    t.size = std::max(t.size, map.size(t.end));
  }
  t.defect = map.difference(t.end, start);
  t.residual = map.share(t.defect, t.end, t.size);
  if (!t.defect.allFinite()) t.outcome = Outcome::non_finite;
  return t;
}

/// A Jacobian between coordinates of one unit: what is small in it, is small.
Eigen::MatrixXd without_units(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& scales) {
  return scales.asDiagonal() * jacobian * scales.cwiseInverse().asDiagonal();
}

}  // namespace

Orbit refine_orbit(const PoincareMap& map, const HybridState& guess, int n, const RefineOptions& options) {
  Orbit orbit;
  orbit.period = n;
  orbit.start = guess;
  Turn now = turn(map, guess, n);
  if (now.outcome != Outcome::ok) return orbit;
  constexpr double rounding = 1e-15;     // of a residual …
  constexpr double indifferent = 2e-14;  // … and of what a step that follows from it is worth
  for (int k = 0; k < options.iterations && now.residual > rounding; ++k) {
    const Eigen::Index d = now.defect.size();
    const Eigen::VectorXd scales = map.scales(now.end, now.size);
    const Eigen::MatrixXd slope = Eigen::MatrixXd::Identity(d, d) - without_units(now.jacobian, scales);
    const Eigen::VectorXd step = solve_any(slope, scales.cwiseProduct(now.defect)).cwiseQuotient(scales);
    if (!step.allFinite() || map.share(step, now.end, now.size) <= indifferent) break;
    const Eigen::VectorXd from = map.coordinates(orbit.start);
    bool better = false;
    for (double share = 1; share > 0.05 && !better; share /= 2) {
      const HybridState candidate = map.at(from + share * step, orbit.start);
      Turn next = turn(map, candidate, n);
      if (next.outcome != Outcome::ok || !(next.residual < now.residual)) continue;
      better = true;
      orbit.start = candidate;
      now = std::move(next);
    }
    if (!better) break;
  }
  orbit.residual = now.residual;
  orbit.size = now.size;
  orbit.jacobian = now.jacobian;
  orbit.closed = now.residual <= options.closure;
  if (orbit.closed) {
    orbit.multipliers = eigenvalues(without_units(orbit.jacobian, map.scales(now.end, now.size)));
    // The end is the start, and knows how its contacts stand.
    const HybridState begin = orbit.start;
    orbit.start = now.end;
    orbit.start.turns = begin.turns;
  }
  return orbit;
}

double spectral_radius(const Orbit& orbit) {
  return orbit.multipliers.empty() ? 0.0 : std::abs(orbit.multipliers.front());
}

}  // namespace graze
